"""The options of Self-Route after they were checked, and the readers of the rungs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from llama_index.core.llms import LLM
from llama_index.core.prompts import BasePromptTemplate

from llamaindex_oprag._llms import answer_tokens_of, window_of
from llamaindex_oprag._outside import EMPTY_RESPONSE, Outside
from llamaindex_oprag._prompts import check_template, own_template
from llamaindex_oprag._reading import Reader
from oprag.documents import DocumentSource
from oprag.routing import DeclineRules, RouteOptions, Rung
from oprag.tokens import NamedTokenCounter, resolve_token_counter


class Prompts:
    """The prompts, which may be replaced while questions are asked.

    Args:
        rag_prompt: Of the rungs that give chunks to read; None for the built-in one.
        full_prompt: Of the full documents; None for the built-in one.
        llm: The model that they are for.
        sentinels: What the model may write when it declines.
        declinable: Names of those that must tell it so.
        multiple_choice: Whether queries hold options.

    Raises:
        InvalidOptionError: See `check_template`.
    """

    def __init__(
        self,
        rag_prompt: str | BasePromptTemplate | None,
        full_prompt: str | BasePromptTemplate | None,
        *,
        llm: LLM,
        sentinels: Sequence[str],
        declinable: Sequence[str],
        multiple_choice: bool,
    ) -> None:
        self._llm = llm
        self._sentinels = tuple(sentinels)
        self._declinable = tuple(declinable)
        built_in = own_template(sentinels[0], multiple_choice=multiple_choice)
        self.templates: dict[str, BasePromptTemplate] = {}
        """By name."""
        self.replace("rag_prompt", built_in if rag_prompt is None else rag_prompt)
        self.replace("full_prompt", built_in if full_prompt is None else full_prompt)

    def replace(self, name: str, prompt: str | BasePromptTemplate) -> None:
        """Put another prompt in the place of one, if it can be used."""
        sentinels = self._sentinels if name in self._declinable else ()
        self.templates[name] = check_template(
            prompt, name, llm=self._llm, sentinels=sentinels
        )


@dataclass(frozen=True, slots=True)
class SelfRouteOptions:
    """What the engine was told, checked."""

    llm: LLM
    rung_llms: Mapping[str, LLM]
    source: DocumentSource | None
    """Full texts by name; None where no rung is full."""
    documents: Mapping[str, str] | None
    """The same where they were given as a mapping."""
    route: RouteOptions
    rules: DeclineRules
    prompts: Prompts
    structured_output: bool
    max_context_tokens: int | Mapping[str, int] | None
    answer_tokens: int | None
    count_full_documents: bool
    outside: Outside | None
    """The reader of the first rung, if another than the model."""

    @property
    def counter(self) -> NamedTokenCounter:
        """Counts tokens."""
        return resolve_token_counter(self.route.context.token_counter)

    def route_now(self) -> RouteOptions:
        """How the next question is routed.

        Where there is but one document, it is read though nothing was retrieved.
        """
        only = self.documents is not None and len(self.documents) == 1
        names = tuple(self.documents or ()) if only else ()
        return replace(self.route, default_documents=names)

    def reader(self, rung: Rung) -> Reader:
        """Who reads a rung, and how."""
        outside = self.outside if rung is self.route.rungs[0] else None
        llm = self.rung_llms.get(rung.name, self.llm)
        rules = self.rules
        if outside is not None:
            llm = outside.llm
            rules = replace(rules, sentinels=(*rules.sentinels, EMPTY_RESPONSE))
        window = self.max_context_tokens
        if isinstance(window, Mapping):
            window = window.get(rung.name)
        if window is None:
            window = window_of(llm)
        reserved = self.answer_tokens
        return Reader(
            llm=llm,
            window=window,
            reserved=answer_tokens_of(llm, window) if reserved is None else reserved,
            template=self.prompts.templates[
                "full_prompt" if rung.full else "rag_prompt"
            ],
            rules=rules,
            counter=self.counter,
            structured=self.structured_output and outside is None,
            outside=outside,
        )
