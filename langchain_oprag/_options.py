"""The shared options as pydantic fields: made of the core's list."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Annotated, Any, ClassVar, Never, Self, TypeAlias, TypedDict, TypeVar

from langchain_core.documents import BaseDocumentCompressor
from langchain_core.retrievers import RetrieverLike
from langchain_core.runnables import Runnable, RunnableConfig
from langchain_core.runnables.base import RunnableBindingBase
from langchain_core.runnables.config import merge_configs
from langchain_core.vectorstores import VectorStore
from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    PrivateAttr,
    ValidationInfo,
    WithJsonSchema,
    field_validator,
)

from langchain_oprag.documents import SourceLike, document_source
from oprag.context import (
    DEFAULTS,
    DESCRIPTIONS,
    ContextKeywords,
    OpragErrorsMixin,
    Problems,
    Widen,
    check_option,
)
from oprag.documents import DocumentSource
from oprag.errors import InvalidOptionError, suggest_option, wrong_object
from oprag.stores import SearchFilter

_CALLABLE = ("position_keys", "document_key", "sort_documents", "token_counter")
_JSON = tuple(n for n in (*DESCRIPTIONS, "k") if n not in {*_CALLABLE, "documents"})
PER_CALL = ("token_budget", "merge")
"""Options that may be given for one call, beside `k`."""
_OF_CONSTRUCTION = {*DESCRIPTIONS}
_MEANT_BY_USERS = {
    *("top_k", "top_n", "similarity_top_k", "max_tokens"),
    *("chunk_size", "chunk_overlap"),
}
"""Names that no store takes; any other name may be an argument of one."""
_A_RETRIEVER = (
    "a vector store, or a retriever, such as store.as_retriever() or "
    "RunnableLambda(function)"
)
A_MODEL = "a chat model of LangChain"
_FOLLOWS = "A compressor follows one: retriever | compressor"
_RETRIEVERS = ("retriever", "base_retriever")
_RUNNABLES = {"llm": A_MODEL, **dict.fromkeys(_RETRIEVERS, _A_RETRIEVER)}

_INSIDE = "Set it on the retriever inside: store.as_retriever(search_kwargs={…})."
OF_SEARCH = {
    "search_kwargs": _INSIDE,
    "search_type": (
        'Set it on the retriever inside: store.as_retriever(search_type="mmr").'
    ),
    "score_threshold": (
        "Set it on the retriever inside: store.as_retriever("
        'search_type="similarity_score_threshold", '
        'search_kwargs={"score_threshold": 0.5}).'
    ),
    "filter": (
        "Give it with the question, invoke(question, filter=…), or set it on the "
        'retriever inside: store.as_retriever(search_kwargs={"filter": …}).'
    ),
    "embedding": "The store embeds the question: leave it out.",
    "embeddings": "The store embeds the question: leave it out.",
    "llm": "No model is asked: leave it out.",
}
"""Advice for arguments of a search that were given as options."""

_RetrieverT = TypeVar("_RetrieverT")
Model: TypeAlias = Annotated[Runnable[Any, Any], WithJsonSchema({})]
Retriever: TypeAlias = Annotated[RetrieverLike, WithJsonSchema({})]
"""Fields that hold a runnable, which may be anything and has no JSON schema."""


def option_field(
    name: str, default: Any = None, descriptions: Mapping[str, str] = DESCRIPTIONS
) -> Any:
    """Make a field for an option, with the default and description of the core.

    Args:
        name: The option.
        default: The default of an option for which the core has none.
        descriptions: The core's descriptions of this component's options.
    """
    return Field(
        default=DEFAULTS.get(name, default),
        description=descriptions[name],
        repr=name != "documents",
    )


def unwrap(
    retriever: Any, config: RunnableConfig
) -> tuple[Any, RunnableConfig, dict[str, Any]]:
    """Return the runnable in `with_config`, `bind` and the like, and their arguments.

    Returns:
        The wrapped runnable, its config, and the arguments that are bound to it.
    """
    # Imported here, because it would double the import time of the package.
    from langchain_core.runnables.configurable import DynamicRunnable

    bound: dict[str, Any] = {}
    while True:
        if isinstance(retriever, RunnableBindingBase):
            bound = {**retriever.kwargs, **bound}
            config = merge_configs(retriever.config, config)
            retriever = retriever.bound
        elif isinstance(retriever, DynamicRunnable):
            retriever, config = retriever.prepare(config)
        else:
            return retriever, config, bound


def rewrap(
    retriever: Any,
    kind: type[_RetrieverT],
    change: Callable[[_RetrieverT], Any],
    config: RunnableConfig | None = None,
) -> Any:
    """Copy a retriever in `with_config`, `with_retry` and the like, and change it.

    Without a config, configurable fields stay configurable.

    Returns:
        The wrappers around the changed copy; None if the retriever inside is of
        another kind, or if nobody knows which one it is.
    """
    # Imported here, because it would double the import time of the package.
    from langchain_core.runnables import configurable

    if isinstance(retriever, kind):
        return change(retriever)
    inner = "default"
    if isinstance(retriever, RunnableBindingBase):
        inner, config = "bound", config and merge_configs(retriever.config, config)
    elif config and isinstance(retriever, configurable.DynamicRunnable):
        chosen = retriever.prepare(config)[0].with_config(retriever.config)
        return rewrap(chosen, kind, change, config)
    elif not isinstance(retriever, configurable.RunnableConfigurableFields):
        return None
    changed = rewrap(getattr(retriever, inner), kind, change, config)
    return changed and retriever.model_copy(update={inner: changed})


def check_runnable(option: str, value: Any, takes: str) -> None:
    """Reject a value that LangChain cannot invoke.

    Raises:
        InvalidOptionError: It is no `Runnable`.
    """
    if not isinstance(value, Runnable):
        raise wrong_object(option, value, takes)


def refuse_options(component: str, call: Iterable[str]) -> None:
    """Refuse options among the arguments of a call: stores take and ignore them.

    Raises:
        InvalidOptionError: For the first option among them.
    """
    for option in call:
        if option in _MEANT_BY_USERS:
            meant = suggest_option(option, ("k", *PER_CALL))
        elif option in _OF_CONSTRUCTION:
            meant = f"Set it on {component}."
        elif option == "search_kwargs":
            meant = "Give what it holds as arguments, such as k= and filter=."
        else:
            continue
        message = f"{option}= is not an argument of a search. {meant}".rstrip()
        raise InvalidOptionError(message, option=option, value=None)


class CheckedOptions(OpragErrorsMixin, BaseModel):
    """Options are checked by the core, on construction and on assignment.

    Pydantic itself checks and copies nothing. A component names this class last among
    its bases, so that its configuration holds.
    """

    model_config = ConfigDict(
        arbitrary_types_allowed=True, extra="forbid", validate_assignment=True
    )

    _source: tuple[Any, DocumentSource] | None = PrivateAttr(default=None)

    _problems: Problems = PrivateAttr()
    """The warnings that were given; copies share them."""

    _known_filter: ClassVar[SearchFilter] = SearchFilter()
    """The filter of a search by another component, as far as it is known."""

    def __init__(self, *unnamed: Never, **options: Any) -> None:
        super().__init__(*unnamed, **options)
        self._problems = Problems(type(self).__name__)

    # Field by field, because pydantic keeps an assigned value that only a validator
    # of the whole model refuses.
    @field_validator(*_JSON, *_RUNNABLES, mode="wrap", check_fields=False)
    @classmethod
    def _check_value(cls, value: Any, _: Any, info: ValidationInfo) -> Any:
        return cls._check_given(str(info.field_name), value)

    # A value that may be a callable has no JSON schema. Documents are kept unchanged:
    # a folder stays a path in JSON, and nothing is read.
    @field_validator(*_CALLABLE, "documents", mode="plain", check_fields=False)
    @classmethod
    def _check_callable(cls, value: Any, info: ValidationInfo) -> Any:
        return cls._check_given(str(info.field_name), value)

    @classmethod
    def _check_given(cls, option: str, value: Any) -> Any:
        may_be_none = not cls.model_fields[option].is_required()
        if value is None and may_be_none and option in ("documents", *_RUNNABLES):
            return value
        if option == "documents":
            document_source(value).within(cls._known_filter)
        elif option in _RUNNABLES:
            if option in _RETRIEVERS and isinstance(value, VectorStore):
                value = value.as_retriever()
            if isinstance(value, BaseDocumentCompressor):
                raise wrong_object(option, value, f"{_RUNNABLES[option]}. {_FOLLOWS}")
            check_runnable(option, value, _RUNNABLES[option])
        check_option(option, value)
        return value

    def _full_texts(self) -> DocumentSource:
        """Return the source made of `documents`, made once; empty without them."""
        given = getattr(self, "documents", None)
        if self._source is None or self._source[0] is not given:
            self._source = given, document_source({} if given is None else given)
        return self._source[1]

    def _copy_with(self, **changes: Any) -> Self:
        """Return a copy with other values."""
        copied = self.model_copy()
        for name, value in changes.items():
            setattr(copied, name, value)
        return copied


class RetrieverKeywords(TypedDict, total=False):
    """Options of all retrievers, for type checkers."""

    name: str | None
    tags: list[str] | None
    metadata: dict[str, Any] | None


class SearchKeywords(ContextKeywords, total=False):
    """Options of retrievers that read the results of a search, for type checkers."""

    k: int | None
    widen: Widen | None
    bm25: bool
    verify_index: bool
    documents: SourceLike | None


class OrderedKeywords(SearchKeywords, RetrieverKeywords, total=False):
    """Options of `OrderPreservingRetriever`, for type checkers."""
