"""Chunks that LlamaIndex keeps as nodes in a docstore."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from itertools import islice
from typing import Any

from llama_index.core.schema import BaseNode, Document
from llama_index.core.storage.docstore.types import BaseDocumentStore
from llama_index.core.storage.kvstore.types import MutableMappingKVStore
from llama_index.core.vector_stores import SimpleVectorStore
from llama_index.core.vector_stores.types import MetadataFilters
from llama_index.core.vector_stores.utils import build_metadata_filter_fn

from llamaindex_oprag._chunk_stores.nodes import chunk_of_node
from oprag.stores import ChunkStore, StoredChunk, Wanted, select_chunks


class DocstoreChunks(ChunkStore):
    """Reads the nodes of a docstore; full `Document`s beside them are no chunks.

    Args:
        docstore: It may hold nodes of other indexes, and nodes that were deleted
            elsewhere.
        vector_store: The store that an index searches; a node that it is known not to
            hold is no chunk. None for all nodes.
    """

    is_embedded = True

    def __init__(
        self, docstore: BaseDocumentStore, vector_store: object = None
    ) -> None:
        self.name = type(docstore).__name__
        self._docstore = docstore
        self._vector_store = vector_store

    def read(
        self, wanted: Wanted | None = None, ids: Collection[str] | None = None
    ) -> Iterator[StoredChunk]:
        """Yield the chunks, in the docstore's order."""
        if ids is not None:
            return self._make_chunks(
                self._docstore.get_nodes([*ids], raise_error=False)
            )
        # A copy: others may add while this is read.
        return select_chunks(self._make_chunks([*self._docstore.docs.values()]), wanted)

    def sample(self) -> Iterable[StoredChunk]:
        """Return the searched nodes, if it is in memory and has no others."""
        searched = list_searched_ids(self._vector_store) or ()
        if len(searched) != self._kept():
            return ()
        return self.read(ids=[*islice(searched, 100)])

    def count(self) -> int | None:
        """Count the searched nodes; else nodes and documents, if in memory."""
        searched = list_searched_ids(self._vector_store)
        return self._kept() if searched is None else len(searched)

    def _kept(self) -> int | None:
        kept = getattr(self._docstore, "_kvstore", None)
        if not isinstance(kept, MutableMappingKVStore):
            return None
        return len(kept.get_all(self._docstore._node_collection))  # type: ignore[attr-defined]  # noqa: SLF001 -- nothing public tells

    def _make_chunks(self, nodes: Collection[BaseNode]) -> Iterator[StoredChunk]:
        for node in only_searched(nodes, self._vector_store):
            if not isinstance(node, Document) and is_admitted(node, self.filters):
                yield chunk_of_node(node)

    def takes_filter(self, where: Any) -> bool:
        """Return whether it is `MetadataFilters` without others inside.

        `SimpleVectorStore` takes these.
        """
        return self.takes(where)

    @staticmethod
    def takes(where: Any) -> bool:
        """Return the same as `takes_filter`, without a docstore."""
        return isinstance(where, MetadataFilters) and not any(
            isinstance(inner, MetadataFilters) for inner in where.filters
        )


def list_searched_ids(vector_store: object) -> Collection[str] | None:
    """Return the ids of the nodes that a vector store finds; None if it tells none.

    `VectorStoreIndex.delete_nodes` and `delete_ref_doc` leave nodes in the docstore
    unless asked to delete them, and the first leaves them in the index's own list.
    """
    if isinstance(vector_store, SimpleVectorStore):
        return vector_store.data.embedding_dict
    # The map of a FAISS store from which nodes can be deleted; nothing public tells.
    return getattr(vector_store, "_node_id_to_faiss_id_map", None)


def only_searched(
    nodes: Iterable[BaseNode], vector_store: object
) -> Iterator[BaseNode]:
    """Leave out the nodes of a docstore that were deleted from the vector store."""
    ids = list_searched_ids(vector_store)
    return (node for node in nodes if ids is None or node.node_id in ids)


def is_admitted(node: BaseNode, filters: Collection[MetadataFilters]) -> bool:
    """Return whether each filter admits a node, as `SimpleVectorStore` judges."""
    if not filters:
        return True
    # A vector store keeps the source by these names beside the metadata.
    names = ("document_id", "doc_id", "ref_doc_id")
    stored = {**node.metadata, **dict.fromkeys(names, node.ref_doc_id or "None")}
    return all(
        build_metadata_filter_fn(lambda _: stored, each)(node.node_id)
        for each in filters
    )
