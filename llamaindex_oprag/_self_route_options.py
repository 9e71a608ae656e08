"""The options of Self-Route: as the user gives them, checked alone and together."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypedDict

from llama_index.core.llms import LLM
from llama_index.core.prompts import BasePromptTemplate
from llama_index.core.query_engine import RetrieverQueryEngine

from llamaindex_oprag._convert import sent_text
from llamaindex_oprag._prompts import check_template
from llamaindex_oprag.documents import SourceLike, document_source
from oprag.calls import WindowOverflow, qa_prompt
from oprag.context import ContextOptions, Order, Overflow
from oprag.documents import DocumentSource
from oprag.errors import InvalidOptionError
from oprag.positions import DocumentKey, MissingDocument, MissingPosition, PositionKeys
from oprag.routing import (
    ROUTE_OPTIONS,
    DeclineRules,
    RouteOptions,
    Rung,
    as_decline_rules,
    check_route,
    check_route_option,
    refuse_removed,
)
from oprag.tokens import NamedTokenCounter, TokenizerSpec, resolve_token_counter

_DECIDED_BY_RUNGS = ("token_budget", "top_n", "merge")


class ContextFields(TypedDict, total=False):
    """How retrieved nodes become the context of a rung."""

    order: Order
    """`"document"`, or `"score"` for the paper's form: best first, each node behind
    its number."""
    document_order: str
    """How several documents follow one another: `"best_rank"`, `"first_seen"`,
    `"score_sum"`, or a metadata key."""
    overflow: Overflow
    """At a node that does not fit a rung: `"stop"`, or `"skip"` it."""
    max_gap: int
    """Characters that may lie between nodes that are read as one."""
    gap_mark: str | None
    """Put where something of a document was left out; None for nothing."""
    separator: str
    """Put between nodes that do not touch, and between documents."""
    missing_position: MissingPosition
    """For nodes without a usable position: `"error"`, `"last"` or `"rank"`."""
    missing_document: MissingDocument
    """For nodes that name no document: `"error"`, or `"one"`: all are of one."""
    position_keys: PositionKeys | None
    """Where the position is: a metadata key, an attribute, a callable, or a list."""
    document_key: DocumentKey | None
    """Where the document's identity is: as above."""
    token_counter: TokenizerSpec
    """A callable `str -> int`, a tokenizer, or its name."""


@dataclass(kw_only=True)
class SelfRouteOptions:
    """The arguments of `SelfRouteQueryEngine.from_args`, and what they come to.

    Raises:
        InvalidOptionError: Something is not possible, by itself or together.
    """

    llm: LLM
    documents: SourceLike | None
    rungs: Sequence[str | int | Rung]
    rung_llms: Mapping[str, LLM]
    sentinel: str | Sequence[str] | None
    decline_rules: DeclineRules | None
    structured_output: bool
    rag_prompt: str | BasePromptTemplate | None
    full_prompt: str | BasePromptTemplate | None
    max_context_tokens: int | Mapping[str, int] | None
    answer_tokens: int | None
    window_overflow: WindowOverflow
    max_documents: int | None
    prices: Mapping[str, Sequence[float]] | None
    context: Mapping[str, Any]
    """See `ContextFields`."""

    route: RouteOptions = field(init=False)
    rules: DeclineRules = field(init=False)
    source: DocumentSource | None = field(init=False)
    """Full texts by name; None where no rung is full."""
    templates: dict[str, BasePromptTemplate] = field(init=False)
    """The prompts by name, which may be replaced while questions are asked."""

    def __post_init__(self) -> None:
        """Check everything, each by itself and together."""
        for option in ROUTE_OPTIONS:
            check_route_option(option, getattr(self, option))
        rungs = check_route(
            self.rungs,
            documents=self.documents,
            rung_llms=self.rung_llms,
            max_context_tokens=self.max_context_tokens,
        )
        for name, llm in [("llm", self.llm), *self.rung_llms.items()]:
            _check_llm(name, llm)
        self.rules = as_decline_rules(self.sentinel, self.decline_rules)
        self.route = RouteOptions(
            rungs=rungs,
            context=_context_options(self.context),
            sent_text=sent_text,
            max_documents=self.max_documents,
            window_overflow=self.window_overflow,
        )
        documents = self.documents
        self.source = None if documents is None else document_source(documents)
        built_in = qa_prompt(self.rules.sentinels[0])
        self.templates = {}
        for name in ("rag_prompt", "full_prompt"):
            given = getattr(self, name)
            self.replace_prompt(name, built_in if given is None else given, new=True)

    @property
    def counter(self) -> NamedTokenCounter:
        """Counts tokens."""
        return resolve_token_counter(self.route.context.token_counter)

    def replace_prompt(
        self, name: str, prompt: str | BasePromptTemplate, *, new: bool = False
    ) -> None:
        """Put another prompt in the place of one, if it can be used."""
        if not new and name not in self.templates:
            known = ", ".join(self.templates)
            message = f"There is no prompt {name!r}. The prompts are {known}."
            raise InvalidOptionError(message, option=name, value=prompt)
        routed_on = any(not rung.full for rung in self.route.rungs[:-1])
        in_words = routed_on and not self.structured_output
        sentinels = self.rules.sentinels if in_words and name == "rag_prompt" else ()
        self.templates[name] = check_template(
            prompt, name, llm=self.llm, sentinels=sentinels
        )


def _check_llm(name: str, llm: Any) -> None:
    if not isinstance(llm, LLM):
        message = (
            f"{name} is a {type(llm).__name__} and no LLM of LlamaIndex, as llm= and "
            "rung_llms= take."
        )
        raise InvalidOptionError(message, option="llm", value=llm)
    if llm.output_parser is not None:
        message = (
            f"The LLM of {name} has an output_parser, which a stream cannot have. "
            "Leave it out; structured_output=True has the reply parsed."
        )
        raise InvalidOptionError(message, option="llm", value=llm)


def _context_options(options: Mapping[str, Any]) -> ContextOptions:
    refuse_removed(options)
    foreign = inspect.signature(RetrieverQueryEngine.from_args).parameters
    for option, value in options.items():
        hint = None
        if option in _DECIDED_BY_RUNGS:
            hint = 'What is read is decided by rungs=, as in [1500, 16000, "full"].'
        elif option in {"selection", "preset"}:
            hint = "Set it on the retriever: OrderPreservingRetriever(…)."
        elif option in foreign:
            hint = (
                "Each rung is read in one call; its prompts are rag_prompt= and "
                "full_prompt=."
            )
        if hint is not None:
            message = f"{option}= has no meaning for SelfRouteQueryEngine. {hint}"
            raise InvalidOptionError(message, option=option, value=value)
    return ContextOptions.from_options(options)
