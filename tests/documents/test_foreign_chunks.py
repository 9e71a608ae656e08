"""Rows of a document besides oprag's own chunks of it are found."""

import json

import pytest

from oprag.documents import ForeignChunks
from oprag.metadata import chunk_metadata, document_version, text_stamp
from oprag.stores import StoredChunk, make_hit

TEXT = "The lease ends in May. Keys are due the day after. The deposit is two rents."
OTHER = "Water is paid by the tenant. Heating is not. Repairs are ordered in writing."


def own(name: str, text: str = TEXT, overlap: int = 0, **extra):
    """Chunks as oprag writes them."""
    starts = range(0, len(text), 20)
    spans = [(at, min(at + 20 + overlap, len(text)), 0) for at in starts]
    version = document_version("s", [text])
    (row,) = chunk_metadata(name, [spans], version=version)
    row[0].update(text_stamp(text))
    return [
        StoredChunk(text[start:end], {**extra, **entry}, f"own {name} {start}")
        for (start, end, _), entry in zip(spans, row, strict=True)
    ]


def foreign(text: str = TEXT, **metadata):
    """Chunks as a framework's splitter makes them, cut at other places."""
    return [
        StoredChunk(text[start : start + 33].strip(), metadata, f"foreign {start}")
        for start in range(0, len(text), 33)
    ]


def found(chunks, name, document):
    hits = ForeignChunks(map(make_hit, chunks)).of(name, document)
    return [hit.source.id for hit in hits]


def ids(chunks):
    return [chunk.id for chunk in chunks]


@pytest.mark.parametrize("key", ["source", "file_path", "ref_doc_id", "doc_id", "url"])
def test_chunks_of_the_same_name_are_of_the_document_whatever_they_say(key):
    others = foreign("Quite another text by now.", **{key: "lease.txt"})

    stored = [*own("lease.txt"), *others]
    assert found(stored, "lease.txt", own("lease.txt")) == ids(others)


@pytest.mark.parametrize(
    "path", ["docs/lease.txt", "/home/ann/docs/lease.txt", "C:\\docs\\lease.txt"]
)
def test_by_a_longer_path_the_text_decides(path):
    same, another = foreign(source=path), foreign(OTHER, source=path)

    assert found(same, "lease.txt", own("lease.txt")) == ids(same)
    assert found(another, "lease.txt", own("lease.txt")) == []


def test_a_document_that_is_not_stored_yet_is_known_by_its_chunks():
    stored = foreign(source="docs/lease.txt")

    assert found(stored, "docs/lease.txt", own("docs/lease.txt")) == ids(stored)


def test_files_of_other_names_are_left_alone_though_their_text_is_the_same():
    stored = [*foreign(source="docs/copy.txt"), *own("other/copy.txt")]

    assert found(stored, "lease.txt", own("lease.txt")) == []
    assert found(own("b/lease.txt"), "a/lease.txt", own("a/lease.txt")) == []


def test_the_name_that_a_user_keeps_beside_ours_is_another_name():
    mine = own("lease", source="docs/lease.txt")
    others = foreign(source="docs/lease.txt")

    assert found(others, "lease", mine) == ids(others)


def test_a_node_that_llamaindex_keeps_is_read_as_it_reads_it():
    content = {"metadata": {}, "relationships": {"1": {"node_id": "lease"}}}
    node = StoredChunk("Other.", {"_node_content": json.dumps(content)}, "node")

    assert found([node], "lease", own("lease")) == ["node"]
    for other in ("[]", "{}", "3", "no JSON"):
        assert make_hit(StoredChunk("", {"_node_content": other})).document is None


def test_of_a_document_that_is_not_whole_only_the_name_tells():
    others = foreign(source="docs/a.txt")

    assert found(others, "a.txt", own("a.txt")[1:]) == []
    assert found(others, "docs/a.txt", own("docs/a.txt")[1:]) == ids(others)
