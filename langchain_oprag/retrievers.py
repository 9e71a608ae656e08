"""`OrderPreservingRetriever`: any retriever or vector store, in document order."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, Unpack

from langchain_core.callbacks import (
    AsyncCallbackManagerForRetrieverRun,
    CallbackManagerForRetrieverRun,
)
from langchain_core.documents import Document
from langchain_core.retrievers import RetrieverLike
from langchain_core.runnables import RunnableConfig
from langchain_core.runnables.config import patch_config
from langchain_core.vectorstores import VectorStore
from pydantic import PrivateAttr

from langchain_oprag._convert import Ordered, hits_of, stored_id
from langchain_oprag._options import SharedOptions, option_field
from langchain_oprag._widening import (
    document_of,
    searched_chunks,
    searched_store,
    with_neighbours,
)
from langchain_oprag._wrapping import (
    Fetch,
    WrappingKeywords,
    WrappingRetriever,
    refuse_options,
    wrapped_retriever,
)
from langchain_oprag.documents import SourceLike
from langchain_oprag.stores import chunk_store
from oprag.context import (
    ContextKeywords,
    Widen,
    Widening,
    candidates_for,
    check_option,
    check_widening,
)
from oprag.diagnosing import Verifiable
from oprag.documents import Bm25, SearchedChunks, SearchFilter, no_words
from oprag.errors import refuse_unknown
from oprag.tokens import in_thread

if TYPE_CHECKING:
    from oprag.diagnosing import Verification


class SearchKeywords(ContextKeywords, total=False):
    """Options of reading what a search finds, for type checkers."""

    k: int | None
    widen: Widen | None
    documents: SourceLike | None


class StoreKeywords(SearchKeywords, WrappingKeywords, total=False):
    """What `OrderPreservingVectorStore` takes, for type checkers."""


class RetrieverKeywords(StoreKeywords, total=False):
    """What `OrderPreservingRetriever` takes, for type checkers."""

    bm25: bool


class OrderPreservingRetriever(Verifiable, WrappingRetriever, SharedOptions):
    """Wraps a retriever or a vector store and returns documents in reading order.

    The best documents are selected first, `k` of them or as many as fit
    `token_budget`; then they are put in order. What the wrapped retriever returns
    is taken to be best first.

    Args:
        base_retriever: Any `Runnable` from a query to a list of documents, best first.
        vectorstore: Instead of `base_retriever`: short for
            `vectorstore.as_retriever(search_type=…, search_kwargs=…)`.
        search_type: `"similarity"`, `"similarity_score_threshold"` or `"mmr"`; with
            `vectorstore` only. None for the store's default.
        search_kwargs: Arguments for every search, such as a filter; with
            `vectorstore` only.
        k: Documents to return, of the best; None for as many as come.
        **options: All of `ContextOptions` but `top_n`; `widen`, `bm25`.
        name: What runs are called in traces; None for the class's name.
        tags: Tags of all runs in traces; None for none.
        metadata: Metadata of all runs in traces; None for none.

    `k` reaches a vector store underneath when it is larger than the one in
    `search_kwargs`, or there is none; `fetch_k` of `"mmr"` is raised to it. Other
    retrievers are asked as they are and their result is cut. There may be fewer than
    `k`: chunks that came twice are one, and `merge` joins neighbours.

    With `token_budget`, a vector store underneath and no `k` anywhere, as many
    chunks are fetched as fill the budget; with `selection="recall"` 1,200 at least. A
    score threshold still holds.

    `k` does not count what `widen` reads, in two queries at most. Without any
    `k` chunks are found that fill the budget with their neighbours; 20 for `"fill"`.

    With `bm25` the chunks of the store are read once, at the first question, and again
    when they changed: make the retriever once. A score threshold and `"mmr"` hold for
    the vector search alone.

    Attributes of the wrapped retriever and its `add_documents` can be used on this
    object: `vectorstore`, `search_kwargs`, `docstore`. Not so its searches, which would
    return documents best first: `OrderPreservingVectorStore` has them in document
    order.

    Raises:
        InvalidOptionError: On construction and assignment, for an option that does
            not exist or cannot have this value, and when there is not exactly one of
            `base_retriever` and `vectorstore`; also when invoked, when `documents` is a
            store that cannot be read through the search's filter. It is a
            `ValueError`.
        MissingDocumentError: When invoked, and a document does not say which text
            it is from.
        PositionError: When invoked, and positions are missing or contradict each
            other.
        BudgetTooSmallError: When invoked, and not even the best document fits.

    Warns:
        UnfilledBudgetWarning: Once, when all that came fits the token budget,
            more cannot be asked for, and no `k` limits it.

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

    k: int | None = None
    widen: Widen | None = option_field("widen")
    bm25: bool = option_field("bm25", default=False)

    _by_words: tuple[VectorStore, Bm25] | None = PrivateAttr(default=None)

    def __init__(
        self,
        *,
        base_retriever: RetrieverLike | None = None,
        vectorstore: VectorStore | None = None,
        search_type: str | None = None,
        search_kwargs: Mapping[str, Any] | None = None,
        **options: Unpack[RetrieverKeywords],
    ) -> None:
        refuse_unknown(options, ("vectorstore", *type(self).model_fields))
        base = wrapped_retriever(
            base_retriever,
            vectorstore,
            search_type=search_type,
            search_kwargs=search_kwargs,
        )
        given: dict[str, Any] = {"base_retriever": base, **options}
        super().__init__(**given)
        fetch = self._fetch({}, {}, None)
        self._options_for(self.k, self._search(fetch))
        self._chunks(fetch)
        self._words(fetch)

    def _verification(self) -> Verification:
        # Here, so that importing the package does not take longer.
        from langchain_oprag._verifying import searched_stores
        from oprag.diagnosing import Verification

        options = self._options_for(self.k, self._search(self._fetch({}, {}, None)))
        name = type(self).__name__
        stores = searched_stores(name, self.base_retriever)
        return Verification(name, stores, options)

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
        fetch = self._fetch(config, call, k)
        return self._fetched(query, fetch, partial(self._receive, fetch, query))

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
        fetch = self._fetch(config, call, k)
        return await self._afetched(query, fetch, partial(self._areceive, fetch, query))

    def _fetch(
        self, config: RunnableConfig, call: dict[str, Any], k: int | None
    ) -> Fetch:
        refuse_options(type(self).__name__, call)
        check_option("k", k)
        return Fetch(
            self.base_retriever,
            config,
            call,
            k=self.k if k is None else k,
            token_budget=self.token_budget,
            candidates=candidates_for(self.selection),
            widen=self.widen,
        )

    def _search(self, fetch: Fetch) -> SearchFilter | None:
        return None if self.documents is None else fetch.filtered_by()

    def _receive(
        self, fetch: Fetch, query: str, found: list[Document]
    ) -> tuple[list[Document], bool]:
        """The documents in order, and whether to ask again instead."""
        search, found = self._search(fetch), self._fused(fetch, query, found)
        if self.widen is None:
            ordered = self._put_in_order(found, fetch.k, search)
            return self._received(fetch, found, ordered)
        widening, more = self._widening(fetch, found)
        if more:
            return [], True
        chunks = self._chunks(fetch)
        near = widening.neighbours(chunks.read(widening.requests()) if chunks else [])
        ordered = self._put_in_order(
            with_neighbours(found, widening, near),
            fetch.k,
            search,
            widening.behind(len(near), stored=chunks is not None),
        )
        return self._finished(fetch, found, ordered)

    async def _areceive(
        self, fetch: Fetch, query: str, found: list[Document]
    ) -> tuple[list[Document], bool]:
        """Async version of `_receive`."""
        if self.bm25:
            found = await in_thread(partial(self._fused, fetch, query, found))
        search = self._search(fetch)
        if self.widen is None:
            ordered = await self._aput_in_order(found, fetch.k, search)
            work = partial(self._received, fetch, found, ordered)
            return await in_thread(work)
        widening, more = await in_thread(partial(self._widening, fetch, found))
        if more:
            return [], True
        chunks = self._chunks(fetch)
        stored = await chunks.aread(widening.requests()) if chunks else []
        near = widening.neighbours(stored)
        ordered = await self._aput_in_order(
            with_neighbours(found, widening, near),
            fetch.k,
            search,
            widening.behind(len(near), stored=chunks is not None),
        )
        return self._finished(fetch, found, ordered)

    def _fused(self, fetch: Fetch, query: str, found: list[Document]) -> list[Document]:
        """Return what was found, and what BM25 finds, best first."""
        words = self._words(fetch)
        if words is None:
            return found
        index, chunks = words
        known = [(stored_id(each), each.page_content) for each in found]
        depth = max(fetch.asked, len(found))
        return [
            found[each] if isinstance(each, int) else document_of(each)
            for each in index.fused(query, known, depth, chunks)
        ]

    def _words(self, fetch: Fetch) -> tuple[Bm25, SearchedChunks] | None:
        """The index of words, made once for a store, and what a search may see."""
        if not self.bm25:
            return None
        searched = self.base_retriever, fetch.config
        store = searched_store(*searched)
        chunks = searched_chunks(*searched, fetch.call, "bm25")
        if store is None or chunks is None:
            raise no_words(self.base_retriever)
        kept = self._by_words
        if kept is None or kept[0] is not store:
            kept = self._by_words = store, Bm25(chunk_store(store))
        return kept[1], chunks

    def _chunks(self, fetch: Fetch) -> SearchedChunks | None:
        """Return the stored chunks that neighbours are read from."""
        if self.widen is None:
            return None
        chunks = searched_chunks(self.base_retriever, fetch.config, fetch.call)
        options = self._options_for(fetch.k)
        check_widening(self.widen, options, stored=chunks is not None)
        return chunks

    def _widening(self, fetch: Fetch, found: list[Document]) -> tuple[Widening, bool]:
        """The neighbours to ask for, and whether to ask for more hits first."""
        options = self._options_for(fetch.k)
        widen: Any = self.widen
        widening = Widening(
            hits_of(found),
            widen,
            options,
            fills=fetch.fills,
            ids=[document.id for document in found],
        )
        return widening, fetch.wants_more(found, used_all=widening.fits)

    def _received(
        self, fetch: Fetch, found: list[Document], ordered: Ordered
    ) -> tuple[list[Document], bool]:
        if fetch.wants_more(found, used_all=ordered.used_all):
            return ordered.documents, True
        return self._finished(fetch, found, ordered)

    def _finished(
        self, fetch: Fetch, found: list[Document], ordered: Ordered
    ) -> tuple[list[Document], bool]:
        """Return the documents; warn where the budget cannot be filled."""
        if found and ordered.used_all and fetch.may_have_more(len(found)):
            self._warn_unfilled(len(found))
        return ordered.documents, False
