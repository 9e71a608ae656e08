"""`OrderPreservingVectorStore`: in the place of a vector store, in document order."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from functools import partial, wraps
from typing import Any, ClassVar, NoReturn, TypeVar, Unpack, cast

from langchain_core.callbacks import (
    AsyncCallbackManagerForRetrieverRun,
    CallbackManagerForRetrieverRun,
)
from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from langchain_core.vectorstores import VectorStore, VectorStoreRetriever
from pydantic import PrivateAttr

from langchain_oprag._options import (
    OF_SEARCH,
    PER_CALL,
    OrderedKeywords,
    refuse_options,
)
from langchain_oprag.retrievers import OrderPreservingRetriever
from oprag.diagnosing import Verifiable, Verification
from oprag.errors import InvalidOptionError, describe_type, refuse_unknown, wrong_object
from oprag.result_key import read_written

_OPTIONS = tuple(
    name
    for name in OrderPreservingRetriever.model_fields
    if name not in {"base_retriever", "bm25"}
)
_WITH_SEARCH = "Give it with each search: similarity_search(question, filter=…)."
_ADVICE = {
    **OF_SEARCH,
    "filter": _WITH_SEARCH,
    "search_kwargs": "Give it to as_retriever(search_kwargs={…}).",
    "search_type": 'Give it to as_retriever(search_type="mmr").',
    "bm25": "OrderPreservingRetriever(store, bm25=True) has it.",
}
_SEARCH = re.compile("search|max_marginal")
"""Words in the names of methods that search, and return the results best first."""
_OF_STORE = re.compile("a?(add|delete|get_by)")
_Method = TypeVar("_Method", bound=Callable[..., Any])


class _StoreSearch(VectorStoreRetriever):
    """One search of a store; it remembers the values that came beside each document."""

    one_search_of_store: ClassVar[bool] = True
    method: str
    """The name of the method: that of the async one if the search is awaited."""
    asked: Any
    """The query: a text, a vector, or any other first argument of the method."""
    takes_k: bool = True
    """Whether the method takes `k`."""

    _beside: list[tuple[Any, ...]] | None = PrivateAttr(default=None)

    def pair(self, documents: list[Document]) -> list[Any]:
        """Return documents, or pairs of each and its score, as the method does.

        Args:
            documents: The results in document order. The score of each is that of the
                best hit in it, by its rank.
        """
        beside = self._beside
        if beside is None:
            return documents
        places = [read_written(document.metadata) for document in documents]
        ranks = [(place and place.rank) or 0 for place in places]
        if any(rank >= len(beside) for rank in ranks):
            message = (
                f"widen= read neighbours, and {self.method} gave them no score. Set "
                "merge=True, which joins them to hits, or ask without scores."
            )
            raise InvalidOptionError(message, option="widen", value=len(documents))
        return [
            (document, *beside[rank])
            for document, rank in zip(documents, ranks, strict=True)
        ]

    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun, **kwargs: Any
    ) -> list[Document]:
        return self._require_documents(self._search_store(kwargs))

    async def _aget_relevant_documents(
        self,
        query: str,
        *,
        run_manager: AsyncCallbackManagerForRetrieverRun,
        **kwargs: Any,
    ) -> list[Document]:
        return self._require_documents(await self._search_store(kwargs))

    def _search_store(self, call: dict[str, Any]) -> Any:
        arguments = {**self.search_kwargs, **call}
        if not self.takes_k:
            arguments.pop("k", None)
        return getattr(self.vectorstore, self.method)(self.asked, **arguments)

    def _require_documents(self, found: Any) -> list[Document]:
        rows = found if isinstance(found, list) else [found]
        paired = bool(rows) and all(isinstance(each, tuple) and each for each in rows)
        documents = [each[0] for each in rows] if paired else rows
        if not all(isinstance(each, Document) for each in documents):
            message = (
                f"{self.method} of the vector store returned {describe_type(found)}, "
                "which cannot be put in order. Call it on the store itself, "
                ".vectorstore."
            )
            raise InvalidOptionError(message, option=self.method, value=found)
        self._beside = [each[1:] for each in rows] if paired else None
        return documents


def _order_method(method: _Method) -> _Method:
    """Make a search of the store inside, with its results in document order."""
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


def _forward_method(method: Callable[..., Any]) -> Callable[..., Any]:
    """Make a method that calls the same one of the store inside, unchanged."""

    @wraps(method, updated=())
    def call(self: OrderPreservingVectorStore, *args: Any, **kwargs: Any) -> Any:
        return getattr(self.vectorstore, method.__name__)(*args, **kwargs)

    return call


class OrderPreservingVectorStore(Verifiable, VectorStore):
    """Takes the place of a vector store, and answers every search in document order.

    It serves `store.similarity_search(question)` in a tool, in middleware, in a graph
    or behind `store.as_retriever()`, and nothing else in the application changes. Each
    search runs in the store inside. Its best results are selected and then put in
    order, as in `OrderPreservingRetriever`.

    Args:
        vectorstore: The store that is searched and written to.
        k: Documents to return if a search gives no `k`; None for the store's own
            default, or with `token_budget` for as many as fill it.
        **options: The other options of `OrderPreservingRetriever`.

    A search takes `k`, `token_budget` and `merge` for itself; filters and its other
    arguments reach the store inside. A search with scores gives pairs in document
    order: the score of each is that of its best hit. The methods that add, delete or
    read by id are the store's own, and so are all its other attributes.

    Raises:
        OpragError: As `OrderPreservingRetriever` does.

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
        self, vectorstore: VectorStore, **options: Unpack[OrderedKeywords]
    ) -> None:
        refuse_unknown(options, _OPTIONS, _ADVICE)
        if not isinstance(vectorstore, VectorStore) or isinstance(
            vectorstore, OrderPreservingVectorStore
        ):
            takes = "a VectorStore of LangChain"
            raise wrong_object("vectorstore", vectorstore, takes)
        self.vectorstore = vectorstore
        options.setdefault("name", type(self).__name__)
        self._ordered = OrderPreservingRetriever(vectorstore=vectorstore, **options)

    @property
    def embeddings(self) -> Embeddings | None:
        """The embeddings of the store inside."""
        return self.vectorstore.embeddings

    similarity_search = _order_method(
        VectorStore.similarity_search
    )  # the rest is below

    @classmethod
    def from_texts(cls, *_: Any, **__: Any) -> NoReturn:
        """Refuse: nobody knows which store is meant. `from_documents` does the same.

        Raises:
            InvalidOptionError: Always. It says what to write instead.
        """
        name = cls.__name__
        message = (
            f"{name} makes no store of its own. Write {name}(Store.from_texts(…)) or "
            f"{name}(Store.from_documents(…)), with the class of your store."
        )
        raise InvalidOptionError(message, option="vectorstore", value=None)

    def _search(self, method: str, /, *args: Any, **kwargs: Any) -> list[Any]:
        """Search with a method of the store inside, in document order."""
        search, ordered, asked = self._prepare_search(method, args, kwargs)
        return search.pair(ordered.invoke(**asked))

    async def _asearch(self, method: str, /, *args: Any, **kwargs: Any) -> list[Any]:
        """Async version of `_search`."""
        search, ordered, asked = self._prepare_search(method, args, kwargs)
        return search.pair(await ordered.ainvoke(**asked))

    def _verification(self) -> Verification:
        return self._ordered._verification()  # noqa: SLF001 -- a retriever of our own

    def _prepare_search(
        self, method: str, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[_StoreSearch, OrderPreservingRetriever, dict[str, Any]]:
        """Return one search, the retriever that orders it, and the latter's input."""
        parameters = inspect.signature(getattr(self.vectorstore, method)).parameters
        per_call = [n for n in PER_CALL if n in kwargs and n not in parameters]
        options = {name: kwargs.pop(name) for name in per_call}
        refuse_options(type(self).__name__, [n for n in kwargs if n not in parameters])
        given = {**dict(zip(parameters, args, strict=False)), **kwargs}
        asked, k = given.pop(next(iter(parameters))), given.pop("k", None)
        search = _StoreSearch(
            vectorstore=self.vectorstore,
            search_type="mmr" if "max_marginal" in method else "similarity",
            search_kwargs=given,
            method=method,
            asked=asked,
            takes_k=hasattr(VectorStore, method) or "k" in parameters,
        )
        ordered = self._ordered._copy_with(base_retriever=search)  # noqa: SLF001 -- a copy of our own
        question = asked if isinstance(asked, str) else ""
        return search, ordered, {"input": question, "k": k, **options}

    def __getattr__(self, name: str) -> Any:
        """Return an attribute of the store inside; a search gives document order."""
        if name.startswith("_") or name == "vectorstore":  # while being copied
            message = f"{type(self).__name__!r} object has no attribute {name!r}"
            raise AttributeError(message, name=name, obj=self)
        value = getattr(self.vectorstore, name)
        if not inspect.isroutine(value) or not _SEARCH.search(name):
            return value
        awaited = inspect.iscoroutinefunction(value)
        return partial(self._asearch if awaited else self._search, name)


for _name, _method in vars(VectorStore).items():
    if _name.startswith("_") or _name in ("search", "asearch"):
        continue  # they call the others
    if _SEARCH.search(_name):
        setattr(OrderPreservingVectorStore, _name, _order_method(_method))
    elif _OF_STORE.match(_name):
        setattr(OrderPreservingVectorStore, _name, _forward_method(_method))
