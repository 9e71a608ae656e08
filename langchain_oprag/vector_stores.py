"""`OrderPreservingVectorStore`: in the place of a vector store, in document order."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from functools import partial, wraps
from typing import Any, NoReturn, TypeVar, Unpack, cast

from langchain_core.embeddings import Embeddings
from langchain_core.vectorstores import VectorStore, VectorStoreRetriever

from langchain_oprag._store_search import StoreSearch
from langchain_oprag._wrapping import check_question, refuse_options
from langchain_oprag.retrievers import OrderPreservingRetriever, StoreKeywords
from oprag.errors import InvalidOptionError, named, refuse_unknown

_OPTIONS = tuple(
    name
    for name in OrderPreservingRetriever.model_fields
    if name not in {"base_retriever", "bm25"}
)


_Method = TypeVar("_Method", bound=Callable[..., Any])
_SEARCH = re.compile("search|max_marginal")
"""In the names of methods that return what they find, best first."""


def _in_order(method: _Method) -> _Method:
    """Return a search of the store inside, its results in document order."""
    name = method.__name__

    @wraps(method, updated=())
    def search(self: OrderPreservingVectorStore, *args: Any, **kwargs: Any) -> Any:
        return self._search(name, *args, **kwargs)

    @wraps(method, updated=())
    async def asearch(
        self: OrderPreservingVectorStore, *args: Any, **kwargs: Any
    ) -> Any:
        return await self._asearch(name, *args, **kwargs)

    return cast("_Method", asearch if inspect.iscoroutinefunction(method) else search)


def _of_store(method: _Method) -> _Method:
    """Return a method of the store inside, as it is."""

    @wraps(method, updated=())
    def call(self: OrderPreservingVectorStore, *args: Any, **kwargs: Any) -> Any:
        return getattr(self.vectorstore, method.__name__)(*args, **kwargs)

    return cast("_Method", call)


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
        >>> from langchain_core.documents import Document
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

    similarity_search = _in_order(VectorStore.similarity_search)
    asimilarity_search = _in_order(VectorStore.asimilarity_search)
    similarity_search_by_vector = _in_order(VectorStore.similarity_search_by_vector)
    asimilarity_search_by_vector = _in_order(VectorStore.asimilarity_search_by_vector)
    similarity_search_with_score = _in_order(VectorStore.similarity_search_with_score)
    asimilarity_search_with_score = _in_order(VectorStore.asimilarity_search_with_score)
    similarity_search_with_relevance_scores = _in_order(
        VectorStore.similarity_search_with_relevance_scores
    )
    asimilarity_search_with_relevance_scores = _in_order(
        VectorStore.asimilarity_search_with_relevance_scores
    )
    max_marginal_relevance_search = _in_order(VectorStore.max_marginal_relevance_search)
    amax_marginal_relevance_search = _in_order(
        VectorStore.amax_marginal_relevance_search
    )
    max_marginal_relevance_search_by_vector = _in_order(
        VectorStore.max_marginal_relevance_search_by_vector
    )
    amax_marginal_relevance_search_by_vector = _in_order(
        VectorStore.amax_marginal_relevance_search_by_vector
    )

    add_texts = _of_store(VectorStore.add_texts)
    aadd_texts = _of_store(VectorStore.aadd_texts)
    add_documents = _of_store(VectorStore.add_documents)
    aadd_documents = _of_store(VectorStore.aadd_documents)
    delete = _of_store(VectorStore.delete)
    adelete = _of_store(VectorStore.adelete)
    get_by_ids = _of_store(VectorStore.get_by_ids)
    aget_by_ids = _of_store(VectorStore.aget_by_ids)

    @property
    def embeddings(self) -> Embeddings | None:
        """The embeddings of the store inside."""
        return self.vectorstore.embeddings

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

    def _search(self, method: str, /, *args: Any, **kwargs: Any) -> list[Any]:
        """Return what a method of the store inside finds, in document order."""
        search, k = self._asking(method, args, kwargs)
        ordered = self._ordered._with(base_retriever=search)  # noqa: SLF001 -- a copy of our own
        return search.paired(ordered.invoke(search.question, k=k))

    async def _asearch(self, method: str, /, *args: Any, **kwargs: Any) -> list[Any]:
        """Async version of `_search`."""
        search, k = self._asking(method, args, kwargs)
        ordered = self._ordered._with(base_retriever=search)  # noqa: SLF001 -- as above
        return search.paired(await ordered.ainvoke(search.question, k=k))

    def _asking(
        self, method: str, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[StoreSearch, int | None]:
        """Return one search, and how many documents are asked for."""
        parameters = inspect.signature(getattr(self.vectorstore, method)).parameters
        refuse_options(type(self).__name__, kwargs.keys() - parameters.keys())
        given = {**dict(zip(parameters, args, strict=False)), **kwargs}
        asked = given.pop(next(iter(parameters)))
        of_all = hasattr(VectorStore, method)
        if of_all and not method.endswith("_by_vector"):
            check_question(type(self).__name__, asked)
        k = given.pop("k", None)
        search = StoreSearch(
            vectorstore=self.vectorstore,
            search_type="mmr" if "max_marginal" in method else "similarity",
            search_kwargs=given,
            method=method,
            asked=asked,
            takes_k=of_all or "k" in parameters,
        )
        return search, k

    def __getattr__(self, name: str) -> Any:
        """Return what the store inside has; a search of it, in document order."""
        if name.startswith("_") or name == "vectorstore":  # while being copied
            message = f"{type(self).__name__!r} object has no attribute {name!r}"
            raise AttributeError(message, name=name, obj=self)
        value = getattr(self.vectorstore, name)
        if not inspect.isroutine(value) or not _SEARCH.search(name):
            return value
        awaited = inspect.iscoroutinefunction(value)
        return partial(self._asearch if awaited else self._search, name)
