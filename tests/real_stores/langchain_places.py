"""The LangChain stores that the tests run on, and what is put into them."""

import asyncio
import hashlib
import uuid
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import pytest
from langchain_core.embeddings import Embeddings
from langchain_core.vectorstores import InMemoryVectorStore, VectorStore

from tests.real_stores.servers import HOST

SIZE = 8
"""Numbers of an embedding."""


class HashEmbeddings(Embeddings):
    """Vectors out of the text's hash: a ranking that says nothing about the order."""

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return [self.embed_query(text) for text in texts]

    def embed_query(self, text: str) -> list[float]:
        digest = hashlib.sha256(text.encode()).digest()
        return [byte / 255 - 0.5 for byte in digest[:SIZE]]


class Place(NamedTuple):
    """A store, its row of docs/stores.md, and how an empty one is made."""

    id: str
    """Short and fixed: `pytest tests/real_stores -k ID` runs one."""
    store: str
    """Class and how the store is run, in Markdown."""
    watch_for: str
    """In Markdown; "As above." if the class is that of the line above."""
    make: Callable[[pytest.FixtureRequest], Any]
    """Asks for folders and servers, and closes the store at the end."""
    slow: bool = False
    """Whether it takes more than half a minute to add some thousand chunks."""
    documents: str = "the store"
    """The argument of `document_source`, in Markdown."""


def new_folder(request: pytest.FixtureRequest) -> str:
    return str(request.getfixturevalue("tmp_path_factory").mktemp("store"))


def _in_memory(request: pytest.FixtureRequest) -> VectorStore:
    return InMemoryVectorStore(HashEmbeddings())


_MORE_NEIGHBOURS = {"hnsw:M": 64}
"""Without it a few chunks that are added after a search may be lost to every search."""


def _chroma(request: pytest.FixtureRequest) -> VectorStore:
    from langchain_chroma import Chroma

    return Chroma(
        "chunks",
        HashEmbeddings(),
        persist_directory=new_folder(request),
        collection_metadata=_MORE_NEIGHBOURS,
    )


def _chroma_server(request: pytest.FixtureRequest) -> VectorStore:
    from langchain_chroma import Chroma

    return Chroma(
        f"chunks-{uuid.uuid4().hex}",
        HashEmbeddings(),
        client=chroma_client(request),
        collection_metadata=_MORE_NEIGHBOURS,
    )


def chroma_client(request: pytest.FixtureRequest) -> Any:
    from chromadb import HttpClient

    client = HttpClient(HOST, request.getfixturevalue("chroma_port"))
    for part in (client, client._admin_client):  # it leaves its connections open
        request.addfinalizer(part._server._session.close)
    return client


def _faiss(request: pytest.FixtureRequest) -> VectorStore:
    faiss = pytest.importorskip("faiss", reason="searches FAISS stores")
    from langchain_community.docstore.in_memory import InMemoryDocstore
    from langchain_community.vectorstores import FAISS

    return FAISS(HashEmbeddings(), faiss.IndexFlatL2(SIZE), InMemoryDocstore(), {})


def qdrant_client(request: pytest.FixtureRequest, *, on_disk: bool) -> Any:
    qdrant = pytest.importorskip("qdrant_client", reason="is Qdrant, local")
    where = {"path": new_folder(request)} if on_disk else {"location": ":memory:"}
    client = qdrant.QdrantClient(**where)
    request.addfinalizer(client.close)
    return client


def _qdrant(request: pytest.FixtureRequest, *, on_disk: bool = False) -> VectorStore:
    client = qdrant_client(request, on_disk=on_disk)
    from langchain_qdrant import QdrantVectorStore
    from qdrant_client.models import Distance, VectorParams

    size = VectorParams(size=SIZE, distance=Distance.COSINE)
    client.create_collection("chunks", vectors_config=size)
    return QdrantVectorStore(client, "chunks", HashEmbeddings())


def _postgres(request: pytest.FixtureRequest, *columns: tuple[str, str]) -> VectorStore:
    """A table whose metadata are JSON, or that has columns for some of them."""
    postgres = pytest.importorskip("langchain_postgres", reason="is the store")
    database = request.getfixturevalue("new_database")()
    made = postgres.PGEngine.from_connection_string(f"postgresql+psycopg://{database}")
    request.addfinalizer(lambda: asyncio.run(made.close()))
    made.init_vectorstore_table(
        "chunks", SIZE, metadata_columns=[postgres.Column(*each) for each in columns]
    )
    return postgres.PGVectorStore.create_sync(
        made, HashEmbeddings(), "chunks", metadata_columns=[name for name, _ in columns]
    )


def _postgres_collection(request: pytest.FixtureRequest) -> VectorStore:
    """A collection in the two tables that all collections of the older class share."""
    postgres = pytest.importorskip("langchain_postgres", reason="is the store")
    database = request.getfixturevalue("new_database")()
    made = postgres.PGVector(
        HashEmbeddings(),
        connection=f"postgresql+psycopg://{database}",
        collection_name="chunks",
    )
    request.addfinalizer(made._engine.dispose)
    return made


PLACES = (
    Place(
        "langchain-memory",
        "`InMemoryVectorStore`",
        "A filter is a function. Fetching looks at all chunks.",
        _in_memory,
    ),
    Place(
        "langchain-chroma",
        "`Chroma`, in a folder",
        "It stores no None, empty list or dictionary. Searches are approximate: a "
        "large `k` may miss some of the nearest. Small collections can lose a chunk "
        "from search after later adds (1 to 4 of 100 trials). Set "
        "`collection_metadata={'hnsw:M': 64}`.",
        _chroma,
    ),
    Place(
        "langchain-chroma-server",
        "`Chroma`, on `chroma run`",
        "As above.",
        _chroma_server,
    ),
    Place(
        "langchain-faiss",
        "`FAISS` of langchain-community",
        "A search with `filter=` looks among the nearest 20 only: set `fetch_k=`. "
        "It refuses an id that it has. Fetching looks at all chunks.",
        _faiss,
    ),
    Place(
        "langchain-qdrant",
        "`QdrantVectorStore`, in memory",
        "Documents have no `id` but `metadata['_id']`. Ids must be UUIDs, as "
        "oprag's are. Local Qdrant looks at all chunks for each page of a fetch, and "
        "is slow to add to in a folder.",
        _qdrant,
    ),
    Place(
        "langchain-qdrant-folder",
        "`QdrantVectorStore`, in a folder",
        "As above.",
        partial(_qdrant, on_disk=True),
        slow=True,
    ),
    Place(
        "langchain-postgres",
        "`PGVectorStore`",
        "A store from `await PGVectorStore.create(…)` is async only.",
        _postgres,
    ),
    Place(
        "langchain-postgres-columns",
        "`PGVectorStore` with `metadata_columns`",
        "As above.",
        lambda request: _postgres(
            request, ("doc_key", "TEXT"), ("chunk_index", "INTEGER")
        ),
    ),
    Place(
        "langchain-postgres-collection",
        "`PGVector`, the older class",
        "Made with `async_mode=True`, its chunks cannot be read.",
        _postgres_collection,
    ),
)
"""Every LangChain store whose documents can be put together again."""


def _of_tenant_a(document: Any) -> bool:
    return document.metadata["tenant"] == "a"


def _of_qdrant() -> tuple[Any, ...]:
    from qdrant_client import models

    def condition(key: str) -> Any:
        return models.FieldCondition(key=key, match=models.MatchValue(value="a"))

    wanted = [condition("metadata.tenant")]
    other = models.MatchValue(value="b")
    denied = [models.FieldCondition(key="metadata.tenant", match=other)]
    return models.Filter(must=wanted), models.Filter(must_not=denied)


def filters_of(place_id: str) -> tuple[Any, ...]:
    """Filters that admit tenant a and not b, as the store takes them."""
    if "memory" in place_id:
        return (_of_tenant_a,)
    if "qdrant" in place_id:
        return _of_qdrant()
    plain, listed = {"tenant": "a"}, {"tenant": {"$in": ["a", "c"]}}
    if "faiss" in place_id:
        return plain, listed, lambda metadata: metadata["tenant"] == "a"
    either = {"$or": [plain, {"tenant": "c"}]}
    return plain, listed, either, {"$and": [listed, plain]}


AWKWARD_NAMES = (
    "Käse 日本 \"quoted\" o'brien's.txt",
    "https://example.org/a b?q='x'&r=%22#part",
    "nope' OR 'x'='x",
    "'; DROP TABLE chunks; --",
    "C:\\new\\table.txt",
    "doc_key",
)
