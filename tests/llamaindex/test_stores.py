"""The chunks of an index, as they lie there. All stores: tests/stores."""

from __future__ import annotations

import uuid

import chromadb
from llama_index.core import Document, StorageContext, VectorStoreIndex
from llama_index.vector_stores.chroma import ChromaVectorStore

from llamaindex_oprag import OffsetTokenNodeParser
from llamaindex_oprag.stores import chunk_store
from oprag.documents import StoredChunk
from oprag.metadata import document_key
from tests.llamaindex.corpus import document
from tests.llamaindex.recording import WordEmbedding


def chroma(*documents: Document) -> VectorStoreIndex:
    collection = chromadb.EphemeralClient().create_collection(f"c{uuid.uuid4().hex}")
    store = ChromaVectorStore(chroma_collection=collection)
    return VectorStoreIndex.from_documents(
        list(documents),
        storage_context=StorageContext.from_defaults(vector_store=store),
        transformations=[OffsetTokenNodeParser(chunk_size=9)],
        embed_model=WordEmbedding(),
    )


class SmallPages:
    """A collection on a server that gives two chunks at most, whatever it is asked."""

    name, id = "small", "1"

    def __init__(self, collection: chromadb.Collection) -> None:
        self._collection = collection

    def get(self, *, limit: int, **asked: object) -> object:
        return self._collection.get(limit=min(limit, 2), **asked)


def test_all_chunks_come_from_a_server_that_gives_smaller_pages():
    made = chroma(document())
    whole = list(chunk_store(made).read())
    assert len(whole) > 2

    store = chunk_store(made)
    store._collection = SmallPages(store._collection)

    assert list(store.read()) == whole
    assert list(store.read({document_key("lease.txt"): None})) == whole


def test_rows_that_hold_no_node_are_taken_as_they_are():
    made = chroma()
    made.vector_store.client.add(
        ids=["a", "b"],
        embeddings=[[1.0] * 256] * 2,
        documents=["text", None],
        metadatas=[{"source": "s"}, {"_node_content": ""}],
    )

    assert list(chunk_store(made).read()) == [
        StoredChunk("text", {"source": "s"}, "a"),
        StoredChunk("", {"_node_content": ""}, "b"),
    ]
