"""Indexing into LangChain stores: again, after changes, after a crash."""

import pytest
from langchain_core.documents import Document
from langchain_core.vectorstores import InMemoryVectorStore, VectorStore
from langchain_text_splitters import RecursiveCharacterTextSplitter

from langchain_oprag import index_documents
from langchain_oprag.stores import chunk_store
from oprag.errors import IndexingError, InvalidOptionError, PositionWarning
from tests.langchain.corpus import EMBEDDING

TEXT = "One sentence. Another one! A third? " * 20


@pytest.fixture
def store() -> InMemoryVectorStore:
    return InMemoryVectorStore(EMBEDDING)


def document(name: str = "a.txt", text: str = TEXT, **metadata: object) -> Document:
    return Document(text, metadata={"source": name, **metadata})


def test_chunks_that_are_not_found_are_warned_of(store):
    class Shouting(RecursiveCharacterTextSplitter):
        def split_text(self, text: str) -> list[str]:
            return [piece.upper() for piece in super().split_text(text)]

    with pytest.warns(PositionWarning, match="not found"):
        index_documents([document()], store, splitter=Shouting(chunk_size=400))
    assert not any("char_start" in c.metadata for c in chunk_store(store).read())


class Undeleting(InMemoryVectorStore):
    def delete(self, ids=None, **kwargs):
        return False


class Renaming(InMemoryVectorStore):
    def add_documents(self, documents, ids=None, **kwargs):
        return super().add_documents(documents, ids=[f"own-{i}" for i in ids])


class WithoutDelete(InMemoryVectorStore):
    delete = VectorStore.delete


def test_stores_that_cannot_be_indexed_into_are_found_out():
    undeleting = Undeleting(EMBEDDING)
    index_documents([document()], undeleting)
    with pytest.raises(IndexingError, match="Undeleting did not delete"):
        index_documents([document(text="Changed.")], undeleting)
    with pytest.raises(IndexingError, match="ids of its own"):
        index_documents([document()], Renaming(EMBEDDING))
    with pytest.raises(InvalidOptionError, match="has no delete"):
        index_documents([document()], WithoutDelete(EMBEDDING))
