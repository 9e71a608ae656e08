"""`OrderPreservingRetriever`: any retriever or vector store, in document order."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from langchain_core.callbacks import (
    AsyncCallbackManagerForRetrieverRun,
    CallbackManagerForRetrieverRun,
)
from langchain_core.documents import Document
from langchain_core.retrievers import (
    BaseRetriever,
    LangSmithRetrieverParams,
    RetrieverLike,
)
from langchain_core.runnables import RunnableConfig
from langchain_core.runnables.config import ensure_config, patch_config
from langchain_core.runnables.utils import ConfigurableFieldSpec
from langchain_core.vectorstores import VectorStore
from pydantic import SkipValidation, field_validator

from langchain_oprag._asking import Asking, checked_k
from langchain_oprag._options import SharedOptions
from oprag.errors import InvalidOptionError

__all__ = ["OrderPreservingRetriever"]

_ABSENT = object()


class OrderPreservingRetriever(BaseRetriever, SharedOptions):
    """Wraps a retriever or a vector store and returns documents in reading order.

    The best documents are selected first, `k` of them or as many as fit
    `token_budget`; then they are put in order. What the wrapped retriever returns
    is taken to be best first.

    Args:
        base_retriever: Any `Runnable` from a query to a list of documents.
        vectorstore: Instead of `base_retriever`: short for
            `vectorstore.as_retriever(search_type=…, search_kwargs=…)`.
        search_type: `"similarity"`, `"similarity_score_threshold"` or `"mmr"`; with
            `vectorstore` only. None for the store's default.
        search_kwargs: Arguments for every search, such as a filter; with
            `vectorstore` only.
        **options: The fields below, and `tags`, `metadata` and `name`, which all
            retrievers have.

    `k` reaches a vector store underneath when it is larger than the one in
    `search_kwargs`, or there is none; `fetch_k` of `"mmr"` is raised to it. Other
    retrievers are asked as they are and their result is cut. Chunks that came
    twice are one, so that there may be fewer than `k`; so does `merge`.

    With `token_budget`, a vector store underneath and no `k` anywhere, as many
    chunks are fetched as fill the budget. A score threshold still holds.

    Whatever else the wrapped retriever or its vector store has can be used on
    this object: `add_documents`, `vectorstore`, `search_kwargs`, `docstore`.

    Raises:
        InvalidOptionError: On construction, when there is not exactly one of
            `base_retriever` and `vectorstore`.
        ValidationError: On construction and assignment, for an option that does
            not exist or cannot have this value. Both are `ValueError`.
        MissingDocumentError: When invoked, and a document does not say which text
            it is from.
        PositionError: When invoked, and positions are missing or contradict each
            other.
        BudgetTooSmallError: When invoked, and not even the best document fits.

    Warns:
        UnfilledBudgetWarning: Once, when all that came fits the token budget and
            more cannot be asked for.

    Example:
        >>> from langchain_core.embeddings import DeterministicFakeEmbedding
        >>> from langchain_core.vectorstores import InMemoryVectorStore
        >>> store = InMemoryVectorStore(DeterministicFakeEmbedding(size=8))
        >>> retriever = OrderPreservingRetriever(vectorstore=store, k=3)
        >>> chunks = [
        ...     Document(text, metadata={"source": "a.txt", "start_index": start})
        ...     for start, text in ((20, "third"), (0, "first"), (10, "second"))
        ... ]
        >>> ids = retriever.add_documents(chunks)
        >>> [document.page_content for document in retriever.invoke("question")]
        ['first', 'second', 'third']
        >>> len(retriever.invoke("question", k=2))
        2
    """

    base_retriever: RetrieverLike
    """The retriever that is wrapped."""
    k: SkipValidation[int | None] = None
    """Documents to return, of the best; None for as many as come."""

    def __init__(
        self,
        *,
        base_retriever: RetrieverLike | None = None,
        vectorstore: VectorStore | None = None,
        search_type: str | None = None,
        search_kwargs: Mapping[str, Any] | None = None,
        **options: Any,
    ) -> None:
        search = {"search_type": search_type, "search_kwargs": search_kwargs}
        search = {name: value for name, value in search.items() if value is not None}
        options["base_retriever"] = _wrapped(base_retriever, vectorstore, search)
        super().__init__(**options)

    @field_validator("k", mode="after")
    @classmethod
    def _check_k(cls, k: Any) -> int | None:
        return checked_k(k)

    def invoke(
        self,
        input: str,  # noqa: A002 -- the base class's name
        config: RunnableConfig | None = None,
        **kwargs: Any,
    ) -> list[Document]:
        """Retrieve documents in reading order.

        Args:
            input: The query.
            config: Reaches the wrapped retriever, `configurable` included.
            **kwargs: `k`, the number of documents for this call. Anything else is
                passed on to the wrapped retriever, such as a `filter`.

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
        """Do the same as `invoke`, awaiting the wrapped retriever."""
        config = ensure_config(config)
        return await super().ainvoke(input, config, outer_config=config, **kwargs)

    @property
    def config_specs(self) -> list[ConfigurableFieldSpec]:
        """Configurable fields of the wrapped retriever."""
        return self.base_retriever.config_specs

    def _get_relevant_documents(
        self,
        query: str,
        *,
        run_manager: CallbackManagerForRetrieverRun,
        k: int | None = None,
        outer_config: RunnableConfig | None = None,
        **call: Any,
    ) -> list[Document]:
        config = patch_config(outer_config, callbacks=run_manager.get_child())
        asking = self._asking(config, call, k)
        more = True
        while more:
            found = self.base_retriever.invoke(query, asking.config, **asking.arguments)
            documents, more = self._receive(asking, found)
        return documents

    async def _aget_relevant_documents(
        self,
        query: str,
        *,
        run_manager: AsyncCallbackManagerForRetrieverRun,
        k: int | None = None,
        outer_config: RunnableConfig | None = None,
        **call: Any,
    ) -> list[Document]:
        config = patch_config(outer_config, callbacks=run_manager.get_child())
        asking = self._asking(config, call, k)
        more = True
        while more:
            found = await self.base_retriever.ainvoke(
                query, asking.config, **asking.arguments
            )
            documents, more = self._receive(asking, found)
        return documents

    def _asking(
        self, config: RunnableConfig, call: dict[str, Any], k: int | None
    ) -> Asking:
        for option, value in call.items():
            if option in SharedOptions.model_fields:
                message = (
                    f"invoke takes no option {option!r}. Set it on the retriever: "
                    f"{type(self).__name__}({option}=…)."
                )
                raise InvalidOptionError(message, option=option, value=value)
        return Asking(
            self.base_retriever,
            config,
            call,
            k=self.k if k is None else checked_k(k),
            token_budget=self.token_budget,
        )

    def _receive(
        self, asking: Asking, found: list[Document]
    ) -> tuple[list[Document], bool]:
        """The documents in order, and whether to ask again instead."""
        ordered = self._put_in_order(found, asking.k)
        if asking.again(len(found), used_all=ordered.used_all):
            return ordered.documents, True
        setting = asking.limited_by(len(found))
        if found and ordered.used_all and setting is not None:
            self._warn_unfilled(len(found), setting)
        return ordered.documents, False

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


def _wrapped(
    base_retriever: RetrieverLike | None,
    vectorstore: VectorStore | None,
    search: dict[str, Any],
) -> RetrieverLike:
    """The retriever that the arguments mean together."""
    if vectorstore is None and base_retriever is not None and not search:
        return base_retriever
    if isinstance(vectorstore, VectorStore) and base_retriever is None:
        return vectorstore.as_retriever(**search)
    given = {"base_retriever": base_retriever, "vectorstore": vectorstore, **search}
    names = [name for name, value in given.items() if value is not None]
    message = (
        "OrderPreservingRetriever takes either base_retriever= or vectorstore=, and "
        "search_type= and search_kwargs= only with a VectorStore; it was given "
        f"{', '.join(names) or 'none of them'}."
    )
    option = names[0] if names else "base_retriever"
    raise InvalidOptionError(message, option=option, value=given[option])
