"""The LangChain stores that the tests run on, and what is put into them."""

from __future__ import annotations

import asyncio
import hashlib
import uuid
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from langchain_core.vectorstores import InMemoryVectorStore, VectorStore

SIZE = 8
"""Numbers of an embedding."""

BATCH = 5_000
"""Chunks added in one call; Chroma takes 5,461 at most."""

Fixture = Callable[[str], Any]
"""Gives a fixture by its name when it is needed: a server may be missing."""


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
    """Short and fixed: `pytest tests/stores -k ID` runs one."""
    store: str
    """Class and how the store is run, in Markdown."""
    watch_for: str
    """In Markdown, empty for nothing."""
    make: Callable[[Path, Fixture], AbstractContextManager[VectorStore]]
    """Takes an empty folder, and where the servers are asked for."""
    slow: bool = False
    """Whether it takes more than half a minute to add some thousand chunks."""
    documents: str = "the store"
    """The argument of `document_source`, in Markdown."""

    @property
    def name(self) -> str:
        """The id."""
        return self.id


@contextmanager
def _in_memory(folder: Path, fixture: Fixture) -> Iterator[VectorStore]:
    yield InMemoryVectorStore(HashEmbeddings())


_MORE_NEIGHBOURS = {"hnsw:M": 64}
"""Without it a few chunks that are added after a search may be lost to every search."""


@contextmanager
def _chroma(folder: Path, fixture: Fixture) -> Iterator[VectorStore]:
    from langchain_chroma import Chroma

    yield Chroma(
        "chunks",
        HashEmbeddings(),
        persist_directory=str(folder),
        collection_metadata=_MORE_NEIGHBOURS,
    )


@contextmanager
def _chroma_server(folder: Path, fixture: Fixture) -> Iterator[VectorStore]:
    from chromadb import HttpClient
    from langchain_chroma import Chroma

    client = HttpClient("127.0.0.1", fixture("chroma_port"))
    store = Chroma(
        f"chunks-{uuid.uuid4().hex}",
        HashEmbeddings(),
        client=client,
        collection_metadata=_MORE_NEIGHBOURS,
    )
    yield store
    store.delete_collection()
    for part in (client, client._admin_client):  # Chroma leaves connections open
        part._server._session.close()


@contextmanager
def _faiss(folder: Path, fixture: Fixture) -> Iterator[VectorStore]:
    faiss = pytest.importorskip("faiss", reason="searches FAISS stores")
    from langchain_community.docstore.in_memory import InMemoryDocstore
    from langchain_community.vectorstores import FAISS

    yield FAISS(HashEmbeddings(), faiss.IndexFlatL2(SIZE), InMemoryDocstore(), {})


def _qdrant(*, on_disk: bool) -> Any:
    @contextmanager
    def make(folder: Path, fixture: Fixture) -> Iterator[VectorStore]:
        qdrant = pytest.importorskip("qdrant_client", reason="is Qdrant, local")
        from langchain_qdrant import QdrantVectorStore

        with closing(
            qdrant.QdrantClient(path=str(folder))
            if on_disk
            else qdrant.QdrantClient(":memory:")
        ) as client:
            client.create_collection(
                "chunks",
                vectors_config=qdrant.models.VectorParams(
                    size=SIZE, distance=qdrant.models.Distance.COSINE
                ),
            )
            yield QdrantVectorStore(client, "chunks", HashEmbeddings())

    return make


def _postgres(*columns: tuple[str, str]) -> Any:
    """A table whose metadata are JSON, or that has columns for some of them."""

    @contextmanager
    def make(folder: Path, fixture: Fixture) -> Iterator[VectorStore]:
        postgres = pytest.importorskip("langchain_postgres", reason="is the store")
        with _engine(fixture("new_database")()) as made:
            made.init_vectorstore_table(
                "chunks",
                SIZE,
                metadata_columns=[postgres.Column(*column) for column in columns],
            )
            yield postgres.PGVectorStore.create_sync(
                made,
                HashEmbeddings(),
                "chunks",
                metadata_columns=[name for name, _ in columns],
            )

    return make


@contextmanager
def _engine(database: str) -> Iterator[Any]:
    from langchain_postgres import PGEngine

    made = PGEngine.from_connection_string(f"postgresql+psycopg://{database}")
    try:
        yield made
    finally:  # also where the table cannot be made: no connection is left open
        asyncio.run(made.close())


PLACES = (
    Place(
        "langchain-memory",
        "`InMemoryVectorStore`",
        "A filter is a function. A fetch looks at all chunks of the store.",
        _in_memory,
    ),
    Place(
        "langchain-chroma",
        "`Chroma`, in a folder",
        "None, lists without entries and dictionaries are no metadata. A search is "
        "approximate: with a large `k` some of the nearest may be missing. Of a few "
        "dozen chunks, added to after a search, one was never found again in 1 to 4 of "
        "100 trials: make it with `collection_metadata={'hnsw:M': 64}`.",
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
        "A search with `filter=` looks among the nearest 20 only, unless `fetch_k=` "
        "says more. An id that is there is refused. A fetch looks at all chunks.",
        _faiss,
    ),
    Place(
        "langchain-qdrant",
        "`QdrantVectorStore`, in memory",
        "Found documents have no `id` (it is `metadata['_id']`); ids must be UUIDs, as "
        "oprag's are. Local Qdrant looks at all chunks for every page of a fetch.",
        _qdrant(on_disk=False),
    ),
    Place(
        "langchain-qdrant-folder",
        "`QdrantVectorStore`, in a folder",
        "As above; adding is slow.",
        _qdrant(on_disk=True),
        slow=True,
    ),
    Place(
        "langchain-postgres",
        "`PGVectorStore`",
        "Made by `create` on an engine without a loop of its own, it can only be "
        "awaited.",
        _postgres(),
    ),
    Place(
        "langchain-postgres-columns",
        "`PGVectorStore` with `metadata_columns`",
        "As above.",
        _postgres(("doc_key", "TEXT"), ("chunk_index", "INTEGER")),
    ),
)
"""Every LangChain store whose documents can be put together again."""


def add(store: VectorStore, chunks: list[Document]) -> None:
    """Put chunks into a store under their own ids."""
    for start in range(0, len(chunks), BATCH):
        batch = chunks[start : start + BATCH]
        store.add_documents(batch, ids=[chunk.id or "" for chunk in batch])


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
