"""`annotate_positions`: wrong and missing positions are repaired."""

from __future__ import annotations

import copy

import pytest
from langchain_core.documents import Document
from langchain_text_splitters import (
    CharacterTextSplitter,
    RecursiveCharacterTextSplitter,
)

from langchain_oprag import OrderPreservingCompressor, annotate_positions
from oprag.errors import DocumentNotFoundError, PositionWarning
from tests.kit.handed_out import ids_and_texts

TEXT = "\n".join(
    f"Line {n} of the licence.\nAll rights reserved.\nNo warranty is given at all."
    for n in range(60)
)


def _chunks(splitter):
    return splitter.split_documents([Document(TEXT, metadata={"source": "l.txt"})])


def test_all_keys_are_written_and_nothing_given_is_changed():
    chunks = _chunks(
        CharacterTextSplitter(separator="\n", chunk_size=80, chunk_overlap=0)
    )
    before = copy.deepcopy(chunks)

    annotated = annotate_positions(chunks, {"l.txt": TEXT})
    assert chunks == before
    for index, chunk in enumerate(annotated):
        metadata = chunk.metadata
        assert metadata["source"] == metadata.get("doc_uri") == "l.txt"
        assert len(metadata["doc_key"]) == 16
        assert (metadata["chunk_index"], metadata["n_chunks"]) == (index, len(chunks))
        assert "part_index" not in metadata


def test_what_cannot_be_proved_is_reported_and_still_in_order():
    text = "alpha beta gamma delta"
    chunks = [
        Document(part, metadata={"source": "a", "start_index": 7})
        for part in ("alpha", "BETA was altered", "gamma delta")
    ]

    with pytest.warns(
        PositionWarning, match="1 cannot be placed .not found; first: chunk 1"
    ):
        annotated = annotate_positions(chunks, {"a": text})
    assert "char_start" not in annotated[1].metadata
    assert "start_index" not in annotated[1].metadata
    assert annotated[2].metadata["char_start"] == 11
    ordered = OrderPreservingCompressor().transform_documents(annotated[::-1])
    assert ids_and_texts(ordered) == ids_and_texts(annotated)


def test_pages_are_annotated_as_parts_of_one_document():
    pages = [
        Document(text, metadata={"source": "a.pdf", "page": page})
        for page, text in enumerate(("same words here", "same words here", "the end"))
    ]
    chunks = [
        Document(text, metadata=page.metadata)
        for page in pages
        for text in (page.page_content[:4], page.page_content[5:])
        if text.strip()
    ]

    annotated = annotate_positions(chunks, pages)
    places = [
        (d.metadata["part_index"], d.metadata["char_start"], d.metadata["chunk_index"])
        for d in annotated
    ]
    assert places == [(0, 0, 0), (0, 5, 1), (1, 0, 2), (1, 5, 3), (2, 0, 4), (2, 5, 5)]
    assert {d.metadata["n_chunks"] for d in annotated} == {6}
    ordered = OrderPreservingCompressor().transform_documents(annotated[::-1])
    assert [d.page_content for d in ordered] == [d.page_content for d in chunks]


@pytest.mark.parametrize("as_mapping", [True, False])
def test_chunks_of_several_documents_get_places_each_in_its_own(as_mapping):
    texts = {"b.txt": "Boats wait here. Boats leave.", "a.txt": "Boats leave. At noon."}
    loaded = [Document(text, metadata={"source": name}) for name, text in texts.items()]
    splitter = RecursiveCharacterTextSplitter(chunk_size=16, chunk_overlap=0)
    chunks = splitter.split_documents(loaded)
    mixed = [*chunks[2:], *chunks[:2]]

    annotated = annotate_positions(mixed, texts if as_mapping else loaded)

    assert ids_and_texts(annotated) == ids_and_texts(mixed)
    for document in annotated:
        metadata = document.metadata
        start, end = metadata["char_start"], metadata["char_end"]
        assert texts[metadata["source"]][start:end] == document.page_content
        assert metadata["n_chunks"] == 2
    with pytest.raises(DocumentNotFoundError, match="document 'b"):
        annotate_positions(chunks, {"a.txt": ""})
