"""What a LlamaIndex retriever's hits are widened from: its index, by number or link."""

from __future__ import annotations

from asyncio import to_thread
from collections.abc import Collection, Iterator, Mapping, Sequence
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
from oprag.context import Neighbours, Widening
from oprag.documents import SearchedChunks, SearchFilter, refused_filter
from oprag.errors import InvalidOptionError


class Neighbourhood:
    """The index that a retriever searches, as whoever searched may read it.

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
        self._search = SearchFilter()
        if self._index is not None:
            self._search = search_filter(retriever)
        self._chunks: SearchedChunks | None = None
        if self._index is not None:
            try:
                store = chunk_store(self._index)
            except InvalidOptionError:
                return
            self._chunks = SearchedChunks(store, self._search, "widen")

    @property
    def known(self) -> bool:
        """Whether there is one index."""
        return self._index is not None

    def widened(
        self, hits: Sequence[NodeWithScore], widening: Widening
    ) -> tuple[list[NodeWithScore], Neighbours]:
        """Return the hits that count with their neighbours behind, for `arrange`."""
        requests = widening.requests()
        stored = self._chunks.read(requests) if self._chunks and requests else []
        linked = self._linked(hits, widening)
        while ids := linked.ids():
            linked.take(nodes_by_id(self._index, ids))
        return self._behind(hits, widening, stored, linked)

    async def awidened(
        self, hits: Sequence[NodeWithScore], widening: Widening
    ) -> tuple[list[NodeWithScore], Neighbours]:
        """Async version of `widened`."""
        requests = widening.requests()
        stored = await self._chunks.aread(requests) if self._chunks and requests else []
        linked = self._linked(hits, widening)
        while ids := linked.ids():
            linked.take(await to_thread(nodes_by_id, self._index, ids))
        return self._behind(hits, widening, stored, linked)

    def _behind(
        self,
        hits: Sequence[NodeWithScore],
        widening: Widening,
        stored: Sequence[Any],
        linked: _Linked,
    ) -> tuple[list[NodeWithScore], Neighbours]:
        near = widening.neighbours(stored)
        beside = [neighbour_of(hits[each.hit], each.chunk) for each in near]
        brought = [each.hit for each in near]
        for number, node in linked.found():
            if self._admits(node):
                beside.append(NodeWithScore(node=node))
                brought.append(number)
        told = widening.behind(
            brought,
            stored=self._chunks is not None,
            linked=linked.hits,
            alone=linked.alone,
        )
        return [*hits[: widening.hits], *beside], told

    def _linked(self, hits: Sequence[NodeWithScore], widening: Widening) -> _Linked:
        unplaced = widening.unplaced if self._chunks else range(widening.hits)
        nodes = {number: hits[number].node for number in unplaced}
        linked = _Linked(nodes if self.known else {}, widening)
        if linked.hits:
            self._check_filter()
        return linked

    def _check_filter(self) -> None:
        """Links are followed past the filter, which is then applied here."""
        search, name = self._search, type(self._index).__name__
        takes = search.where is None or DocstoreChunks.takes(search.where)
        if search.unseen is not None or not takes:
            raise refused_filter(search, name, "widen")

    def _admits(self, node: BaseNode) -> bool:
        where, ids = self._search.where, self._search.ids
        if ids is not None and node.node_id not in ids:
            return False
        return where is None or is_admitted(node, [where])


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


class _Linked:
    """Follows PREVIOUS and NEXT ids, one step at a time from all hits at once."""

    def __init__(self, nodes: Mapping[int, BaseNode], widening: Widening) -> None:
        self._widening = widening
        self._own = {node.node_id for node in nodes.values()}
        self._found: dict[str, tuple[int, int, BaseNode]] = {}
        self._steps = 0
        self._next: dict[str, tuple[int, str]] = {}
        self.hits: frozenset[int] = frozenset(
            number for number, node in nodes.items() if node.prev_node or node.next_node
        )
        """Those that have links."""
        self.alone = frozenset(
            number for number, node in nodes.items() if node.source_node is not None
        ).difference(self.hits)
        """Those that have none but a source: LlamaIndex links all others to it."""
        for number in sorted(self.hits):
            for side in ("next_node", "prev_node"):
                self._go_on(nodes[number], number, side)

    def ids(self) -> list[str]:
        """The ids to read next; none at the end."""
        enough = len(self._found) >= self._widening.room
        if enough or self._steps >= self._widening.reach:
            return []
        return [*self._next]

    def take(self, nodes: Collection[BaseNode]) -> None:
        """Take what was read by them."""
        asked, self._next = self._next, {}
        self._steps += 1
        read = {node.node_id: node for node in nodes}
        for node_id, (number, side) in asked.items():
            if node := read.get(node_id):
                self._found.setdefault(node_id, (self._steps, number, node))
                self._go_on(node, number, side)

    def found(self) -> list[tuple[int, BaseNode]]:
        """Number of the hit and node, those worth most first."""
        worth = self._widening.worth
        ordered = sorted(
            (-worth(number, step), number, step, node_id)
            for node_id, (step, number, _) in self._found.items()
            if node_id not in self._own
        )
        return [(number, self._found[each][2]) for _, number, _, each in ordered]

    def _go_on(self, node: BaseNode, number: int, side: str) -> None:
        beside = getattr(node, side)
        if beside is not None and beside.node_id not in self._found:
            self._next.setdefault(beside.node_id, (number, side))
