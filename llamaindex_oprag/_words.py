"""What a question's words find in the index that a LlamaIndex retriever searches."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from llama_index.core.schema import NodeWithScore

from llamaindex_oprag._widening import nodes_by_id, searched_index
from llamaindex_oprag._wrapping import search_filter
from llamaindex_oprag.stores import chunk_store
from oprag.documents import Bm25, SearchedChunks, no_words
from oprag.errors import InvalidOptionError


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
        try:
            store = None if self._index is None else chunk_store(self._index)
        except InvalidOptionError:
            store = None
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
        best = []
        for each in fused:
            if isinstance(each, int):
                best.append(found[each])
            elif each.id in nodes:  # and not deleted just now
                best.append(NodeWithScore(node=nodes[each.id]))
        return best

    def _as_seen_by(self, retriever: Any) -> SearchedChunks:
        return SearchedChunks(self._store, search_filter(retriever), "bm25")
