"""Further reads from the index of a LlamaIndex retriever: neighbours, and by words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from llama_index.core.schema import BaseNode, NodeWithScore
from llama_index.core.vector_stores.types import BasePydanticVectorStore

from llamaindex_oprag._chunk_stores.docstore import (
    DocstoreChunks,
    is_admitted,
    only_searched,
)
from llamaindex_oprag._nodes import SOURCE, Fields, copy_node, hide_keys, offset_fields
from llamaindex_oprag._searched import find_searched_index, search_filter
from llamaindex_oprag.stores import chunk_store
from oprag.chunk import Span
from oprag.context import NO_NEIGHBOURS, CandidateTail, NeighbourSearch
from oprag.effects import Effects, describe_work
from oprag.errors import InvalidOptionError
from oprag.metadata import (
    CHAR_END,
    CHAR_START,
    OWN_KEYS,
    PART_INDEX,
    as_number,
    make_named_id,
)
from oprag.stores import ChunkStore, SearchedChunks, SearchFilter, StoredChunk


class Neighbourhood:
    """The index that a retriever searches, read through the search's filter.

    The neighbours of nodes with oprag's keys are found by document and index, in two
    queries at most. Those of other nodes are found by their PREVIOUS and NEXT ids, with
    a query for each step away from the hits.

    Args:
        retriever: Not written to.

    Raises:
        InvalidOptionError: The search's filter cannot be carried over.
    """

    def __init__(self, retriever: Any) -> None:
        self._index = find_searched_index(retriever)
        is_one = self._index is not None
        self._search = search_filter(retriever) if is_one else SearchFilter()
        self._loads = is_one and loads_nodes(self._index)
        store = store_of(self._index)
        self.can_read = self._loads or store is not None
        """Whether nodes of one index can be read, by their places or by links."""
        self._chunks = None
        if store is not None:
            self._chunks = SearchedChunks(store, self._search, "widen")

    def widen_hits(
        self, hits: Sequence[NodeWithScore], widening: NeighbourSearch
    ) -> Effects[tuple[list[NodeWithScore], CandidateTail]]:
        """Return hits and neighbours as `arrange` takes them."""
        near = []
        if self._chunks is not None and (wanted := widening.requests()):
            near = widening.neighbours((yield from self._chunks.read_by_key(wanted)))
        places = widening.unplaced if self._chunks else range(widening.hits)
        by_links = {n: hits[n].node for n in sorted(places) if self._loads}
        with_links = {
            n: node for n, node in by_links.items() if node.prev_node or node.next_node
        }
        own = {node.node_id for node in by_links.values()}
        linked = yield from self._follow_links(with_links, own, widening)
        beside = [make_neighbour(hits[hit], chunk) for hit, chunk in near]
        beside += [NodeWithScore(node=node) for node in linked]
        stored, links = self._chunks is not None, frozenset(with_links)
        listed, found = widening.combine(hits, beside, stored=stored, linked=links)
        # LlamaIndex links all nodes of a document to each other, unless there is one.
        unplaced = [hits[number].node for number in widening.unplaced]
        are_alone = widening.names_none and all(node.source_node for node in unplaced)
        if found.lacking and are_alone:
            found = NO_NEIGHBOURS
        return listed, found

    def _follow_links(
        self, nodes: Mapping[int, BaseNode], own: set[str], widening: NeighbourSearch
    ) -> Effects[list[BaseNode]]:
        """Follow PREVIOUS and NEXT ids, one step at a time from all hits at once.

        Returns:
            The nodes that the search's filter admits, those worth most first.
        """
        if nodes:
            # Links are followed past the filter, which is applied afterwards.
            where = self._search.where
            takes = where is None or DocstoreChunks.takes(where)
            if self._search.unseen is not None or not takes:
                raise self._search.refusal(type(self._index).__name__, "widen")
        found: dict[str, tuple[float, int, int, BaseNode]] = {}
        ends: list[tuple[int, BaseNode, str]] = []
        for number, node in nodes.items():
            ends += [(number, node, "next"), (number, node, "prev")]
        steps = 0
        while ends and len(found) < widening.room and steps < widening.reach:
            steps += 1
            asked: dict[str, tuple[int, str]] = {}
            for number, node, side in ends:
                beside = getattr(node, f"{side}_node")
                if beside is not None and beside.node_id not in found:
                    asked.setdefault(beside.node_id, (number, side))
            came: list[BaseNode] = yield describe_work(
                load_nodes, self._index, [*asked]
            )
            there = {node.node_id: node for node in came}
            kept = [(*asked[each], there[each]) for each in asked if each in there]
            ends = [(number, node, side) for number, side, node in kept]
            for number, node, _ in ends:
                worth = widening.lent(number, steps * len(node.get_content()))
                found[node.node_id] = (-worth, number, steps, node)
        ordered = sorted((*found[each][:3], each) for each in found.keys() - own)
        linked = [found[each][3] for *_, each in ordered]
        return [node for node in linked if self._admits(node)]

    def _admits(self, node: BaseNode) -> bool:
        where, ids = self._search.where, self._search.ids
        if ids is not None and node.node_id not in ids:
            return False
        return where is None or is_admitted(node, [where])


def make_neighbour(hit: NodeWithScore, chunk: StoredChunk) -> NodeWithScore:
    """Make a node of a chunk beside a hit, with the hit's class and settings."""
    node: BaseNode = hit.node
    metadata = dict(chunk.metadata)
    # The first chunk of a document has keys that the hit need not hide.
    added = [key for key in OWN_KEYS if key in metadata and key not in node.metadata]
    fields: Fields = {
        "id_": chunk.id or make_named_id(f"{metadata}\n{chunk.text}"),
        "metadata": metadata,
        "excluded_llm_metadata_keys": hide_keys(node.excluded_llm_metadata_keys, added),
        "excluded_embed_metadata_keys": hide_keys(
            node.excluded_embed_metadata_keys, added
        ),
        "embedding": None,
        "relationships": {},
    }
    if SOURCE in node.relationships:
        fields["relationships"] = {SOURCE: node.relationships[SOURCE]}
    part = as_number(metadata.get(PART_INDEX))
    start, end = as_number(metadata.get(CHAR_START)), as_number(metadata.get(CHAR_END))
    if start is not None and end is not None:
        fields |= offset_fields(node, part, Span(start, end))
    return NodeWithScore(node=copy_node(node, fields, chunk.text))


def loads_nodes(index: Any) -> bool:
    """Return whether nodes of an index can be loaded by their ids."""
    store = index.vector_store
    own = getattr(type(store), "get_nodes", None)
    return not store.stores_text or own not in (None, BasePydanticVectorStore.get_nodes)


def load_nodes(index: Any, ids: Sequence[str]) -> list[BaseNode]:
    """Return the nodes of an index that are there, as a search gives them."""
    if not ids:
        return []
    store = index.vector_store
    if store.stores_text:
        nodes: list[BaseNode] = store.get_nodes(node_ids=[*ids])
        return nodes
    found = index.docstore.get_nodes([*ids], raise_error=False)
    return [*only_searched(found, store)]


def store_of(index: Any) -> ChunkStore | None:
    """Return the chunks of an index; None if nobody knows how to read them."""
    try:
        return None if index is None else chunk_store(index)
    except InvalidOptionError:
        return None
