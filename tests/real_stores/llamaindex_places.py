"""The stores that are tested through LlamaIndex."""

import uuid
from functools import partial
from typing import Any

import pytest

from tests.real_stores.langchain_places import (
    SIZE,
    Place,
    chroma_client,
    new_folder,
    qdrant_client,
)


def simple(request: pytest.FixtureRequest) -> Any:
    from llama_index.core.vector_stores import SimpleVectorStore

    return SimpleVectorStore()


def faiss(request: pytest.FixtureRequest) -> Any:
    library = pytest.importorskip("faiss")
    wrapper = pytest.importorskip("llama_index.vector_stores.faiss")
    return wrapper.FaissVectorStore(faiss_index=library.IndexFlatL2(SIZE))


def chroma(request: pytest.FixtureRequest) -> Any:
    import chromadb

    return _chroma(chromadb.PersistentClient(new_folder(request)))


def chroma_server(request: pytest.FixtureRequest) -> Any:
    return _chroma(chroma_client(request))


def _chroma(client: Any) -> Any:
    from llama_index.vector_stores.chroma import ChromaVectorStore

    collection = client.create_collection(f"c{uuid.uuid4().hex}")
    return ChromaVectorStore(chroma_collection=collection)


def qdrant(request: pytest.FixtureRequest, *, on_disk: bool = False) -> Any:
    client = qdrant_client(request, on_disk=on_disk)
    wrapper = pytest.importorskip("llama_index.vector_stores.qdrant")
    return wrapper.QdrantVectorStore(
        collection_name="chunks", client=client, index_doc_id=False
    )


HNSW = {
    "hnsw_m": 16,
    "hnsw_ef_construction": 64,
    "hnsw_ef_search": 400,
    "hnsw_dist_method": "vector_cosine_ops",
}


def postgres(request: pytest.FixtureRequest, **options: Any) -> Any:
    wrapper = pytest.importorskip("llama_index.vector_stores.postgres")
    database = request.getfixturevalue("new_database")()
    store = wrapper.PGVectorStore(
        connection_string=f"postgresql+psycopg2://{database}",
        async_connection_string=f"postgresql+asyncpg://{database}",
        table_name="chunks",
        embed_dim=SIZE,
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


_place = partial(Place, documents="the index, or the store")
LLAMAINDEX_STORES = (
    _place(
        "llamaindex-simple",
        "`SimpleVectorStore`",
        "It holds no texts: persist the docstore with it. Deleted nodes stay in the "
        "docstore unless `delete_from_docstore=True`, and are not read if you give the "
        "index. Filling takes minutes for a document of some thousand chunks.",
        simple,
        documents="the index, or its docstore",
    ),
    _place(
        "llamaindex-faiss",
        "`FaissVectorStore`",
        "It holds no texts, has no filters and cannot delete. Smaller scores are "
        "better.",
        faiss,
        documents="the index, or its docstore",
    ),
    _place(
        "llamaindex-chroma",
        "`ChromaVectorStore`, in a folder",
        "It stores no list or dictionary, ignores `doc_ids=` (use `filters=`), and "
        "keeps the old node if one is added again.",
        chroma,
    ),
    _place(
        "llamaindex-chroma-server",
        "`ChromaVectorStore`, on `chroma run`",
        "As above.",
        chroma_server,
    ),
    _place(
        "llamaindex-qdrant",
        "`QdrantVectorStore`, in memory",
        "Its `get_nodes` stops at 9,999. Ids must be UUIDs, as oprag's are. Adding "
        "is slow in a folder.",
        qdrant,
    ),
    _place(
        "llamaindex-qdrant-folder",
        "`QdrantVectorStore`, in a folder",
        "As above.",
        partial(qdrant, on_disk=True),
        slow=True,
    ),
    _place(
        "llamaindex-postgres",
        "`PGVectorStore`",
        "It writes filter values into the SQL: filter by `doc_key`, never by a name. "
        "It ignores `doc_ids=`, and has a node twice that is added again. With "
        "`hnsw_kwargs`, a search without a filter gives at most `hnsw_ef_search` "
        "chunks.",
        postgres,
    ),
    _place(
        "llamaindex-postgres-hnsw",
        "`PGVectorStore` with `hnsw_kwargs`",
        "As above.",
        partial(postgres, hnsw_kwargs=HNSW),
    ),
)
"""Every LlamaIndex store that is filled, searched and read back."""
