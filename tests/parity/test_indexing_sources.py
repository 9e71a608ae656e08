"""Several sources in one store, and what something else wrote of the same files."""

from __future__ import annotations

import shutil
import warnings
from pathlib import Path
from typing import Any

import pytest
from langchain_core.vectorstores import InMemoryVectorStore
from langchain_text_splitters import RecursiveCharacterTextSplitter
from llama_index.core import Document, VectorStoreIndex
from llama_index.core.node_parser import SentenceSplitter

import langchain_oprag
import llamaindex_oprag
from oprag.documents import ChunkStore, document_source, rebuild
from oprag.errors import (
    IndexingError,
    InvalidOptionError,
    OpragWarning,
    UnreadableFileError,
)
from oprag.metadata import document_key
from tests.parity.test_indexing import Place, of_langchain, of_llamaindex
from tests.stores.langchain_places import HashEmbeddings
from tests.stores.llamaindex_fakes import ChecksumEmbedding
from tests.support.interrupted import content


def langchain() -> tuple[Place, Any]:
    store = InMemoryVectorStore(HashEmbeddings())
    return of_langchain(store), store


def llamaindex() -> tuple[Place, Any]:
    over = VectorStoreIndex([], embed_model=ChecksumEmbedding())
    return of_llamaindex(over), over


@pytest.fixture(params=[langchain, llamaindex], ids=["langchain", "llamaindex"])
def made(request) -> tuple[Place, Any]:
    return request.param()


@pytest.fixture
def place(made) -> Place:
    return made[0]


def folder(path: Path, **texts: str) -> Path:
    path.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        (path / f"{name}.txt").write_text(text)
    return path


def text_of(chunks: ChunkStore, name: str) -> str:
    return rebuild(name, chunks.read({document_key(name): None})).text


def names_in(chunks: ChunkStore) -> set[Any]:
    return {chunk.metadata.get("doc_uri") for chunk in chunks.read()}


def test_two_folders_with_remove_missing_leave_each_other_alone(tmp_path, place):
    laws = folder(tmp_path / "x" / "docs", a="Law a.", b="Law b.", c="Law c.")
    tales = folder(tmp_path / "y" / "docs", d="Tale d.", e="Tale e.", f="Tale f.")
    for source in (laws, tales, laws, tales):
        report = place.index(source, remove_missing=True)
        assert report.removed == ()
    (laws / "c.txt").unlink()

    assert place.index(tales, remove_missing=True).removed == ()
    assert place.index(laws, remove_missing=True).removed == ("c.txt",)
    assert names_in(place.chunks) == {f"{n}.txt" for n in "abdef"}


def test_a_folder_without_a_text_is_told_with_what_reads_its_files(tmp_path, place):
    notes = tmp_path / "notes"
    notes.mkdir()
    for number in range(7):
        (notes / f"{number}.pdf").write_bytes(b"%PDF-1.3 \xff")

    with pytest.warns(OpragWarning, match="Nothing was indexed") as caught:
        report = place.index(notes)
    message = str(caught[0].message)
    assert "'0.pdf' is not UTF-8 text. " in message
    assert "`oprag index` reads PDF" in message
    assert len(report.skipped) == 7

    folder(notes, a="A text.")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert place.index(notes).added == ("a.txt",)


def test_a_file_by_a_new_name_that_cannot_be_read_is_still_there(tmp_path, place):
    laws = folder(tmp_path / "laws", a="Law a.", b="Law b.", c="Law c.", d="Law d.")
    place.index(laws)
    (laws / "a.txt").rename(tmp_path / "outside.txt")
    (laws / "z.txt").symlink_to(tmp_path / "outside.txt")

    with pytest.warns(OpragWarning, match="kept: 'a.txt'"):
        report = place.index(laws, remove_missing=True)

    assert (report.removed, report.kept) == ((), ("a.txt",))
    (laws / "z.txt").unlink()
    (tmp_path / "outside.txt").rename(laws / "z.txt")
    again = place.index(laws, remove_missing=True)
    assert (again.added, again.removed) == (("z.txt",), ("a.txt",))


@pytest.mark.parametrize("scope", [None, "laws"])
def test_what_was_in_a_folder_that_is_a_link_to_nowhere_stays(tmp_path, place, scope):
    laws = folder(tmp_path / "laws", a="Law a.", b="Law b.", c="Law c.", d="Law d.")
    folder(laws / "sub" / "in", s="Law s.")
    added = place.index(laws, scope=scope).added
    shutil.move(laws / "sub", tmp_path / "gone")
    (laws / "sub").symlink_to(tmp_path / "not mounted")
    (laws / "a.txt").unlink()

    with pytest.warns(OpragWarning, match="Not given, and kept"):
        report = place.index(laws, scope=scope, remove_missing=True)

    assert report.removed == ()
    assert names_in(place.chunks) == {*added}


def test_equal_names_of_two_folders_do_not_replace_each_other(tmp_path, place):
    laws = folder(tmp_path / "laws", readme="Of laws.", a="Law a.")
    tales = folder(tmp_path / "tales", readme="Of tales.", b="Tale b.")
    place.index(laws)

    with pytest.warns(OpragWarning, match=r"from 'laws#\w+'; this run is of 'tales#"):
        report = place.index(tales, remove_missing=True)

    ((name, error),) = report.failed
    assert (name, type(error)) == ("readme.txt", UnreadableFileError)
    assert report.added == ("b.txt",)
    assert text_of(place.chunks, "readme.txt") == "Of laws."


def test_named_sources_have_documents_of_equal_names(tmp_path, place):
    laws = folder(tmp_path / "laws", readme="Of laws.", a="Law a.", c="Law c.")
    tales = folder(tmp_path / "tales", readme="Of tales.", a="Tale a.")
    (tales / "x.png").write_bytes(b"\x89PNG")
    for _ in range(2):
        place.index(laws, scope="laws", remove_missing=True)
        report = place.index(tales, scope="tales", remove_missing=True)
    (laws / "c.txt").unlink()
    removed = place.index(laws, scope="laws", remove_missing=True).removed

    assert report.unchanged == ("tales/a.txt", "tales/readme.txt")
    assert removed == ("laws/c.txt",)
    assert text_of(place.chunks, "laws/readme.txt") == "Of laws."
    assert text_of(place.chunks, "tales/readme.txt") == "Of tales."
    # Named like their folders, they are found in the folder around them.
    assert document_source(tmp_path).get("tales/readme.txt") == "Of tales."


def test_a_folder_is_known_however_it_is_called(tmp_path, place, monkeypatch):
    laws = folder(tmp_path / "laws", a="Law a.")
    (tmp_path / "link").symlink_to(laws)
    place.index(laws)
    monkeypatch.chdir(tmp_path)

    for path in ("laws", str(laws), "./laws/", "link"):
        assert place.index(Path(path)).unchanged == ("a.txt",)


def test_a_folder_that_moved_is_taken_over_when_told(tmp_path, place):
    place.index(folder(tmp_path / "laws", a="Law a.", b="Law b."))
    shutil.move(tmp_path / "laws", tmp_path / "moved")

    with pytest.raises(IndexingError, match='pass replace="all" once'):
        place.index(tmp_path / "moved")
    assert place.index(tmp_path / "moved", replace="all").updated == ("a.txt", "b.txt")
    assert place.index(tmp_path / "moved", remove_missing=True).unchanged == (
        "a.txt",
        "b.txt",
    )
    assert len(list(place.chunks.read())) == 2


@pytest.mark.parametrize("scope", ["", " ", "/", "a\0b", 3])
def test_a_scope_is_a_name(tmp_path, place, scope):
    with pytest.raises(InvalidOptionError, match="takes a name"):
        place.index(folder(tmp_path, a="Text."), scope=scope)


TEXTS = {
    "a": "\n\n".join(f"Paragraph {n} of a says {n * 7}." for n in range(20)),
    "b": "\n\n".join(f"Paragraph {n} of b says {n * 9}." for n in range(20)),
}


def fill(store: Any, source: Path, *, key: str) -> int:
    """Put the files into a store as the framework's own loaders and splitters do."""
    paths = sorted(source.glob("*.txt"))
    if isinstance(store, InMemoryVectorStore):
        from langchain_core.documents import Document as LangChainDocument

        texts = [
            LangChainDocument(path.read_text(), metadata={key: str(path)})
            for path in paths
        ]
        splitter = RecursiveCharacterTextSplitter(chunk_size=200, chunk_overlap=20)
        return len(store.add_documents(splitter.split_documents(texts)))
    documents = [
        Document(text=path.read_text(), id_=str(path), metadata={key: str(path)})
        for path in paths
    ]
    nodes = SentenceSplitter(chunk_size=60, chunk_overlap=10)(documents)
    store.insert_nodes(nodes)
    return len(nodes)


@pytest.mark.parametrize("key", ["source", "file_path"])
def test_chunks_of_a_loader_are_counted_and_replaced_when_told(tmp_path, made, key):
    place, store = made
    source = folder(tmp_path / "texts", **TEXTS)
    number = fill(store, source, key=key)
    alone = (langchain if isinstance(store, InMemoryVectorStore) else llamaindex)()[0]
    alone.index(source)

    with pytest.warns(OpragWarning, match=f"also holds {number} chunks.*'a.txt', 'b"):
        report = place.index(source)
    assert (report.foreign, report.chunks_foreign) == (("a.txt", "b.txt"), number)
    with pytest.warns(OpragWarning, match=f"also holds {number} chunks"):
        assert place.index(source).unchanged == ("a.txt", "b.txt")

    report = place.index(source, replace="all")
    assert (report.foreign, report.chunks_foreign) == ((), 0)
    assert report.chunks_deleted == number
    assert content(place.chunks) == content(alone.chunks)
    assert place.index(source).foreign == ()


def test_other_documents_of_a_loader_stay(tmp_path, made):
    place, store = made
    other = "Water is paid by the tenant. Heating is not. " * 9
    fill(store, folder(tmp_path / "others", a=other, z=other), key="source")
    before = content(place.chunks)

    report = place.index(folder(tmp_path / "texts", **TEXTS), replace="all")

    assert report.added == ("a.txt", "b.txt")
    assert [row for row in content(place.chunks) if row in before] == before


def test_a_document_by_another_name_is_counted_and_replaced_when_told(tmp_path, made):
    place, store = made
    source = folder(tmp_path / "texts", **TEXTS)
    by_path = _documents(store, source)
    before = _indexed(store, by_path)

    with pytest.warns(OpragWarning, match=f"also holds {before} chunks"):
        assert place.index(source).foreign == ("a.txt", "b.txt")
    report = place.index(source, replace="all")

    assert report.removed == tuple(f"{source}/{name}.txt" for name in "ab")
    assert names_in(place.chunks) == {"a.txt", "b.txt"}


def _documents(store: Any, source: Path) -> list[Any]:
    paths = sorted(source.glob("*.txt"))
    if isinstance(store, InMemoryVectorStore):
        from langchain_core.documents import Document as LangChainDocument

        return [
            LangChainDocument(path.read_text(), metadata={"source": str(path)})
            for path in paths
        ]
    return [Document(text=path.read_text(), id_=str(path)) for path in paths]


def _indexed(store: Any, documents: list[Any]) -> int:
    if isinstance(store, InMemoryVectorStore):
        return langchain_oprag.index_documents(documents, store).chunks_added
    return llamaindex_oprag.index_documents(documents, store).chunks_added


def test_what_refresh_ref_docs_adds_is_seen_and_mended():
    place, over = llamaindex()
    before = [Document(text=text, id_=name) for name, text in TEXTS.items()]
    llamaindex_oprag.index_documents(before, over)
    after = [Document(text=f"New. {text}", id_=name) for name, text in TEXTS.items()]
    over.refresh_ref_docs(after)
    clean = llamaindex()[1]
    llamaindex_oprag.index_documents(after, clean)

    with pytest.warns(OpragWarning, match="also holds .* chunks of these documents"):
        report = llamaindex_oprag.index_documents(after, over)
    assert report.foreign == ("a", "b")
    llamaindex_oprag.index_documents(after, over, replace="all")

    stored = llamaindex_oprag.chunk_store
    assert content(place.chunks) == content(stored(clean))
    found = over.as_retriever(similarity_top_k=500).retrieve("x")
    assert len(found) == len(list(stored(clean).read()))
