"""Indexing into LangChain stores: again, after changes, after a crash."""

from __future__ import annotations

from pathlib import Path

import pytest
from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from langchain_core.vectorstores import InMemoryVectorStore, VectorStore
from langchain_text_splitters import RecursiveCharacterTextSplitter

from langchain_oprag import (
    OffsetSentenceSplitter,
    OffsetTokenSplitter,
    aindex_documents,
    index_documents,
)
from langchain_oprag.stores import chunk_store
from oprag.documents import rebuild
from oprag.errors import IndexingError, InvalidOptionError, PositionWarning
from oprag.metadata import document_key
from tests.support.interrupted import content, whole_documents
from tests.support.killed_indexing import AFTER, BEFORE, vector, write

TEXT = "One sentence. Another one! A third? " * 20


class CountingEmbeddings(Embeddings):
    """Remembers what it was asked to embed."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        self.texts += texts
        return [vector(text) for text in texts]

    def embed_query(self, text: str) -> list[float]:
        return vector(text)


@pytest.fixture
def embeddings() -> CountingEmbeddings:
    return CountingEmbeddings()


@pytest.fixture
def store(embeddings) -> InMemoryVectorStore:
    return InMemoryVectorStore(embeddings)


def texts_of(store: VectorStore, *names: str) -> list[str]:
    chunks = chunk_store(store)
    return [
        rebuild(name, chunks.read({document_key(name): None})).text for name in names
    ]


def document(name: str = "a.txt", text: str = TEXT, **metadata: object) -> Document:
    return Document(text, metadata={"source": name, **metadata})


def test_a_folder_is_indexed_and_every_document_comes_back(tmp_path, store):
    files = {
        "a.txt": "One.\r\nTwo.\n",
        "inner/böse 'n\"ame.md": "Ünï. Code. 🙂 " * 50,
        "inner/z.txt": TEXT,
    }
    (tmp_path / "inner").mkdir()
    for name, text in files.items():
        (tmp_path / name).write_bytes(text.encode())

    report = index_documents(tmp_path, store)

    assert report.added == tuple(files)
    assert texts_of(store, *files) == list(files.values())


def test_what_is_no_text_is_passed_over_and_named(tmp_path, store):
    (tmp_path / "a.txt").write_text("Text.")
    (tmp_path / "image.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    (tmp_path / "zeros").write_bytes(b"a\0b")
    (tmp_path / ".hidden").write_text("Not read.")
    (tmp_path / "outside").symlink_to(__file__)

    report = index_documents(str(tmp_path), store)

    assert report.added == ("a.txt",)
    assert {error.path: error.reason for error in report.skipped} == {
        "image.png": "is not UTF-8 text",
        "outside": "is a link that leads out of the folder or nowhere",
        "zeros": "is binary, not text",
    }


def test_a_file_that_cannot_be_read_any_more_is_not_removed(tmp_path, store):
    (tmp_path / "a.txt").write_text("Text.")
    (tmp_path / "b.txt").write_text("More.")
    index_documents(tmp_path, store)
    (tmp_path / "b.txt").write_bytes(b"\xff")

    report = index_documents(tmp_path, store, remove_missing=True)

    assert report.removed == ()
    assert texts_of(store, "b.txt") == ["More."]


def test_a_folder_that_is_not_there_is_an_error(tmp_path, store):
    with pytest.raises(InvalidOptionError, match="is no folder"):
        index_documents(tmp_path / "missing", store)


def test_indexing_twice_embeds_nothing_and_doubles_nothing(store, embeddings):
    given = [document("a.txt", author="Swift", year=1726, none=None), document("b")]
    index_documents(given, store)
    embedded, before = len(embeddings.texts), content(chunk_store(store))

    report = index_documents(given, store)

    assert report.unchanged == ("a.txt", "b")
    assert len(embeddings.texts) == embedded
    assert content(chunk_store(store)) == before


def test_only_documents_that_changed_are_embedded_again(store, embeddings):
    lines = [f"Sentence number {n}. " for n in range(30)]
    splitter = OffsetTokenSplitter(chunk_size=5, tokenizer="cl100k_base")
    before = [document(text="".join(lines)), document("b.txt")]
    index_documents(before, store, splitter=splitter)
    old = {chunk.id for chunk in chunk_store(store).read()}
    del embeddings.texts[:]
    lines[7] = "Sentence number 8. "

    after = [document(text="".join(lines)), document("b.txt")]
    report = index_documents(after, store, splitter=splitter)

    assert (report.updated, report.unchanged) == (("a.txt",), ("b.txt",))
    assert len(embeddings.texts) == report.chunks_added == report.chunks_deleted
    added = [c for c in chunk_store(store).read() if c.id not in old]
    assert {c.metadata.get("doc_uri") for c in added} == {"a.txt"}
    assert len(added) == report.chunks_added
    assert texts_of(store, "a.txt") == ["".join(lines)]


def test_chunks_added_by_hand_before_are_not_doubled(store):
    splitter = OffsetSentenceSplitter()
    chunks = splitter.split_documents([document()])
    store.add_documents(chunks, ids=[f"own-{n}" for n in range(len(chunks))])

    index_documents([document()], store, splitter=splitter)

    assert len(list(chunk_store(store).read())) == len(chunks)


def test_pages_are_parts_of_one_document(store):
    pages = [document("a.pdf", f"Page {n}. It ends. " * 20, page=n) for n in range(3)]

    report = index_documents([*pages, document("b")], store)

    assert report.added == ("a.pdf", "b")
    rebuilt = rebuild("a.pdf", chunk_store(store).read({document_key("a.pdf"): None}))
    assert rebuilt.parts == tuple(page.page_content for page in pages)
    assert index_documents([*pages], store).unchanged == ("a.pdf",)


def test_an_id_is_of_document_index_text_and_metadata(store):
    given = [document("a.txt", "Short."), document("b.txt", "Short.")]
    ids = []
    for texts in (given, given[:1], [document("a.txt", "Short.", author="Swift")]):
        store.delete(list(store.store))
        index_documents(texts, store)
        ids.append([chunk.id for chunk in chunk_store(store).read()])

    assert ids[1] == ids[0][:1]
    assert len({*ids[0], *ids[2]}) == 3


def test_documents_of_a_generator_are_read_one_at_a_time(store):
    ahead = []

    def generated():
        for number in range(10):
            ahead.append(number - len(store.store))
            yield document(f"{number}", "Short.")

    index_documents(generated(), store, batch_size=2)

    # Two for the batch, and the next one, which may be of the same document.
    assert max(ahead) == 2


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


def test_a_splitter_is_checked(store):
    with pytest.raises(InvalidOptionError, match="cannot split documents"):
        index_documents([document()], store, splitter="sentences")


class Undeleting(InMemoryVectorStore):
    def delete(self, ids=None, **kwargs):
        return False


class Renaming(InMemoryVectorStore):
    def add_documents(self, documents, ids=None, **kwargs):
        return super().add_documents(documents, ids=[f"own-{i}" for i in ids])


class WithoutDelete(InMemoryVectorStore):
    delete = VectorStore.delete


def test_stores_that_cannot_be_indexed_into_are_found_out(embeddings):
    undeleting = Undeleting(embeddings)
    index_documents([document()], undeleting)
    with pytest.raises(IndexingError, match="Undeleting did not delete"):
        index_documents([document(text="Changed.")], undeleting)
    with pytest.raises(IndexingError, match="ids of its own"):
        index_documents([document()], Renaming(embeddings))
    with pytest.raises(InvalidOptionError, match="has no delete"):
        index_documents([document()], WithoutDelete(embeddings))


async def test_awaited_it_does_the_same(tmp_path, embeddings):
    stores = InMemoryVectorStore(embeddings), InMemoryVectorStore(embeddings)
    reports = []
    for files in (BEFORE, AFTER):
        write(tmp_path / "texts", files)
        reports.append(
            (
                index_documents(tmp_path / "texts", stores[0], remove_missing=True),
                await aindex_documents(
                    tmp_path / "texts", stores[1], remove_missing=True
                ),
            )
        )

    assert all(plain == awaited for plain, awaited in reports)
    assert reports[1][1].removed == ("gone.txt",)
    contents = [content(chunk_store(store)) for store in stores]
    assert contents[0] == contents[1]
    assert whole_documents(chunk_store(stores[1])) == {
        name: "\n".join(lines) for name, lines in AFTER.items()
    }


def test_folders_are_named_as_document_source_names_them(tmp_path, store):
    from langchain_oprag import document_source

    write(tmp_path / "texts", BEFORE)
    index_documents(Path(tmp_path / "texts"), store)

    source = document_source(tmp_path / "texts")
    for chunk in chunk_store(store).read():
        text = source.get(chunk.metadata.get("doc_uri"))
        span = slice(chunk.metadata["char_start"], chunk.metadata["char_end"])
        assert text[span] == chunk.text
