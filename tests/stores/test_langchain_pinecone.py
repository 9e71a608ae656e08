"""By Pinecone's rules: integers become floats, None is gone, dicts are refused."""

from __future__ import annotations

from typing import Any

from langchain_core.documents import Document
from langchain_core.vectorstores import InMemoryVectorStore, VectorStore

from langchain_oprag import (
    OffsetTokenSplitter,
    diagnose,
    document_source,
    index_documents,
)
from oprag.documents import ChunkStore, StoredChunk
from tests.stores.langchain_places import HashEmbeddings
from tests.stores.sources import UNICODE, pinecone_metadata


class PineconeRulesStore(VectorStore):
    """Keeps documents as LangChain's Pinecone store does, by Pinecone's rules."""

    def __init__(self) -> None:
        self.held = InMemoryVectorStore(HashEmbeddings())

    def add_documents(self, documents: list[Document], **kwargs: Any) -> list[str]:
        kept = [
            Document(document.page_content, metadata=pinecone_metadata(metadata))
            for document in documents
            for metadata in [document.metadata]
        ]
        return self.held.add_documents(kept, **kwargs)

    def delete(self, ids: list[str] | None = None, **kwargs: Any) -> None:
        self.held.delete(ids)

    def similarity_search(self, query: str, k: int = 4, **kwargs: Any):
        return self.held.similarity_search(query, k=k, **kwargs)

    @classmethod
    def from_texts(cls, texts, embedding, metadatas=None, **kwargs: Any):
        raise NotImplementedError


class Chunks(ChunkStore):
    """An application's own way to read a store that is not known."""

    name = "the index"

    def __init__(self, store: PineconeRulesStore) -> None:
        self._store = store

    def read(self, wanted=None, ids=None):
        for row in list(self._store.held.store.values()):
            yield StoredChunk(row["text"], row["metadata"], row["id"])


PAGES = ("The roof leaks. " * 200, "日本語 🙂 ﬁn.\r\n" * 200)


def test_every_document_comes_back_and_nothing_is_doubled():
    store = PineconeRulesStore()
    chunks = Chunks(store)
    splitter = OffsetTokenSplitter(chunk_size=32)
    common = {"source": UNICODE, "author": None}
    parts = [Document(t, metadata={**common, "page": n}) for n, t in enumerate(PAGES)]

    first = index_documents(parts, store, splitter=splitter, chunks=chunks)
    held = dict(store.held.store)
    again = index_documents(parts, store, splitter=splitter, chunks=chunks)

    assert {type(row.metadata["chunk_index"]) for row in chunks.read()} == {float}
    assert first.chunks_added == len(held) > 20
    assert (again.chunks_added, again.chunks_deleted) == (0, 0)
    assert store.held.store == held
    assert document_source(chunks).get(UNICODE) == "\n\n".join(PAGES)
    assert diagnose(chunks).healthy
