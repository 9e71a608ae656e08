"""What a LlamaIndex retriever reads of its index besides: neighbours, and by words."""

from __future__ import annotations

from asyncio import to_thread
from collections.abc import Generator, Iterator, Mapping, Sequence
from typing import Any

from llama_index.core.indices.vector_store.retrievers import VectorIndexRetriever
from llama_index.core.schema import BaseNode, NodeWithScore

from llamaindex_oprag._chunk_stores.docstore import (
    DocstoreChunks,
    is_admitted,
    only_searched,
)
from llamaindex_oprag._convert import neighbour_of
from llamaindex_oprag._wrapping import search_filter, searched_with
from llamaindex_oprag.stores import chunk_store
from oprag.context import ALONE, Neighbours, Widening, lent_worth
from oprag.documents import (
    NO_FILTER,
    Bm25,
    ChunkStore,
    SearchedChunks,
    StoredChunk,
    no_words,
    refused_filter,
)
from oprag.errors import InvalidOptionError


class Neighbourhood:
    """The index that a retriever searches, as anyone who searched may read it.

    Nodes with oprag's keys have their neighbours by document and index, in two queries
    at most. Others have them by their PREVIOUS and NEXT ids: a query for each
    step away from the hits.

    Args:
        retriever: Not written to.

    Raises:
        InvalidOptionError: The search's filter cannot be carried over.
    """

    def __init__(self, retriever: Any) -> None:
        self._index = searched_index(retriever)
        self.known = self._index is not None
        """Whether there is one index."""
        self._search = search_filter(retriever) if self.known else NO_FILTER
        store = _store_of(self._index)
        self._chunks = None
        if store is not None:
            self._chunks = SearchedChunks(store, self._search, "widen")

    def widened(
        self, hits: Sequence[NodeWithScore], widening: Widening
    ) -> tuple[list[NodeWithScore], Neighbours]:
        """Return the hits that count with their neighbours behind, for `arrange`."""
        steps = self._steps(hits, widening)
        read: Any = None
        while True:
            try:
                asked = steps.send(read)
            except StopIteration as end:
                return self._behind(hits, widening, *end.value)
            if self._chunks and isinstance(asked, dict):
                read = self._chunks.read(asked)
            else:
                read = nodes_by_id(self._index, asked)

    async def awidened(
        self, hits: Sequence[NodeWithScore], widening: Widening
    ) -> tuple[list[NodeWithScore], Neighbours]:
        """Async version of `widened`."""
        steps = self._steps(hits, widening)
        read: Any = None
        while True:
            try:
                asked = steps.send(read)
            except StopIteration as end:
                return self._behind(hits, widening, *end.value)
            if self._chunks and isinstance(asked, dict):
                read = await self._chunks.aread(asked)
            else:
                read = await to_thread(nodes_by_id, self._index, asked)

    def _steps(
        self, hits: Sequence[NodeWithScore], widening: Widening
    ) -> Generator[Any, Any, tuple[list[StoredChunk], list[BaseNode]]]:
        """Yield which chunks, or the ids of which nodes, to read; it is sent them."""
        requests = widening.requests() if self._chunks else {}
        stored = (yield requests) if requests else []
        return stored, (yield from self._linked(hits, widening))

    def _behind(
        self,
        hits: Sequence[NodeWithScore],
        widening: Widening,
        stored: Sequence[StoredChunk],
        linked: Sequence[BaseNode],
    ) -> tuple[list[NodeWithScore], Neighbours]:
        near = widening.neighbours(stored)
        beside = [neighbour_of(hits[each.hit], each.chunk) for each in near]
        beside += [NodeWithScore(node=node) for node in linked]
        with_links = frozenset(_with_links(self._unplaced(hits, widening)))
        known = self._chunks is not None
        found = widening.behind(len(beside), stored=known, linked=with_links)
        # LlamaIndex links all nodes of a document but an only one to each other.
        if found.lacking and all(hit.node.source_node for hit in hits[: widening.hits]):
            found = ALONE
        return [*hits[: widening.hits], *beside], found

    def _unplaced(
        self, hits: Sequence[NodeWithScore], widening: Widening
    ) -> dict[int, BaseNode]:
        """Return the nodes whose neighbours the chunks do not tell, by their places."""
        places = widening.unplaced if self._chunks else range(widening.hits)
        return {n: hits[n].node for n in sorted(places) if self.known}

    def _linked(
        self, hits: Sequence[NodeWithScore], widening: Widening
    ) -> Generator[list[str], list[BaseNode], list[BaseNode]]:
        """Follow PREVIOUS and NEXT ids, one step at a time from all hits at once.

        Yields:
            The ids to read next; it is sent their nodes.

        Returns:
            What the search's filter admits of them, those worth most first.
        """
        unplaced = self._unplaced(hits, widening)
        nodes = _with_links(unplaced)
        if nodes:
            self._check_filter()
        found: dict[str, tuple[float, int, int, BaseNode]] = {}
        ahead: dict[str, tuple[int, str]] = {}

        def go_on(node: BaseNode, number: int, side: str) -> None:
            beside = getattr(node, side)
            if beside is not None and beside.node_id not in found:
                ahead.setdefault(beside.node_id, (number, side))

        for number, node in nodes.items():
            go_on(node, number, "next_node")
            go_on(node, number, "prev_node")
        steps = 0
        while ahead and len(found) < widening.room and steps < widening.reach:
            steps += 1
            asked = dict(ahead)
            ahead.clear()
            read = {node.node_id: node for node in (yield [*asked])}
            for node_id, (number, side) in asked.items():
                if came := read.get(node_id):
                    worth = lent_worth(number, steps - 0.5)
                    found.setdefault(node_id, (-worth, number, steps, came))
                    go_on(came, number, side)
        own = {node.node_id for node in unplaced.values()}
        ordered = sorted((*found[each][:3], each) for each in found.keys() - own)
        return [found[e][3] for *_, e in ordered if self._admits(found[e][3])]

    def _check_filter(self) -> None:
        """Links are followed past the filter, which is then applied here."""
        where = self._search.where
        takes = where is None or DocstoreChunks.takes(where)
        if self._search.unseen is not None or not takes:
            raise refused_filter(self._search, type(self._index).__name__, "widen")

    def _admits(self, node: BaseNode) -> bool:
        where, ids = self._search.where, self._search.ids
        if ids is not None and node.node_id not in ids:
            return False
        return where is None or is_admitted(node, [where])


def _with_links(nodes: Mapping[int, BaseNode]) -> dict[int, BaseNode]:
    return {n: node for n, node in nodes.items() if node.prev_node or node.next_node}


class Words:
    """BM25 over the nodes of the one index that a retriever searches.

    Args:
        retriever: Not written to.

    Raises:
        InvalidOptionError: There is not one index, its nodes cannot be read, or the
            search's filter cannot be carried over.
        MissingDependencyError: The package bm25s is not there.
    """

    def __init__(self, retriever: Any) -> None:
        self._index = searched_index(retriever)
        store = _store_of(self._index)
        if store is None:
            raise no_words(retriever)
        self._store, self._bm25 = store, Bm25(store)
        self._as_seen_by(retriever)

    def of(self, retriever: Any) -> Words:
        """Return the same, or another where another index is searched."""
        same = searched_index(retriever) is self._index
        return self if same else Words(retriever)

    def fused(
        self, retriever: Any, question: str, found: Sequence[NodeWithScore], asked: int
    ) -> list[NodeWithScore]:
        """Return what was found and what the words find, best first.

        Args:
            retriever: What searched, with the filter that it has now.
            question: Its words are looked for.
            found: Best first.
            asked: How many nodes were asked for; 0 where that is not known.
        """
        known = [(each.node.node_id, each.node.get_content()) for each in found]
        fused = self._bm25.fused(
            question, known, max(asked, len(found)), self._as_seen_by(retriever)
        )
        new = [chunk.id for chunk in fused if not isinstance(chunk, int)]
        nodes = {
            node.node_id: node
            for node in (nodes_by_id(self._index, new) if new else ())
        }
        return [
            found[each] if isinstance(each, int) else NodeWithScore(node=nodes[each.id])
            for each in fused
            if isinstance(each, int) or each.id in nodes  # and not deleted just now
        ]

    def _as_seen_by(self, retriever: Any) -> SearchedChunks:
        return SearchedChunks(self._store, search_filter(retriever), "bm25")


def searched_index(retriever: Any) -> Any:
    """Return the one index that a retriever searches; None where there is not one."""
    indexes = {id(index): index for index in _indexes(retriever)}
    return next(iter(indexes.values())) if len(indexes) == 1 else None


def nodes_by_id(index: Any, ids: Sequence[str]) -> list[BaseNode]:
    """Return nodes of an index, as a search gives them; those that are there."""
    store = index.vector_store
    if store.stores_text:
        nodes: list[BaseNode] = store.get_nodes(node_ids=[*ids])
        return nodes
    found = index.docstore.get_nodes([*ids], raise_error=False)
    return [*only_searched(found, store)]


def _indexes(retriever: Any) -> Iterator[Any]:
    for inner in searched_with(retriever):
        yield from _indexes(inner)
    if isinstance(retriever, VectorIndexRetriever):
        yield retriever._index  # noqa: SLF001 -- nothing public tells


def _store_of(index: Any) -> ChunkStore | None:
    """Return the chunks of an index; None where it is not known how they are read."""
    try:
        return None if index is None else chunk_store(index)
    except InvalidOptionError:
        return None
