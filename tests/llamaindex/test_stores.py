"""The chunks of an index, as they lie there. All stores: tests/real_stores."""

import uuid
from typing import Any

import chromadb
import pytest
from llama_index.core import Document, StorageContext, VectorStoreIndex
from llama_index.core.vector_stores.types import BasePydanticVectorStore
from llama_index.vector_stores.chroma import ChromaVectorStore

from llamaindex_oprag import OffsetTokenNodeParser, document_source
from llamaindex_oprag.stores import chunk_store
from oprag.errors import InvalidOptionError
from oprag.metadata import document_key
from oprag.stores import StoredChunk
from tests.llamaindex.corpus import TEXT, document
from tests.llamaindex.recording import WordEmbedding


def over(store: Any, *documents: Document, **options: Any) -> VectorStoreIndex:
    return VectorStoreIndex.from_documents(
        list(documents),
        storage_context=StorageContext.from_defaults(vector_store=store),
        transformations=[OffsetTokenNodeParser(chunk_size=9)],
        embed_model=WordEmbedding(),
        **options,
    )


def chroma(*documents: Document) -> VectorStoreIndex:
    collection = chromadb.EphemeralClient().create_collection(f"c{uuid.uuid4().hex}")
    return over(ChromaVectorStore(chroma_collection=collection), *documents)


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


class UnknownStore(BasePydanticVectorStore):
    """Keeps nothing."""

    stores_text: bool = True

    @property
    def client(self):
        return None

    def add(self, nodes, **kwargs):
        return [node.node_id for node in nodes]

    def delete(self, ref_doc_id, **kwargs):
        raise NotImplementedError

    def query(self, query, **kwargs):
        raise NotImplementedError


def test_a_store_that_is_not_known_is_refused_at_once():
    made = over(UnknownStore(), document("a"))

    for unknown in (made, made.vector_store):
        with pytest.raises(InvalidOptionError, match=r"cannot read .* UnknownStore"):
            document_source(unknown)


def test_one_with_its_nodes_in_the_docstore_is_read():
    made = over(UnknownStore(), document("a"), store_nodes_override=True)
    assert document_source(made).get("a") == TEXT
