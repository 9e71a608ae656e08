"""Several sources in one store, and what something else wrote of the same files."""

from pathlib import Path
from typing import Any

import pytest
from langchain_core.vectorstores import InMemoryVectorStore
from langchain_text_splitters import RecursiveCharacterTextSplitter
from llama_index.core import Document
from llama_index.core.node_parser import SentenceSplitter, SentenceWindowNodeParser

from oprag.errors import OpragWarning
from oprag.stores import ChunkStore
from tests.kit.frameworks import Held, InLangChain, InLlamaIndex
from tests.kit.interrupted import content
from tests.parity.loaded import Text
from tests.parity.test_indexing import index


@pytest.fixture(params=[InLangChain, InLlamaIndex])
def place(request) -> Held:
    return request.param()


def folder(path: Path, **texts: str) -> Path:
    path.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        (path / f"{name}.txt").write_text(text)
    return path


def names_in(chunks: ChunkStore) -> set[Any]:
    return {chunk.metadata.get("doc_uri") for chunk in chunks.read()}


OF_LANGCHAIN = InLangChain, "for_langchain", "splitter"
OF_LLAMAINDEX = InLlamaIndex, "for_llamaindex", "node_parser"
RECURSIVE = RecursiveCharacterTextSplitter


@pytest.mark.parametrize(
    ("of", "splitter"),
    [
        (OF_LANGCHAIN, RECURSIVE(chunk_size=60, chunk_overlap=0)),
        (OF_LANGCHAIN, RECURSIVE(chunk_size=60, add_start_index=True, chunk_overlap=9)),
        (OF_LLAMAINDEX, SentenceSplitter(chunk_size=60, chunk_overlap=15)),
        (OF_LLAMAINDEX, SentenceWindowNodeParser(window_size=1)),
    ],
)
def test_chunks_of_other_splitters_are_located(of, splitter):
    framework, loads, option = of
    place, split = framework(), {option: splitter}
    texts = ["\n\n".join(f"Part {n} says {n * k}." for n in range(40)) for k in (7, 9)]
    pages = [
        getattr(Text(text, {"source": "a.pdf", "page": n}, "", n), loads)()
        for n, text in enumerate(texts)
    ]

    place.index(pages, **split)

    chunks = list(place.chunks.read())
    for chunk in chunks:
        start, end = chunk.metadata["char_start"], chunk.metadata["char_end"]
        assert texts[chunk.metadata["part_index"]][start:end] == chunk.text
        assert chunk.metadata.get("start_index", start) == start
    assert len(chunks) > 10
    assert place.index(pages, **split).unchanged == ("a.pdf",)


def test_two_folders_with_remove_missing_leave_each_other_alone(tmp_path, place):
    laws = folder(tmp_path / "x" / "docs", a="Law a.", b="Law b.", c="Law c.")
    tales = folder(tmp_path / "y" / "docs", d="Tale d.", e="Tale e.", f="Tale f.")
    for source in (laws, tales, laws, tales):
        report = index(place, source, remove_missing=True)
        assert report.removed == ()
    (laws / "c.txt").unlink()

    assert index(place, tales, remove_missing=True).removed == ()
    assert index(place, laws, remove_missing=True).removed == ("c.txt",)
    assert names_in(place.chunks) == {f"{n}.txt" for n in "abdef"}


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
def test_chunks_of_a_loader_are_counted_and_replaced_when_told(tmp_path, place, key):
    store = place.documents
    source = folder(tmp_path / "texts", **TEXTS)
    number = fill(store, source, key=key)
    alone = type(place)()
    index(alone, source)

    with pytest.warns(OpragWarning, match=f"also holds {number} chunks.*'a.txt', 'b"):
        report = index(place, source)
    assert (report.foreign, report.chunks_foreign) == (("a.txt", "b.txt"), number)
    with pytest.warns(OpragWarning, match=f"also holds {number} chunks"):
        assert index(place, source).unchanged == ("a.txt", "b.txt")

    report = index(place, source, replace="all")
    assert (report.foreign, report.chunks_foreign) == ((), 0)
    assert report.chunks_deleted == number
    assert content(place.chunks) == content(alone.chunks)
    assert index(place, source).foreign == ()
