"""The options of Self-Route, as pydantic fields, checked alone and together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Literal, NamedTuple

from langchain_core.language_models import BaseChatModel
from langchain_core.runnables import Runnable
from pydantic import (
    ConfigDict,
    SkipValidation,
    ValidationInfo,
    field_validator,
    model_validator,
)

from langchain_oprag._options import CheckedOptions, Model, Retriever, option_field
from langchain_oprag._prompts import Prompt, rung_prompts
from langchain_oprag._wrapping import search_filter
from langchain_oprag.documents import SourceLike
from oprag.calls import WindowOverflow
from oprag.context import DEFAULTS, ContextOptions, OnProblem, Order, ReadingKeywords
from oprag.errors import InvalidOptionError, invalid_option, named
from oprag.ordering import DocumentOrder
from oprag.positions import DocumentKey, PositionKeys
from oprag.routing import (
    DEFAULT_RUNGS,
    ROUTE_DESCRIPTIONS,
    ROUTE_OPTIONS,
    DeclineRules,
    Rung,
    as_decline_rules,
    check_route,
    check_route_option,
)
from oprag.tokens import NamedTokenCounter, TokenizerSpec

_CONTEXT = tuple(n for n in DEFAULTS if n in ReadingKeywords.__annotations__)
"""Options that are `ContextOptions`'s."""

_route_field = partial(option_field, descriptions=ROUTE_DESCRIPTIONS)


class SelfRouteOptions(CheckedOptions):
    """What `SelfRouteChain` can be told; pydantic itself checks and copies little."""

    model_config = ConfigDict(use_attribute_docstrings=True)

    llm: Model
    """The chat model that reads the context and answers, or refuses."""
    retriever: Retriever
    """Any `Runnable` from a query to documents, best first."""
    documents: SourceLike | None = _route_field("documents")
    rungs: SkipValidation[Sequence[str | int | Rung]] = _route_field(
        "rungs", DEFAULT_RUNGS
    )
    rung_llms: SkipValidation[Mapping[str, Model] | None] = _route_field("rung_llms")

    sentinel: SkipValidation[str | Sequence[str] | None] = _route_field("sentinel")
    decline_rules: SkipValidation[DeclineRules | Literal["lenient"] | None] = (
        _route_field("decline_rules")
    )
    structured_output: SkipValidation[bool] = _route_field(
        "structured_output", default=False
    )
    prompts: SkipValidation[Mapping[str, Any] | None] = None
    """Prompts in the place of the built-in one: `"qa"`, and before it `"<rung>.qa"`
    for one rung. A format string or a prompt template, with `{context}` and
    `{question}`; a template may hold the messages of `chat_history`."""

    max_context_tokens: SkipValidation[int | Mapping[str, int] | None] = None
    """Tokens of prompt and answer that the model takes, or one number by rung;
    None for what the model's profile says, if it has one."""
    answer_tokens: SkipValidation[int | None] = _route_field("answer_tokens")
    window_overflow: SkipValidation[WindowOverflow] = _route_field(
        "window_overflow", "order_preserving"
    )
    max_documents: SkipValidation[int | None] = _route_field("max_documents")
    prices: SkipValidation[Mapping[str, Sequence[float]] | None] = _route_field(
        "prices"
    )

    order: Order = _route_field("order")
    document_order: DocumentOrder = option_field("document_order")
    separator: str = option_field("separator")
    on_problem: OnProblem = option_field("on_problem")
    position_keys: PositionKeys | None = option_field("position_keys")
    document_key: DocumentKey | None = option_field("document_key")
    token_counter: TokenizerSpec = option_field("token_counter")
    retriever_input: SkipValidation[Literal["query", "mapping"]] = "query"
    """What the retriever is given: the query, or the chain's whole input with
    `input` and `chat_history`, as a history-aware retriever takes it."""

    @field_validator(*ROUTE_OPTIONS)
    @classmethod
    def _check_route_option(cls, value: Any, info: ValidationInfo) -> Any:
        check_route_option(str(info.field_name), value)
        return value

    @field_validator("retriever_input")
    @classmethod
    def _check_retriever_input(cls, value: Any) -> Any:
        if value not in ("query", "mapping"):
            takes = "It takes 'query' or 'mapping'."
            raise invalid_option("retriever_input", value, takes)
        return value

    @field_validator("rung_llms")
    @classmethod
    def _check_models(cls, value: Any) -> Any:
        for name, model in (value or {}).items():
            if not isinstance(model, Runnable):
                message = (
                    f"rung_llms[{name!r}] is {named(model)}. It takes a chat model "
                    "of LangChain."
                )
                raise InvalidOptionError(message, option="rung_llms", value=value)
        return value

    @model_validator(mode="after")
    def _check_together(self) -> SelfRouteOptions:
        checked(self)
        self._full_texts().within(search_filter(self.retriever, {}, {}))
        return self


class RouteSettings(NamedTuple):
    """What the options come to, together."""

    rungs: tuple[Rung, ...]
    rules: DeclineRules
    prompts: dict[str, Prompt]
    """By rung."""


def checked(options: SelfRouteOptions) -> RouteSettings:
    """Read rungs, rules and prompts, checked against one another.

    Pydantic keeps an assigned value that only a validator of the whole refuses, so
    that every question comes by here as well.

    Raises:
        InvalidOptionError: They contradict one another.
    """
    rungs = check_route(
        options.rungs,
        documents=options.documents,
        rung_llms=options.rung_llms,
        max_context_tokens=options.max_context_tokens,
    )
    for rung in rungs if options.structured_output else ():
        _check_structured(rung, model_of(options, rung.name))
    rules = as_decline_rules(options.sentinel, options.decline_rules)
    prompts = rung_prompts(
        options.prompts or {},
        [rung.name for rung in rungs],
        sentinels=rules.sentinels,
        structured=options.structured_output,
    )
    return RouteSettings(rungs, rules, prompts)


def model_of(options: SelfRouteOptions, rung: str) -> Runnable[Any, Any]:
    """The model that a rung asks."""
    return (options.rung_llms or {}).get(rung, options.llm)


def context_options(
    options: SelfRouteOptions, counter: NamedTokenCounter
) -> ContextOptions:
    """How retrieved chunks become the context of a rung."""
    shared = {name: getattr(options, name) for name in _CONTEXT}
    return ContextOptions(**{**shared, "token_counter": counter})


def _check_structured(rung: Rung, model: Runnable[Any, Any]) -> None:
    if not isinstance(model, BaseChatModel):
        message = (
            f"structured_output=True needs the chat model itself, and rung "
            f"{rung.name!r} has a {type(model).__name__}. Give the model without "
            "with_retry, bind and the like; set retries on the model."
        )
        raise InvalidOptionError(message, option="structured_output", value=True)
