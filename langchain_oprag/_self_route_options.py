"""The options of Self-Route, as pydantic fields, checked alone and together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

from langchain_core.language_models import BaseChatModel
from langchain_core.retrievers import RetrieverLike
from langchain_core.runnables import Runnable
from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    SkipValidation,
    ValidationInfo,
    field_validator,
    model_validator,
)

from langchain_oprag._prompts import Prompt, rung_prompts
from langchain_oprag.documents import document_source
from oprag.calls import WindowOverflow
from oprag.context import ContextOptions, Order, Overflow
from oprag.errors import InvalidOptionError
from oprag.positions import DocumentKey, MissingDocument, MissingPosition, PositionKeys
from oprag.routing import (
    DEFAULT_RUNGS,
    ROUTE_OPTIONS,
    DeclineRules,
    Rung,
    as_decline_rules,
    check_route,
    check_route_option,
    refuse_removed,
)
from oprag.tokens import NamedTokenCounter, TokenizerSpec

_CONTEXT = (
    *("order", "document_order", "overflow", "max_gap", "gap_mark", "separator"),
    *("missing_position", "missing_document", "position_keys", "document_key"),
)
"""Options that are `ContextOptions`'s."""


class SelfRouteOptions(BaseModel):
    """What `SelfRouteChain` can be told; pydantic itself checks and copies little."""

    model_config = ConfigDict(
        arbitrary_types_allowed=True,
        extra="forbid",
        use_attribute_docstrings=True,
        validate_assignment=True,
    )

    llm: Runnable[Any, Any]
    """The chat model that reads the context and answers, or refuses."""
    retriever: RetrieverLike
    """Any `Runnable` from a query to documents, best first."""
    documents: SkipValidation[Any] = Field(default=None, repr=False)
    """Full texts by document name: anything that `document_source` takes. Needed
    if `rungs` has `"full"`."""
    rungs: SkipValidation[Sequence[str | int | Rung]] = DEFAULT_RUNGS
    """What the model is given to read, in turn, until it answers: `"retrieved"`,
    numbers of tokens, `"full"`; see `oprag.routing.as_rungs`."""
    rung_llms: SkipValidation[Mapping[str, Runnable[Any, Any]] | None] = None
    """Other models, by the rung's name: `{"full": long_context_model}`."""

    sentinel: SkipValidation[str | Sequence[str] | None] = None
    """What the model is told to write if it refuses, or several such words, of which
    the first stands in the prompts; None for those of `decline_rules`."""
    decline_rules: SkipValidation[DeclineRules | None] = None
    """How a refusal is recognised, for other languages; None for English."""
    structured_output: bool = False
    """Have the model fill in `answerable` and `answer` instead of writing a
    sentinel. A streamed answer then comes in one piece."""
    prompts: SkipValidation[Mapping[str, Any] | None] = None
    """Prompts in the place of the built-in one: `"qa"`, and before it `"<rung>.qa"`
    for one rung. A format string or a prompt template, with `{context}` and
    `{question}`; a template may hold the messages of `chat_history`."""

    max_context_tokens: SkipValidation[int | Mapping[str, int] | None] = None
    """Tokens of prompt and answer that the model takes, or one number by rung;
    None for what the model's profile says, if it has one."""
    answer_tokens: SkipValidation[int | None] = None
    """Tokens of the window that are kept free for the answer; None for the model's
    own limit, else 256, or an eighth of a smaller window."""
    window_overflow: SkipValidation[WindowOverflow] = "order_preserving"
    """When the full documents do not fit the window: `"order_preserving"` (as much
    as fits, in document order), `"truncate_middle"` or `"error"`."""
    max_documents: SkipValidation[int | None] = None
    """Documents to read in full, of the best; None for all that were retrieved."""

    prices: SkipValidation[Mapping[str, Sequence[float]] | None] = None
    """Price of a million tokens by model: input, cached input, output."""

    order: SkipValidation[Order] = "document"
    """Of the retrieved chunks: `"document"`, or `"score"`: best first, each behind
    its number, as in the paper."""
    document_order: SkipValidation[str] = "best_rank"
    """How several documents follow one another: `"best_rank"`, `"first_seen"`,
    `"score_sum"`, or a metadata key."""
    overflow: SkipValidation[Overflow] = "stop"
    """At a chunk that does not fit a rung: `"stop"`, or `"skip"` it."""
    max_gap: SkipValidation[int] = 8
    """Characters that may lie between chunks that are read as one."""
    gap_mark: SkipValidation[str | None] = None
    """Put where something of a document was left out; None for nothing."""
    separator: SkipValidation[str] = "\n\n"
    """Put between chunks that do not touch, and between documents."""
    missing_position: SkipValidation[MissingPosition] = "error"
    """For chunks without a usable position: `"error"`, `"last"` or `"rank"`."""
    missing_document: SkipValidation[MissingDocument] = "error"
    """For chunks that name no document: `"error"`, or `"one"`: all are of one."""
    position_keys: SkipValidation[PositionKeys | None] = None
    """Where the position is: a metadata key, an attribute of `Document`, a callable
    on it, or a list of these; None for the known keys."""
    document_key: SkipValidation[DocumentKey | None] = None
    """Where the document's identity is: as above, of a list the first that gives a
    value; None for the known keys."""
    token_counter: SkipValidation[TokenizerSpec] = None
    """A callable `str -> int`, a tokenizer, or its name; None for cl100k where it is
    installed, else an approximation."""
    retriever_input: Literal["query", "mapping"] = "query"
    """What the retriever is given: the query, or the chain's whole input with
    `input` and `chat_history`, as a history-aware retriever takes it."""

    @model_validator(mode="before")
    @classmethod
    def _check_names(cls, given: Any) -> Any:
        refuse_removed(given)
        return given

    @field_validator(*_CONTEXT)
    @classmethod
    def _check_context_option(cls, value: Any, info: ValidationInfo) -> Any:
        ContextOptions.from_options({str(info.field_name): value})
        return value

    @field_validator(*ROUTE_OPTIONS)
    @classmethod
    def _check_route_option(cls, value: Any, info: ValidationInfo) -> Any:
        check_route_option(str(info.field_name), value)
        return value

    @field_validator("rung_llms")
    @classmethod
    def _check_models(cls, value: Any) -> Any:
        for name, model in (value or {}).items():
            if not isinstance(model, Runnable):
                message = f"rung_llms[{name!r}] is no chat model but {model!r}."
                raise InvalidOptionError(message, option="rung_llms", value=value)
        return value

    @field_validator("documents")
    @classmethod
    def _check_documents(cls, value: Any) -> Any:
        if value is not None:
            document_source(value)
        return value

    @model_validator(mode="after")
    def _check_together(self) -> SelfRouteOptions:
        checked(self)
        return self


class CheckedOptions(NamedTuple):
    """What the options come to, together."""

    rungs: tuple[Rung, ...]
    rules: DeclineRules
    prompts: dict[str, Prompt]
    """By rung."""


def checked(options: SelfRouteOptions) -> CheckedOptions:
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
    return CheckedOptions(rungs, rules, prompts)


def model_of(options: SelfRouteOptions, rung: str) -> Runnable[Any, Any]:
    """The model that a rung asks."""
    return (options.rung_llms or {}).get(rung, options.llm)


def context_options(
    options: SelfRouteOptions, counter: NamedTokenCounter
) -> ContextOptions:
    """How retrieved chunks become the context of a rung."""
    shared = {name: getattr(options, name) for name in _CONTEXT}
    return ContextOptions(token_counter=counter, **shared)


def _check_structured(rung: Rung, model: Runnable[Any, Any]) -> None:
    if not isinstance(model, BaseChatModel):
        message = (
            f"structured_output=True needs the chat model itself, and rung "
            f"{rung.name!r} has a {type(model).__name__}. Give the model without "
            "with_retry, bind and the like; set retries on the model."
        )
        raise InvalidOptionError(message, option="structured_output", value=True)
