"""Chunks as applications write them are read without options."""

from types import SimpleNamespace

import pytest

from oprag import order_context
from oprag.chunk import Hit
from oprag.positions import Identity, identify_documents, read_chunks

NUMBERS = range(12)
MIXED = (7, 2, 10, 0, 5, 11, 9, 1, 3, 8, 6, 4)


def open_webui():
    """A file of a knowledge base: `start_index` counts in the chunk it was cut from."""
    return {
        "name": "report.txt",
        "file_id": "4b1c9d0e-2f",
        "source": "report.txt",
        "hash": "c0ffee",
        "created_by": "u1",
        "embedding_config": '{"engine": "", "model": "m"}',
        "start_index": 0,
    }


SHAPES = {
    "abs_idx": {"artifact_id": "a-1", "collection": "c", "file_name": "report.txt"},
    "chunk_index": {"qfile_id": "9f0", "original_file_name": "r.txt", "chunk_size": 4},
    "chunk_order_int": {"doc_id": "d1", "docnm_kwd": "a.pdf", "page_num_int": [1]},
    "chunk_order": {"document_id": "0c9b", "owner_id": "o", "collection_ids": ["c"]},
    "sort_order": {"url": "https://e.org/a", "level": 2},
}
"""Of PrivateGPT, Quivr, RAGFlow, R2R and a server of documentation."""


IN_ORDER = [f"chunk {n}" for n in NUMBERS]


@pytest.mark.parametrize("key", SHAPES)
def test_position_and_document_are_found_without_options(key):
    texts = [f"chunk {n}" for n in MIXED]
    metadatas = [{**SHAPES[key], key: n} for n in MIXED]

    passages = order_context(texts, metadatas)
    assert [p.text for p in passages] == IN_ORDER
    assert len({p.document_key for p in passages}) == 1


def test_a_knowledge_base_of_open_webui_is_found_in_the_files_text():
    words = [f"word{i} said {i * i} times." for i in range(400)]
    texts = [" ".join(words[i : i + 40]) for i in range(0, 400, 40)]
    mixed = texts[5:] + texts[:5]
    metadatas = [open_webui() for _ in texts]

    with pytest.raises(ValueError, match="documents="):
        order_context(mixed, metadatas)
    passages = order_context(
        mixed, metadatas, documents={"4b1c9d0e-2f": " ".join(words)}
    )
    assert [p.text for p in passages] == texts
    assert {p.document_key for p in passages} == {"4b1c9d0e-2f"}


def test_two_files_of_one_name_are_two_documents():
    metadatas = [{**open_webui(), "file_id": str(n)} for n in range(2)]

    passages = order_context(["one", "two"], metadatas)
    assert [p.document_key for p in passages] == ["0", "1"]


@pytest.mark.parametrize(
    "key", ["abs_idx", "chunk_order", "chunk_order_int", "sort_order"]
)
def test_every_new_key_may_be_an_attribute(key):
    hits = [Hit(f"{n}", {}, subject=SimpleNamespace(**{key: n})) for n in (10, 9)]

    chunks = read_chunks(hits, [Identity("d", "d")] * 2)
    assert [chunk.position for chunk in chunks] == [(0, 10), (0, 9)]


@pytest.mark.parametrize("key", ["document_id", "file_id", "artifact_id"])
def test_so_may_what_names_the_document(key):
    hit = Hit("t", {}, subject=SimpleNamespace(**{key: "x"}))

    assert identify_documents([hit])[0].key == "x"
    named = hit._replace(metadata={"url": "u"})
    assert identify_documents([named])[0].key == "u"  # metadata comes first
