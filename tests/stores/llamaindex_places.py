"""The stores that are tested through LlamaIndex."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from typing import Any, NamedTuple

import pytest

from tests.stores.servers import HOST

DIMENSIONS = 8


class Place(NamedTuple):
    """A store, its row of docs/stores.md, and how an empty one is made."""

    id: str
    """Short and fixed: `pytest tests/stores -k ID` runs one."""
    store: str
    """Class and how the store is run, in Markdown."""
    watch_for: str
    """In Markdown, empty for nothing."""
    make: Callable[[pytest.FixtureRequest], Any]
    """Asks for folders and servers, and closes the store at the end."""
    slow: bool = False
    """Whether it takes more than half a minute to add some thousand chunks."""
    documents: str = "the index, or the store"
    """The argument of `document_source`, in Markdown."""


def simple(request: pytest.FixtureRequest) -> Any:
    from llama_index.core.vector_stores import SimpleVectorStore

    return SimpleVectorStore()


def faiss(request: pytest.FixtureRequest) -> Any:
    library = pytest.importorskip("faiss")
    wrapper = pytest.importorskip("llama_index.vector_stores.faiss")
    return wrapper.FaissVectorStore(faiss_index=library.IndexFlatL2(DIMENSIONS))


def chroma(request: pytest.FixtureRequest) -> Any:
    import chromadb

    folder = request.getfixturevalue("tmp_path_factory").mktemp("chroma")
    return _chroma(chromadb.PersistentClient(str(folder)))


def chroma_server(request: pytest.FixtureRequest) -> Any:
    import chromadb

    port = request.getfixturevalue("chroma_port")
    client = chromadb.HttpClient(HOST, port)
    for part in (client, client._admin_client):  # it leaves its connections open
        request.addfinalizer(part._server._session.close)
    return _chroma(client)


def _chroma(client: Any) -> Any:
    from llama_index.vector_stores.chroma import ChromaVectorStore

    collection = client.create_collection(f"c{uuid.uuid4().hex}")
    return ChromaVectorStore(chroma_collection=collection)


def qdrant(request: pytest.FixtureRequest) -> Any:
    library = pytest.importorskip("qdrant_client")
    return _qdrant(request, library.QdrantClient(":memory:"))


def qdrant_folder(request: pytest.FixtureRequest) -> Any:
    library = pytest.importorskip("qdrant_client")
    folder = request.getfixturevalue("tmp_path_factory").mktemp("qdrant")
    return _qdrant(request, library.QdrantClient(path=str(folder)))


def _qdrant(request: pytest.FixtureRequest, client: Any) -> Any:
    wrapper = pytest.importorskip("llama_index.vector_stores.qdrant")
    request.addfinalizer(client.close)
    return wrapper.QdrantVectorStore(
        collection_name="chunks", client=client, index_doc_id=False
    )


def postgres(request: pytest.FixtureRequest) -> Any:
    return _postgres(request)


def postgres_hnsw(request: pytest.FixtureRequest) -> Any:
    hnsw = {
        "hnsw_m": 16,
        "hnsw_ef_construction": 64,
        "hnsw_ef_search": 400,
        "hnsw_dist_method": "vector_cosine_ops",
    }
    return _postgres(request, hnsw_kwargs=hnsw)


def _postgres(request: pytest.FixtureRequest, **options: Any) -> Any:
    wrapper = pytest.importorskip("llama_index.vector_stores.postgres")
    database = request.getfixturevalue("new_database")()
    store = wrapper.PGVectorStore(
        connection_string=f"postgresql+psycopg2://{database}",
        async_connection_string=f"postgresql+asyncpg://{database}",
        table_name="chunks",
        embed_dim=DIMENSIONS,
        **options,
    )

    def close() -> None:
        if store.client is not None:
            store.client.dispose()

    request.addfinalizer(close)
    return store


def metadata_filters() -> tuple[Any, ...]:
    """Filters that admit tenant a and not b."""
    from llama_index.core.vector_stores import (
        FilterCondition,
        FilterOperator,
        MetadataFilter,
        MetadataFilters,
    )

    def own(value: Any, operator: FilterOperator = FilterOperator.EQ) -> MetadataFilter:
        return MetadataFilter(key="tenant", value=value, operator=operator)

    return (
        MetadataFilters(filters=[own("a")]),
        MetadataFilters(filters=[own("b", FilterOperator.NE)]),
        MetadataFilters(filters=[own(["a", "c"], FilterOperator.IN)]),
        MetadataFilters(filters=[own("a"), own("c")], condition=FilterCondition.OR),
    )


LLAMAINDEX_STORES = (
    Place(
        "llamaindex-simple",
        "`SimpleVectorStore`",
        "Holds no texts: persist the docstore with it. Nodes deleted from the index "
        "stay in the docstore unless `delete_from_docstore=True`; given the index, "
        "they are not read. Filling the docstore takes "
        "time by the square of a document's chunks: minutes for some thousands.",
        simple,
        documents="the index, or its docstore",
    ),
    Place(
        "llamaindex-faiss",
        "`FaissVectorStore`",
        "As above. It has no filters and cannot delete; its smaller score is the "
        "better one.",
        faiss,
        documents="the index, or its docstore",
    ),
    Place(
        "llamaindex-chroma",
        "`ChromaVectorStore`, in a folder",
        "Lists and dictionaries are no metadata. Filter by `filters=`: `doc_ids=` is "
        "ignored. A node that is added again stays as it was.",
        chroma,
    ),
    Place(
        "llamaindex-chroma-server",
        "`ChromaVectorStore`, on `chroma run`",
        "As above.",
        chroma_server,
    ),
    Place(
        "llamaindex-qdrant",
        "`QdrantVectorStore`, in memory",
        "Its `get_nodes` stops at 9,999. Ids must be UUIDs, as oprag's are.",
        qdrant,
    ),
    Place(
        "llamaindex-qdrant-folder",
        "`QdrantVectorStore`, in a folder",
        "As above; adding is slow.",
        qdrant_folder,
        slow=True,
    ),
    Place(
        "llamaindex-postgres",
        "`PGVectorStore`",
        "It writes a filter's value into the SQL: filter by `doc_key`, never by a "
        "name. A node that is added again is there twice. `doc_ids=` is ignored.",
        postgres,
    ),
    Place(
        "llamaindex-postgres-hnsw",
        "`PGVectorStore` with `hnsw_kwargs`",
        "As above; and a search without a filter gives at most `hnsw_ef_search` "
        "chunks, whatever `similarity_top_k` says.",
        postgres_hnsw,
    ),
)
"""Every LlamaIndex store that is filled, searched and read back."""
