"""What retrievers that wrap another one have in common."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, TypeAlias, TypedDict, TypeVar

from langchain_core.documents import Document
from langchain_core.retrievers import (
    BaseRetriever,
    LangSmithRetrieverParams,
    RetrieverLike,
)
from langchain_core.runnables import RunnableConfig
from langchain_core.runnables.config import ensure_config
from langchain_core.runnables.utils import ConfigurableFieldSpec
from langchain_core.vectorstores import VectorStore

from langchain_oprag._fetching import Fetch
from langchain_oprag._options import CheckedOptions
from oprag.errors import InvalidOptionError

_ABSENT = object()
_Received = TypeVar("_Received")
_Receive: TypeAlias = Callable[[list[Document]], tuple[_Received, bool]]
"""From what came to a result, and whether to ask for more instead."""
_AReceive: TypeAlias = Callable[[list[Document]], Awaitable[tuple[_Received, bool]]]


class WrappingKeywords(TypedDict, total=False):
    """What all retrievers take, for type checkers."""

    name: str | None
    tags: list[str] | None
    metadata: dict[str, Any] | None


class WrappingRetriever(BaseRetriever, CheckedOptions):
    """A retriever around another one, whose attributes it passes through."""

    base_retriever: RetrieverLike

    def invoke(
        self,
        input: str,  # noqa: A002 -- the base class's name
        config: RunnableConfig | None = None,
        **kwargs: Any,
    ) -> list[Document]:
        """Retrieve in reading order.

        Args:
            input: The query.
            config: Reaches the wrapped retriever, `configurable` included.
            **kwargs: `k` for this call. Anything else is passed on to the wrapped
                retriever, such as a `filter`.

        Raises:
            InvalidOptionError: `k` is not possible, or an option was given that is
                set on construction.
        """
        # The run manager that `_get_relevant_documents` is given does not carry
        # `configurable`.
        config = ensure_config(config)
        return super().invoke(input, config, outer_config=config, **kwargs)

    async def ainvoke(
        self,
        input: str,  # noqa: A002 -- the base class's name
        config: RunnableConfig | None = None,
        **kwargs: Any,
    ) -> list[Document]:
        """Async version of `invoke`."""
        config = ensure_config(config)
        return await super().ainvoke(input, config, outer_config=config, **kwargs)

    @property
    def config_specs(self) -> list[ConfigurableFieldSpec]:
        """Configurable fields of the wrapped retriever."""
        return self.base_retriever.config_specs

    def _fetched(
        self, query: str, fetch: Fetch, receive: _Receive[_Received]
    ) -> _Received:
        """Ask the wrapped retriever until `receive` wants no more."""
        more = True
        while more:
            found = self.base_retriever.invoke(query, fetch.config, **fetch.arguments)
            received, more = receive(found)
        return received

    async def _afetched(
        self, query: str, fetch: Fetch, receive: _AReceive[_Received]
    ) -> _Received:
        """Async version of `_fetched`."""
        more = True
        while more:
            found = await self.base_retriever.ainvoke(
                query, fetch.config, **fetch.arguments
            )
            received, more = await receive(found)
        return received

    def _refuse_options(self, call: dict[str, Any], options: Any) -> None:
        """Refuse arguments of a call that are options of the retriever."""
        for option, value in call.items():
            if option in options:
                message = (
                    f"invoke takes no option {option!r}. Set it on the retriever: "
                    f"{type(self).__name__}({option}=…)."
                )
                raise InvalidOptionError(message, option=option, value=value)

    def _get_ls_params(self, **kwargs: Any) -> LangSmithRetrieverParams:
        """Tracing parameters: those of the wrapped retriever under our name."""
        kwargs.pop("outer_config", None)
        own = super()._get_ls_params(**kwargs)
        of_wrapped = getattr(self.base_retriever, "_get_ls_params", None)
        return own if of_wrapped is None else {**of_wrapped(**kwargs), **own}

    def __getattr__(self, name: str) -> Any:
        """What the wrapped retriever, or its vector store, has under this name."""
        base = None if name.startswith("_") else self.__dict__.get("base_retriever")
        for inner in (base, getattr(base, "vectorstore", None)):
            value = getattr(inner, name, _ABSENT)
            if value is not _ABSENT:
                return value
        return super().__getattr__(name)  # type: ignore[misc]  # pydantic hides it


def wrapped_retriever(
    component: str,
    base_retriever: RetrieverLike | None,
    vectorstore: VectorStore | None,
    search: dict[str, Any],
) -> RetrieverLike:
    """Return the retriever that the arguments mean together.

    Args:
        component: Class name of the wrapping retriever.
        base_retriever: The retriever, or None.
        vectorstore: A store in its place, or None.
        search: `search_type` and `search_kwargs`; None where they were not given.

    Raises:
        InvalidOptionError: They do not go together.
    """
    search = {name: value for name, value in search.items() if value is not None}
    if vectorstore is None and base_retriever is not None and not search:
        return base_retriever
    if isinstance(vectorstore, VectorStore) and base_retriever is None:
        return vectorstore.as_retriever(**search)
    given = {"base_retriever": base_retriever, "vectorstore": vectorstore, **search}
    names = [name for name, value in given.items() if value is not None]
    message = (
        f"{component} takes either base_retriever= or vectorstore=, and search_type= "
        "and search_kwargs= only with a VectorStore; it was given "
        f"{', '.join(names) or 'none of them'}."
    )
    option = names[0] if names else "base_retriever"
    raise InvalidOptionError(message, option=option, value=given[option])
