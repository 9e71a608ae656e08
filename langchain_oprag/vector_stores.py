"""`OrderPreservingVectorStore`: in the place of a vector store, in document order."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any, NoReturn, Unpack

from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from langchain_core.vectorstores import VectorStore, VectorStoreRetriever

from langchain_oprag._asked import check_text, refuse_options
from langchain_oprag._store_search import StoreSearch
from langchain_oprag.retrievers import OrderPreservingRetriever, StoreKeywords
from oprag.errors import InvalidOptionError, named, refuse_unknown

_BY_TEXT = {"similarity_search": "similarity", "max_marginal_relevance_search": "mmr"}
"""What a vector store's own retriever searches with, by the method that it calls."""
_OPTIONS = tuple(
    name
    for name in OrderPreservingRetriever.model_fields
    if name not in {"base_retriever", "bm25"}
)


class OrderPreservingVectorStore(VectorStore):
    """Stands where a vector store does, and answers every search in document order.

    `store.similarity_search(question)` in a tool, in middleware, in a graph or behind
    `store.as_retriever()`: nothing else in the application changes. Each search is that
    of the store inside, whose best are selected and then put in order, as
    `OrderPreservingRetriever` does it.

    Args:
        vectorstore: The store that is searched and written to.
        k: Documents to return where a search gives no `k`; None for the store's own
            default, or with `token_budget` as many as fill it.
        **options: The others of `OrderPreservingRetriever`.

    Filters and other arguments of a search reach the store inside. A search with scores
    gives pairs in document order: the score of each is that of its best hit. So do the
    searches that only some stores have. What adds, deletes or reads by id is the
    store's own, and so is whatever else it has.

    Raises:
        InvalidOptionError: On construction, for an option that does not exist or cannot
            have this value; when searching, as `OrderPreservingRetriever` does.
        MissingDocumentError: When searching, and a document does not say which text it
            is from.
        PositionError: When searching, and positions are missing or contradict each
            other.
        BudgetTooSmallError: When searching, and not even the best document fits.

    Example:
        >>> from langchain_core.embeddings import DeterministicFakeEmbedding
        >>> from langchain_core.vectorstores import InMemoryVectorStore
        >>> inner = InMemoryVectorStore(DeterministicFakeEmbedding(size=8))
        >>> store = OrderPreservingVectorStore(inner)
        >>> ids = store.add_documents(
        ...     [
        ...         Document(text, metadata={"source": "a.txt", "start_index": start})
        ...         for start, text in ((20, "third"), (0, "first"), (10, "second"))
        ...     ]
        ... )
        >>> found = store.similarity_search("question", k=3)
        >>> [document.page_content for document in found]
        ['first', 'second', 'third']
    """

    def __init__(
        self, vectorstore: VectorStore, **options: Unpack[StoreKeywords]
    ) -> None:
        refuse_unknown(options, _OPTIONS)
        if not isinstance(vectorstore, VectorStore) or isinstance(
            vectorstore, OrderPreservingVectorStore
        ):
            message = (
                f"vectorstore= is {named(vectorstore)}. It takes a VectorStore of "
                "LangChain."
            )
            raise InvalidOptionError(message, option="vectorstore", value=vectorstore)
        self.vectorstore = vectorstore
        options.setdefault("name", type(self).__name__)
        self._ordered = OrderPreservingRetriever(
            base_retriever=VectorStoreRetriever(vectorstore=vectorstore), **options
        )

    def similarity_search(
        self, query: str, k: int | None = None, **kwargs: Any
    ) -> list[Document]:
        """Return the documents most similar to a text, in document order.

        Args:
            query: The text.
            k: How many to select, of the best; None for what the store was given.
            **kwargs: Passed on to the store inside, such as a `filter`.
        """
        return self._search("similarity_search", query, k, kwargs)

    async def asimilarity_search(
        self, query: str, k: int | None = None, **kwargs: Any
    ) -> list[Document]:
        """Async version of `similarity_search`."""
        return await self._asearch("asimilarity_search", query, k, kwargs)

    def similarity_search_by_vector(
        self, embedding: list[float], k: int | None = None, **kwargs: Any
    ) -> list[Document]:
        """Do the same as `similarity_search`, for a vector."""
        return self._search("similarity_search_by_vector", embedding, k, kwargs)

    async def asimilarity_search_by_vector(
        self, embedding: list[float], k: int | None = None, **kwargs: Any
    ) -> list[Document]:
        """Async version of `similarity_search_by_vector`."""
        return await self._asearch("asimilarity_search_by_vector", embedding, k, kwargs)

    def similarity_search_with_score(
        self, query: str, k: int | None = None, **kwargs: Any
    ) -> list[tuple[Document, float]]:
        """Return documents in document order, each with its best hit's score."""
        return self._search("similarity_search_with_score", query, k, kwargs)

    async def asimilarity_search_with_score(
        self, query: str, k: int | None = None, **kwargs: Any
    ) -> list[tuple[Document, float]]:
        """Async version of `similarity_search_with_score`."""
        return await self._asearch("asimilarity_search_with_score", query, k, kwargs)

    def similarity_search_with_relevance_scores(
        self, query: str, k: int | None = None, **kwargs: Any
    ) -> list[tuple[Document, float]]:
        """Do the same with scores from 0 to 1; `score_threshold` holds for the hits."""
        method = "similarity_search_with_relevance_scores"
        return self._search(method, query, k, kwargs)

    async def asimilarity_search_with_relevance_scores(
        self, query: str, k: int | None = None, **kwargs: Any
    ) -> list[tuple[Document, float]]:
        """Async version of `similarity_search_with_relevance_scores`."""
        method = "asimilarity_search_with_relevance_scores"
        return await self._asearch(method, query, k, kwargs)

    def max_marginal_relevance_search(
        self,
        query: str,
        k: int | None = None,
        fetch_k: int | None = None,
        lambda_mult: float | None = None,
        **kwargs: Any,
    ) -> list[Document]:
        """Return documents that are similar to a text and differ, in document order.

        Args:
            query: The text.
            k: How many to select; None for what the store was given.
            fetch_k: How many of the most similar to select from.
            lambda_mult: From 0, to differ most, to 1.
            **kwargs: Passed on to the store inside, such as a `filter`.
        """
        given = _given(kwargs, fetch_k, lambda_mult)
        return self._search("max_marginal_relevance_search", query, k, given)

    async def amax_marginal_relevance_search(
        self,
        query: str,
        k: int | None = None,
        fetch_k: int | None = None,
        lambda_mult: float | None = None,
        **kwargs: Any,
    ) -> list[Document]:
        """Async version of `max_marginal_relevance_search`."""
        given = _given(kwargs, fetch_k, lambda_mult)
        return await self._asearch("amax_marginal_relevance_search", query, k, given)

    def max_marginal_relevance_search_by_vector(
        self,
        embedding: list[float],
        k: int | None = None,
        fetch_k: int | None = None,
        lambda_mult: float | None = None,
        **kwargs: Any,
    ) -> list[Document]:
        """Do the same as `max_marginal_relevance_search`, for a vector."""
        given = _given(kwargs, fetch_k, lambda_mult)
        method = "max_marginal_relevance_search_by_vector"
        return self._search(method, embedding, k, given)

    async def amax_marginal_relevance_search_by_vector(
        self,
        embedding: list[float],
        k: int | None = None,
        fetch_k: int | None = None,
        lambda_mult: float | None = None,
        **kwargs: Any,
    ) -> list[Document]:
        """Async version of `max_marginal_relevance_search_by_vector`."""
        given = _given(kwargs, fetch_k, lambda_mult)
        method = "amax_marginal_relevance_search_by_vector"
        return await self._asearch(method, embedding, k, given)

    @property
    def embeddings(self) -> Embeddings | None:
        """The embeddings of the store inside."""
        return self.vectorstore.embeddings

    def add_texts(
        self,
        texts: Iterable[str],
        metadatas: list[dict[str, Any]] | None = None,
        **kwargs: Any,
    ) -> list[str]:
        """Add texts to the store inside."""
        return self.vectorstore.add_texts(texts, metadatas, **kwargs)

    async def aadd_texts(
        self,
        texts: Iterable[str],
        metadatas: list[dict[str, Any]] | None = None,
        **kwargs: Any,
    ) -> list[str]:
        """Async version of `add_texts`."""
        return await self.vectorstore.aadd_texts(texts, metadatas, **kwargs)

    def add_documents(self, documents: list[Document], **kwargs: Any) -> list[str]:
        """Add documents to the store inside."""
        return self.vectorstore.add_documents(documents, **kwargs)

    async def aadd_documents(
        self, documents: list[Document], **kwargs: Any
    ) -> list[str]:
        """Async version of `add_documents`."""
        return await self.vectorstore.aadd_documents(documents, **kwargs)

    def delete(self, ids: list[str] | None = None, **kwargs: Any) -> bool | None:
        """Delete from the store inside."""
        return self.vectorstore.delete(ids, **kwargs)

    async def adelete(self, ids: list[str] | None = None, **kwargs: Any) -> bool | None:
        """Async version of `delete`."""
        return await self.vectorstore.adelete(ids, **kwargs)

    def get_by_ids(self, ids: Sequence[str], /) -> list[Document]:
        """Return documents of the store inside by their ids, as they are stored."""
        return self.vectorstore.get_by_ids(ids)

    async def aget_by_ids(self, ids: Sequence[str], /) -> list[Document]:
        """Async version of `get_by_ids`."""
        return await self.vectorstore.aget_by_ids(ids)

    @classmethod
    def from_texts(cls, *_: Any, **__: Any) -> NoReturn:
        """Refuse: which store is meant is not known. `from_documents` does the same.

        Raises:
            InvalidOptionError: Always. It says what to write.
        """
        name = cls.__name__
        message = (
            f"{name} makes no store of its own. Write {name}(Store.from_texts(…)) or "
            f"{name}(Store.from_documents(…)), with the class of your store."
        )
        raise InvalidOptionError(message, option="vectorstore", value=None)

    def _search(
        self, method: str, asked: Any, k: int | None, given: dict[str, Any]
    ) -> list[Any]:
        """What a method of the store inside finds, in document order."""
        search = self._asking(method, asked, given)
        ordered = self._ordered._with(base_retriever=search)  # noqa: SLF001 -- a copy of our own
        found = ordered.invoke(asked if isinstance(asked, str) else "", k=k)
        return search.paired(found) if isinstance(search, StoreSearch) else found

    async def _asearch(
        self, method: str, asked: Any, k: int | None, given: dict[str, Any]
    ) -> list[Any]:
        """Async version of `_search`."""
        search = self._asking(method, asked, given)
        ordered = self._ordered._with(base_retriever=search)  # noqa: SLF001 -- as above
        found = await ordered.ainvoke(asked if isinstance(asked, str) else "", k=k)
        return search.paired(found) if isinstance(search, StoreSearch) else found

    def _asking(
        self, method: str, asked: Any, given: dict[str, Any]
    ) -> VectorStoreRetriever:
        name = type(self).__name__
        if hasattr(VectorStore, method) and not method.endswith("_by_vector"):
            check_text(name, asked, f"store.{method}")
        parameters = inspect.signature(getattr(self.vectorstore, method)).parameters
        others = {each: given[each] for each in given if each not in parameters}
        refuse_options(method, others, name, "store")
        kind = _BY_TEXT.get(method.removeprefix("a"))
        if kind is not None:
            return VectorStoreRetriever(
                vectorstore=self.vectorstore, search_type=kind, search_kwargs=given
            )
        return StoreSearch(
            vectorstore=self.vectorstore,
            search_type="mmr" if "max_marginal" in method else "similarity",
            search_kwargs=given,
            method=method,
            asked=asked,
            takes_k="k" in parameters or hasattr(VectorStore, method),
        )

    def __getattr__(self, name: str) -> Any:
        """What the store inside has under this name; a search of it, in order."""
        message = f"{type(self).__name__!r} object has no attribute {name!r}"
        if name.startswith("_") or name == "vectorstore":  # while being copied
            raise AttributeError(message, name=name, obj=self)
        value = getattr(self.vectorstore, name)
        if not _is_search(name, value):
            return value
        awaited = inspect.iscoroutinefunction(value)
        search: Any = self._asearch if awaited else self._search
        return partial(_called, search, name, inspect.signature(value))


_SEARCH = re.compile("search|max_marginal")


def _is_search(name: str, value: object) -> bool:
    """Say whether a method of a store returns what it finds, best first."""
    return inspect.isroutine(value) and _SEARCH.search(name) is not None


def _called(
    search: Any, method: str, signature: inspect.Signature, *args: Any, **kwargs: Any
) -> Any:
    """Search by a method that only some stores have."""
    given = signature.bind(*args, **kwargs).arguments
    for name, parameter in signature.parameters.items():
        if parameter.kind is parameter.VAR_KEYWORD:
            given.update(given.pop(name, {}))
    asked = given.pop(next(iter(signature.parameters)))
    return search(method, asked, given.pop("k", None), given)


def _given(
    kwargs: dict[str, Any], fetch_k: int | None, lambda_mult: float | None
) -> dict[str, Any]:
    """The arguments of a search for what differs; those that were not given are not."""
    named = {"fetch_k": fetch_k, "lambda_mult": lambda_mult}
    return {**{n: v for n, v in named.items() if v is not None}, **kwargs}
