"""The options of Self-Route: as the user gives them, checked alone and together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from llama_index.core.llms import LLM
from llama_index.core.prompts import BasePromptTemplate

from llamaindex_oprag._convert import sent_text
from llamaindex_oprag._llms import check_llm
from llamaindex_oprag._prompts import check_template
from llamaindex_oprag.documents import SourceLike, source_or_none
from oprag.calls import WindowOverflow, qa_prompt
from oprag.context import ContextOptions, Problems, ReadingKeywords
from oprag.documents import DocumentSource
from oprag.errors import InvalidOptionError, refuse_unknown
from oprag.routing import (
    DEFAULT_RUNGS,
    ROUTE_OPTIONS,
    DeclineRules,
    RouteOptions,
    Rung,
    as_decline_rules,
    check_route,
    check_route_option,
)
from oprag.tokens import NamedTokenCounter, resolve_token_counter


class SelfRouteKeywords(ReadingKeywords, total=False):
    """What Self-Route and the context of a rung are told, for type checkers."""

    documents: SourceLike | None
    rungs: Sequence[str | int | Rung]
    rung_llms: Mapping[str, LLM] | None
    sentinel: str | Sequence[str] | None
    decline_rules: DeclineRules | Literal["lenient"] | None
    structured_output: bool
    window_overflow: WindowOverflow
    max_documents: int | None
    answer_tokens: int | None
    prices: Mapping[str, Sequence[float]] | None


_READING = ReadingKeywords.__annotations__
_KNOWN = SelfRouteKeywords.__annotations__


@dataclass(kw_only=True)
class SelfRouteOptions:
    """The arguments of `SelfRouteQueryEngine.from_args`, and what they come to.

    Raises:
        InvalidOptionError: Something is not possible, by itself or together.
    """

    llm: LLM
    rag_prompt: str | BasePromptTemplate | None
    full_prompt: str | BasePromptTemplate | None
    max_context_tokens: int | Mapping[str, int] | None
    context: ContextOptions
    """How retrieved nodes become the context of a rung."""
    documents: SourceLike | None = None
    rungs: Sequence[str | int | Rung] = DEFAULT_RUNGS
    rung_llms: Mapping[str, LLM] = field(default_factory=dict)
    sentinel: str | Sequence[str] | None = None
    decline_rules: DeclineRules | Literal["lenient"] | None = None
    structured_output: bool = False
    window_overflow: WindowOverflow = "order_preserving"
    max_documents: int | None = None
    answer_tokens: int | None = None
    prices: Mapping[str, Sequence[float]] | None = None

    route: RouteOptions = field(init=False)
    rules: DeclineRules = field(init=False)
    source: DocumentSource | None = field(init=False)
    """Full texts by name; None where no rung is full."""
    problems: Problems = field(init=False)
    """What was warned of already."""
    templates: dict[str, BasePromptTemplate] = field(init=False)
    """The prompts by name, which may be replaced while questions are asked."""

    @classmethod
    def from_keywords(
        cls, keywords: SelfRouteKeywords, **others: Any
    ) -> SelfRouteOptions:
        """Make them of keyword arguments, unknown ones rejected.

        Args:
            keywords: What both frameworks have.
            **others: The other fields, `context` left out.
        """
        refuse_unknown(keywords, [*others, *_KNOWN])
        given: dict[str, Any] = {**keywords}
        context = {name: given.pop(name) for name in keywords if name in _READING}
        return cls(context=ContextOptions(**context), **given, **others)

    def __post_init__(self) -> None:
        """Check everything, each by itself and together."""
        for option in ROUTE_OPTIONS:
            check_route_option(option, getattr(self, option))
        self.rung_llms = dict(self.rung_llms or {})
        rungs = check_route(
            self.rungs,
            documents=self.documents,
            rung_llms=self.rung_llms,
            max_context_tokens=self.max_context_tokens,
        )
        for name, llm in [
            ("llm", self.llm),
            *((f"rung_llms[{rung!r}]", llm) for rung, llm in self.rung_llms.items()),
        ]:
            if check_llm(name, llm).output_parser is not None:
                message = (
                    f"The LLM of {name} has an output_parser, which a stream cannot "
                    "have. Leave it out; structured_output=True has the reply parsed."
                )
                raise InvalidOptionError(message, option="llm", value=llm)
        self.rules = as_decline_rules(self.sentinel, self.decline_rules)
        self.route = RouteOptions(
            rungs=rungs,
            context=self.context,
            sent_text=sent_text,
            max_documents=self.max_documents,
            window_overflow=self.window_overflow,
        )
        self.source = source_or_none(self.documents)
        self.problems = Problems("SelfRouteQueryEngine")
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
