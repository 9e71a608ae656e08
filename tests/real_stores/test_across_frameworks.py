"""An index that one framework wrote, read through the other: in order, and whole."""

import asyncio

import pytest
from llama_index.core.node_parser import SentenceSplitter

from oprag.errors import MissingDocumentError
from tests.kit.frameworks import Held, InLangChain, InLlamaIndex
from tests.parity.test_indexing import shared_collection
from tests.real_stores.langchain_places import HashEmbeddings

TEXT = "".join(f"Sentence number {number:04} is here. " for number in range(400))
TEXT += "The last one is 0400."
"""Ordered by its numbers; LlamaIndex's own splitter places such text rightly."""

UNICODE = 'Verträge/Käse 日本 "neu" – d\'été 🧀.txt'


def chroma(_: pytest.FixtureRequest) -> tuple[Held, Held]:
    return shared_collection()


def postgres(request: pytest.FixtureRequest) -> tuple[Held, Held]:
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
    return InLangChain(langchain), InLlamaIndex(llamaindex)


@pytest.fixture(params=[chroma, postgres], ids=lambda make: make.__name__)
def shared(request) -> tuple[Held, Held]:
    """One table or collection, through both frameworks."""
    return request.param(request)


def assert_in_order(held: Held, count: int) -> None:
    found = held.find(held.ordered(held.search(count)))
    places = [TEXT.index(chunk.text) for chunk in found]
    assert places == sorted(set(places))
    assert len(found) == count


@pytest.mark.parametrize("first", [0, 1], ids=["langchain", "llamaindex"])
def test_what_one_writes_the_other_reads(shared, first):
    writer, reader = shared[first], shared[1 - first]
    writer.index({UNICODE: TEXT}, **writer.splitting(20))

    assert_in_order(reader, 40)
    source = reader.package.document_source(reader.documents)
    assert source.get(UNICODE) == TEXT


def test_positions_that_only_the_stored_node_has(shared):
    """LlamaIndex's own splitters write none into the metadata."""
    split = SentenceSplitter(chunk_size=60, chunk_overlap=0)
    written = shared[1].document(UNICODE, TEXT)
    shared[1].documents.insert_nodes(split.get_nodes_from_documents([written]))

    for held in shared:
        assert_in_order(held, 20)


def test_qdrant_is_laid_out_differently_by_each():
    """LangChain nests the metadata: refused, not read in a wrong order."""
    qdrant = pytest.importorskip("qdrant_client")
    langchain = pytest.importorskip("langchain_qdrant").QdrantVectorStore
    wrapper = pytest.importorskip("llama_index.vector_stores.qdrant")
    client = qdrant.QdrantClient(":memory:")
    size = qdrant.models.VectorParams(size=8, distance=qdrant.models.Distance.COSINE)
    client.create_collection("chunks", vectors_config=size)
    writer = InLangChain(langchain(client, "chunks", HashEmbeddings()))
    writer.index({UNICODE: TEXT}, **writer.splitting(20))
    reader = InLlamaIndex(
        wrapper.QdrantVectorStore(
            collection_name="chunks", client=client, text_key="page_content"
        )
    )

    with pytest.raises(MissingDocumentError, match="Metadata keys found: metadata"):
        reader.find(reader.ordered(reader.search(9)))
    client.close()
