"""An index that one framework wrote, read through the other: in order, and whole."""

from __future__ import annotations

import asyncio
import uuid
from typing import Any, NamedTuple

import chromadb
import pytest
from langchain_chroma import Chroma
from langchain_core.documents import Document as LangChainDocument
from langchain_core.vectorstores import VectorStore
from llama_index.core import Document, StorageContext, VectorStoreIndex
from llama_index.core.node_parser import SentenceSplitter
from llama_index.core.vector_stores.types import BasePydanticVectorStore
from llama_index.vector_stores.chroma import ChromaVectorStore

import langchain_oprag
import llamaindex_oprag
from oprag.errors import MissingDocumentError
from tests.stores.langchain_places import HashEmbeddings
from tests.stores.llamaindex_fakes import ChecksumEmbedding

TEXT = "".join(f"Sentence number {number:04} is here. " for number in range(400))
TEXT += "The last one is 0400."
"""Ordered by its numbers; LlamaIndex's own splitter places such text rightly."""

QUESTION = "Which sentence?"
UNICODE = 'Verträge/Käse 日本 "neu" – d\'été 🧀.txt'


class Shared(NamedTuple):
    """One table or collection, through both frameworks."""

    langchain: VectorStore
    llamaindex: BasePydanticVectorStore


def chroma(request: pytest.FixtureRequest) -> Shared:
    client = chromadb.EphemeralClient()
    langchain = Chroma(f"c{uuid.uuid4().hex}", HashEmbeddings(), client=client)
    collection = client.get_collection(langchain._collection.name)
    return Shared(langchain, ChromaVectorStore(chroma_collection=collection))


def postgres(request: pytest.FixtureRequest) -> Shared:
    """The table that LlamaIndex makes; LangChain is told its columns."""
    library = pytest.importorskip("langchain_postgres")
    wrapper = pytest.importorskip("llama_index.vector_stores.postgres")
    database = request.getfixturevalue("database")
    llamaindex = wrapper.PGVectorStore(
        connection_string=f"postgresql+psycopg2://{database}",
        async_connection_string=f"postgresql+asyncpg://{database}",
        table_name="chunks",
        embed_dim=8,
    )
    llamaindex.get_nodes([])  # makes the table
    request.addfinalizer(llamaindex.client.dispose)
    with llamaindex.client.begin() as connection:
        # LangChain replaces rows of the same id, and LlamaIndex's column is not unique.
        connection.exec_driver_sql("CREATE UNIQUE INDEX ON data_chunks (node_id)")
    made = library.PGEngine.from_connection_string(f"postgresql+psycopg://{database}")
    request.addfinalizer(lambda: asyncio.run(made.close()))
    langchain = library.PGVectorStore.create_sync(
        made,
        HashEmbeddings(),
        "data_chunks",
        id_column="node_id",
        content_column="text",
        metadata_json_column="metadata_",
    )
    return Shared(langchain, llamaindex)


@pytest.fixture(params=[chroma, postgres], ids=lambda make: make.__name__)
def shared(request) -> Shared:
    return request.param(request)


def write_by_llamaindex(store: BasePydanticVectorStore, parser: Any) -> None:
    VectorStoreIndex.from_documents(
        [Document(text=TEXT, id_=UNICODE)],
        storage_context=StorageContext.from_defaults(vector_store=store),
        transformations=[parser],
        embed_model=ChecksumEmbedding(),
    )


def write_by_langchain(store: VectorStore) -> None:
    splitter = langchain_oprag.OffsetTokenSplitter(chunk_size=20)
    chunks = splitter.split_documents(
        [LangChainDocument(TEXT, metadata={"source": UNICODE})]
    )
    store.add_documents(chunks, ids=[chunk.id for chunk in chunks])


def read_by_langchain(store: VectorStore, k: int) -> list[str]:
    retriever = langchain_oprag.OrderPreservingRetriever(vectorstore=store, k=k)
    return [document.page_content for document in retriever.invoke(QUESTION)]


def read_by_llamaindex(store: BasePydanticVectorStore, k: int) -> list[str]:
    index = VectorStoreIndex.from_vector_store(store, embed_model=ChecksumEmbedding())
    retriever = llamaindex_oprag.OrderPreservingRetriever(
        base_retriever=index.as_retriever(similarity_top_k=k), similarity_top_k=k
    )
    return [node.node.get_content() for node in retriever.retrieve(QUESTION)]


def in_order(texts: list[str], count: int) -> bool:
    places = [TEXT.index(text) for text in texts]
    assert places == sorted(set(places))
    return len(texts) == count


def test_written_by_langchain_and_read_by_llamaindex(shared):
    write_by_langchain(shared.langchain)

    assert in_order(read_by_llamaindex(shared.llamaindex, 40), 40)
    source = llamaindex_oprag.document_source(shared.llamaindex)
    assert source.get(UNICODE) == TEXT


def test_written_by_llamaindex_and_read_by_langchain(shared):
    write_by_llamaindex(
        shared.llamaindex, llamaindex_oprag.OffsetTokenNodeParser(chunk_size=20)
    )

    assert in_order(read_by_langchain(shared.langchain, 40), 40)
    source = langchain_oprag.document_source(shared.langchain)
    assert source.get(UNICODE) == TEXT


def test_positions_that_only_the_stored_node_has(shared):
    """LlamaIndex's own splitters write none into the metadata."""
    write_by_llamaindex(
        shared.llamaindex, SentenceSplitter(chunk_size=60, chunk_overlap=0)
    )

    assert in_order(read_by_langchain(shared.langchain, 20), 20)
    assert in_order(read_by_llamaindex(shared.llamaindex, 20), 20)


def test_qdrant_is_laid_out_differently_by_each():
    """LangChain nests the metadata: refused, not read in a wrong order."""
    qdrant = pytest.importorskip("qdrant_client")
    langchain = pytest.importorskip("langchain_qdrant").QdrantVectorStore
    wrapper = pytest.importorskip("llama_index.vector_stores.qdrant")
    client = qdrant.QdrantClient(":memory:")
    size = qdrant.models.VectorParams(size=8, distance=qdrant.models.Distance.COSINE)
    client.create_collection("chunks", vectors_config=size)
    write_by_langchain(langchain(client, "chunks", HashEmbeddings()))
    store = wrapper.QdrantVectorStore(
        collection_name="chunks", client=client, text_key="page_content"
    )

    with pytest.raises(MissingDocumentError, match="Metadata keys found: metadata"):
        read_by_llamaindex(store, 9)
    client.close()
