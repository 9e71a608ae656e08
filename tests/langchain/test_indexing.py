"""Indexing into LangChain stores: again, after changes, after a crash."""

from __future__ import annotations

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


@pytest.mark.parametrize(
    "splitter",
    [
        RecursiveCharacterTextSplitter(chunk_size=60, chunk_overlap=0),
        RecursiveCharacterTextSplitter(
            chunk_size=60, chunk_overlap=20, add_start_index=True
        ),
    ],
    ids=["plain", "overlap and start_index"],
)
def test_chunks_of_other_splitters_are_located(store, splitter):
    text = "\n\n".join(f"Paragraph {n} says {n * n} things." for n in range(40))
    pages = [document("a.pdf", text, page=3), document("a.pdf", text[:200], page=4)]

    index_documents(pages, store, splitter=splitter)

    for chunk in chunk_store(store).read():
        start, end = chunk.metadata["char_start"], chunk.metadata["char_end"]
        part = chunk.metadata["part_index"]
        assert pages[part - 3].page_content[start:end] == chunk.text
        assert chunk.metadata.get("start_index", start) == start
    assert len(list(chunk_store(store).read())) > 20
    assert index_documents(pages, store, splitter=splitter).unchanged == ("a.pdf",)


def test_chunks_that_are_not_found_are_warned_of(store):
    class Shouting(RecursiveCharacterTextSplitter):
        def split_text(self, text: str) -> list[str]:
            return [piece.upper() for piece in super().split_text(text)]

    with pytest.warns(PositionWarning, match="not found"):
        index_documents([document()], store, splitter=Shouting(chunk_size=400))
    assert not any("char_start" in c.metadata for c in chunk_store(store).read())


def test_the_given_documents_are_not_changed(store):
    given = document(author=None, n_chunks=3)
    before = given.model_copy(deep=True)

    index_documents([given], store)

    assert given == before


def test_an_id_is_a_name_where_there_is_no_other(store):
    report = index_documents([Document("Text.", id="letter 7")], store)

    assert report.added == ("letter 7",)


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
