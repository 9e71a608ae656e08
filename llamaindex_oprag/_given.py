"""The options of Self-Route as the user gave them, and what is wrong with them."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from llama_index.core.llms import LLM
from llama_index.core.prompts import BasePromptTemplate
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.response_synthesizers import BaseSynthesizer

from llamaindex_oprag._outside import Outside
from llamaindex_oprag._self_route_options import Prompts, SelfRouteOptions
from llamaindex_oprag.documents import SourceLike, document_source
from oprag.calls import WindowOverflow, as_prices, fit_window
from oprag.context import ContextOptions
from oprag.documents import DocumentSource
from oprag.errors import InvalidOptionError
from oprag.routing import DeclineDetector, DeclineRules, RouteOptions, Rung, as_rungs

_DECIDED_BY_RUNGS = ("token_budget", "top_n", "merge")


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """The arguments of `SelfRouteQueryEngine.from_args`, see there."""

    llm: LLM
    response_synthesizer: BaseSynthesizer | None
    documents: SourceLike | None
    rungs: Sequence[str | int | Rung]
    rung_llms: Mapping[str, LLM] | None
    sentinel: str | Sequence[str] | None
    decline_rules: DeclineRules | None
    structured_output: bool
    multiple_choice: bool
    rag_prompt: str | BasePromptTemplate | None
    full_prompt: str | BasePromptTemplate | None
    max_context_tokens: int | Mapping[str, int] | None
    answer_tokens: int | None
    window_overflow: WindowOverflow
    max_documents: int | None
    prices: Mapping[str, Sequence[float]] | None
    count_full_documents: bool
    options: Mapping[str, Any]

    def checked(self) -> SelfRouteOptions:
        """Check everything, each by itself and together.

        Raises:
            InvalidOptionError: Something is not possible.
        """
        rungs = as_rungs(self.rungs)
        rules = DeclineDetector(self.sentinel, rules=self.decline_rules).rules
        return SelfRouteOptions(
            llm=self.llm,
            rung_llms=self._rung_llms(rungs),
            source=self._source(rungs),
            documents=self.documents if isinstance(self.documents, Mapping) else None,
            route=self._route(rungs),
            rules=rules,
            prompts=self._prompts(rungs, rules),
            structured_output=self.structured_output,
            max_context_tokens=self._windows(rungs),
            answer_tokens=_at_least_1("answer_tokens", self.answer_tokens),
            count_full_documents=self.count_full_documents,
            outside=self._outside(rungs, rules),
        )

    def _route(self, rungs: tuple[Rung, ...]) -> RouteOptions:
        overflow = self.window_overflow
        fit_window(0, window=None, overhead=0, reserved=0, window_overflow=overflow)
        prices = as_prices(self.prices)
        return RouteOptions(
            rungs=rungs,
            context=_context(self.options),
            max_documents=_at_least_1("max_documents", self.max_documents),
            window_overflow=overflow,
            prices=prices,
        )

    def _rung_llms(self, rungs: Sequence[Rung]) -> dict[str, LLM]:
        given = dict(self.rung_llms or {})
        _check_names("rung_llms", given, rungs)
        for name, llm in [("llm", self.llm), *given.items()]:
            if not isinstance(llm, LLM):
                message = (
                    f"{name} is a {type(llm).__name__} and no LLM of LlamaIndex, as "
                    "llm= and rung_llms= take."
                )
                raise InvalidOptionError(message, option="llm", value=llm)
            if llm.output_parser is not None:
                message = (
                    f"The LLM of {name} has an output_parser, which a stream cannot "
                    "have. Leave it out; structured_output=True has the reply parsed."
                )
                raise InvalidOptionError(message, option="llm", value=llm)
        return given

    def _source(self, rungs: Sequence[Rung]) -> DocumentSource | None:
        if self.documents is not None:
            return document_source(self.documents)
        if any(rung.full for rung in rungs):
            message = (
                'The rung "full" needs documents=: a mapping from document names to '
                "full texts, a function, a folder, or a docstore with the full "
                'documents. Without it, give rungs= without "full".'
            )
            raise InvalidOptionError(message, option="documents", value=None)
        return None

    def _prompts(self, rungs: Sequence[Rung], rules: DeclineRules) -> Prompts:
        routed_on = any(not rung.full for rung in rungs[:-1])
        in_words = routed_on and not self.structured_output
        return Prompts(
            self.rag_prompt,
            self.full_prompt,
            llm=self.llm,
            sentinels=rules.sentinels,
            declinable=["rag_prompt"] if in_words else [],
            multiple_choice=self.multiple_choice,
        )

    def _windows(self, rungs: Sequence[Rung]) -> int | Mapping[str, int] | None:
        windows = self.max_context_tokens
        if isinstance(windows, Mapping):
            _check_names("max_context_tokens", windows, rungs)
            return {
                name: _at_least_1("max_context_tokens", window) or 0
                for name, window in windows.items()
            }
        return _at_least_1("max_context_tokens", windows)

    def _outside(self, rungs: Sequence[Rung], rules: DeclineRules) -> Outside | None:
        if self.response_synthesizer is None:
            return None
        if not isinstance(self.response_synthesizer, BaseSynthesizer):
            name = type(self.response_synthesizer).__name__
            message = f"response_synthesizer= takes a synthesizer, not a {name}."
            raise InvalidOptionError(message, option="response_synthesizer", value=name)
        if rungs[0].full:
            message = (
                "response_synthesizer= reads the first rung, and the first rung here "
                "is the full documents, which have to be read by llm=. Put "
                '"retrieved" before it, or leave the synthesizer out.'
            )
            raise InvalidOptionError(message, option="response_synthesizer", value=None)
        return Outside(self.response_synthesizer, rules.sentinels)


def _context(options: Mapping[str, Any]) -> ContextOptions:
    foreign = inspect.signature(RetrieverQueryEngine.from_args).parameters
    for option, value in options.items():
        hint = None
        if option in _DECIDED_BY_RUNGS:
            hint = 'What is read is decided by rungs=, as in [1500, 16000, "full"].'
        elif option == "selection":
            hint = "Set it on the retriever: OrderPreservingRetriever(…)."
        elif option in foreign:
            hint = (
                "Each rung is read in one call; its prompts are rag_prompt= and "
                "full_prompt=, or those of response_synthesizer= on the first rung."
            )
        if hint is not None:
            message = f"{option}= has no meaning for SelfRouteQueryEngine. {hint}"
            raise InvalidOptionError(message, option=option, value=value)
    return ContextOptions.from_options(options)


def _at_least_1(option: str, value: Any) -> int | None:
    if value is None or (type(value) is int and value >= 1):
        return value
    message = f"{option}={value!r} is not possible. It takes a number from 1 on."
    raise InvalidOptionError(message, option=option, value=value)


def _check_names(option: str, given: Mapping[str, Any], rungs: Sequence[Rung]) -> None:
    names = [rung.name for rung in rungs]
    foreign = [name for name in given if name not in names]
    if foreign:
        message = (
            f"{option} names the rungs {foreign!r}, which do not exist. The rungs "
            f"are: {', '.join(names)}."
        )
        raise InvalidOptionError(message, option=option, value=given)
