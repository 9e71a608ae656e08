"""Writing of an index: its vectors, its nodes and their names, always in step."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress

from llama_index.core import VectorStoreIndex
from llama_index.core.indices.utils import async_embed_nodes, embed_nodes
from llama_index.core.schema import BaseNode
from llama_index.core.vector_stores import SimpleVectorStore

from llamaindex_oprag._chunk_stores.docstore import DocstoreChunks
from oprag.indexing import ChunkWriter, VectorCheck, WantedChunk, finish_in_thread
from oprag.stores import ChunkStore, StoredChunk, Wanted


class OwnNodes(DocstoreChunks):
    """The nodes of an index, whose docstore may also hold the nodes of other indexes.

    After all nodes were read, names without a node are deleted with their vectors. A
    docstore that failed during a write leaves such names, and a search that finds one
    fails. If more than half of the names have no node, the docstore is another one, and
    nothing is deleted.
    """

    def __init__(self, index: VectorStoreIndex) -> None:
        super().__init__(index.docstore)
        self._index = index

    def read(
        self, wanted: Wanted | None = None, ids: Collection[str] | None = None
    ) -> Iterator[StoredChunk]:
        """Yield all chunks."""
        named = frozenset(self._index.index_struct.nodes_dict.values())
        seen = set()
        for chunk in super().read(wanted, ids):
            if chunk.id in named:
                seen.add(chunk.id)
                yield chunk
        unseen = named - seen
        if 2 * len(unseen) <= len(named) and not is_faiss(self._index.vector_store):
            with suppress(Exception):  # the next run tries again
                gone = [n for n in unseen if not self._docstore.document_exists(n)]
                if gone:
                    self._index.delete_nodes(gone)
                for name in gone:
                    self._index.index_struct.nodes_dict.pop(name, None)


class IndexWriter(ChunkWriter):
    """Writes through the index, and keeps its docstore in step.

    Args:
        index: The index.
        store: The reader of the index in a run.
    """

    def __init__(self, index: VectorStoreIndex, store: ChunkStore) -> None:
        self._index = index
        self.written = vector_store = index.vector_store
        self.embedding = index._embed_model  # noqa: SLF001 -- an index has no public name for it
        self._vectors = VectorCheck(self.embedding, _measure_vectors(vector_store))
        if is_faiss(vector_store):
            self.cannot_delete = (
                f"Nothing can be deleted from a {type(vector_store).__name__}: "
                "LlamaIndex's FAISS has no call for it, or gives a new vector the "
                "number of an old one, which is then lost. Build a new index of all "
                "documents, or take another store."
            )
        # Only Qdrant's wrapper has such a client; all data may be only there.
        self._awaits = getattr(vector_store, "_aclient", None) is not None
        texts = vector_store.stores_text
        self._has_nodes = not texts or index._store_nodes_override  # noqa: SLF001 -- as above
        self._reads_nodes = not texts or isinstance(store, OwnNodes)

    def add(self, chunks: Sequence[WantedChunk]) -> None:
        # Embedded here, so that a node that the store refused is not embedded again.
        vectors = embed_nodes([chunk.source for chunk in chunks], self.embedding)
        self._insert(self._attach_vectors(chunks, vectors))

    def delete(self, ids: Sequence[str]) -> None:
        # The place that a run reads comes last, so that the next run sees a failure.
        if not self._reads_nodes:
            self._delete_nodes(ids)
        self._index.delete_nodes(list(ids))
        if self._reads_nodes:
            self._delete_nodes(ids)

    async def aadd(self, chunks: Sequence[WantedChunk]) -> None:
        nodes = [chunk.source for chunk in chunks]
        vectors = await async_embed_nodes(nodes, self.embedding)
        await self._ainsert(self._attach_vectors(chunks, vectors))

    async def adelete(self, ids: Sequence[str]) -> None:
        if not self._awaits:
            await finish_in_thread(self.delete, ids)
            return
        if not self._reads_nodes:
            await finish_in_thread(self._delete_nodes, ids)
        await self._index.adelete_nodes(list(ids))
        if self._reads_nodes:
            await finish_in_thread(self._delete_nodes, ids)

    def _attach_vectors(
        self, chunks: Sequence[WantedChunk], vectors: dict[str, list[float]]
    ) -> list[BaseNode]:
        nodes: list[BaseNode] = [chunk.source for chunk in chunks]
        self._vectors.check(chunks, [*vectors.values()], len(nodes))
        for node in nodes:
            node.embedding = vectors[node.node_id]
        # A chunk gets another id if its own is taken.
        return [
            node
            if node.node_id == chunk.id
            else node.model_copy(update={"id_": chunk.id})
            for node, chunk in zip(nodes, chunks, strict=True)
        ]

    async def _ainsert(self, nodes: list[BaseNode]) -> None:
        if not self._awaits:
            await finish_in_thread(self._insert, nodes)
            return
        try:
            await self._index.ainsert_nodes(nodes)
        except GeneratorExit:  # nothing can be awaited now
            self._take_back(nodes)
            raise
        except BaseException:  # also one that is cancelled
            await finish_in_thread(self._take_back, nodes)
            raise

    def _insert(self, nodes: list[BaseNode]) -> None:
        try:
            self._index.insert_nodes(nodes)
        except BaseException:  # also one that is interrupted
            self._take_back(nodes)
            raise

    def _take_back(self, nodes: Sequence[BaseNode]) -> None:
        """Leave no vector without its node: a search that finds one fails."""
        if not self._has_nodes or self.cannot_delete:
            return
        named = self._index.index_struct.nodes_dict
        ids = [node.node_id for node in nodes]
        lost = [id_ for id_ in ids if id_ not in named or self._is_missing(id_)]
        with suppress(Exception):  # the reported error says why they were not added
            self._index.delete_nodes(lost)
            for id_ in lost:
                named.pop(id_, None)

    def _is_missing(self, node_id: str) -> bool:
        """Return whether the docstore lacks a node; if it fails, the next run decides.

        That run reads the nodes and skips those that are there, or reads the vectors.
        """
        with suppress(Exception):
            return not self._index.docstore.document_exists(node_id)
        return not self._reads_nodes

    def _delete_nodes(self, ids: Sequence[str]) -> None:
        """Delete nodes from the docstore; the index names each until it is gone.

        `VectorStoreIndex.delete_nodes` deletes the name first. If the docstore fails
        then, the node stays for ever, because nobody knows to which index it belongs.
        """
        if not self._has_nodes:
            return
        struct = self._index.index_struct
        try:
            for id_ in ids:
                self._index.docstore.delete_document(id_, raise_error=False)
                struct.nodes_dict.pop(id_, None)
        finally:
            self._index.storage_context.index_store.add_index_struct(struct)


def _measure_vectors(vector_store: object) -> int | None:
    """Return how many numbers a store's vectors have; None if it checks that itself.

    All stores but LlamaIndex's own in memory refuse a vector of another length.
    """
    if not isinstance(vector_store, SimpleVectorStore):
        return None
    return next(map(len, vector_store.data.embedding_dict.values()), None)


def is_faiss(vector_store: object) -> bool:
    """Return whether it is one of LlamaIndex's FAISS stores."""
    names = [base.__name__ for base in type(vector_store).__mro__]
    return "FaissVectorStore" in names
