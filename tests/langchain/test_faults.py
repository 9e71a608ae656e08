"""Positions as LangChain's splitters really write them, and other bad input.

Each ends in the right order or in an error that says what is wrong.
"""

import pytest
from langchain_core.documents import Document
from langchain_text_splitters import (
    MarkdownHeaderTextSplitter,
    RecursiveCharacterTextSplitter,
    RecursiveJsonSplitter,
)

from langchain_oprag import OffsetTokenSplitter, OrderPreservingCompressor
from oprag.errors import (
    ConflictingPositionsError,
    MissingDocumentError,
    MissingPositionError,
    PositionError,
)
from tests.kit.handed_out import told
from tests.langchain.corpus import words

SOURCE = {"source": "a.txt"}


def order(chunks, /, **options):
    """As if they had been retrieved last to first."""
    return OrderPreservingCompressor(**options)(chunks[::-1])


def texts(documents):
    return [document.page_content for document in documents]


def by_length(size: int, splitter=RecursiveCharacterTextSplitter, **options):
    defaults = {"chunk_overlap": 0, "add_start_index": True}
    return splitter(chunk_size=size, **{**defaults, **options})


def at(start, text: str = "text", **metadata) -> Document:
    return Document(text, metadata={**SOURCE, "start_index": start, **metadata})


# LangChain's splitters


def test_pieces_of_a_result_are_told_as_such_and_our_splitters_place_them():
    results = order([at(0, "one two three"), at(20, "four five six")])

    for splitter in (by_length(8), by_length(8, add_start_index=False)):
        with pytest.raises(ConflictingPositionsError):
            order(splitter.split_documents(results))
    pieces = OffsetTokenSplitter(chunk_size=2).split_documents(results)
    assert "".join(texts(order(pieces))) == "one two threefour five six"


def test_an_overlap_counted_in_tokens_makes_indexes_minus_one():
    """LangChain subtracts the overlap, in tokens, from a place in characters."""
    text = " ".join(f"word{n % 7} other{n}" for n in range(60))
    splitter = by_length(20, chunk_overlap=6, length_function=words)
    chunks = splitter.create_documents([text], [SOURCE])
    found = [document.metadata["start_index"] for document in chunks]
    assert found == [0, -1, 186, -1, 382, -1, 578, -1, 774]

    with pytest.raises(MissingPositionError, match="start_index=-1"):
        order(chunks)


def test_sections_of_a_markdown_text_start_again_at_zero():
    text = "# A\nsome words here and more\n## B\nthen others follow here\n"
    headers = [("#", "Header 1"), ("##", "Header 2")]
    sections = MarkdownHeaderTextSplitter(headers).split_text(text)
    for section in sections:
        section.metadata.update(SOURCE)
    chunks = by_length(20).split_documents(sections)

    with pytest.raises(PositionError) as caught:
        order(chunks)

    assert "Header 2" in caught.value.keys


def test_pages_start_again_at_zero_and_are_put_in_order_by_their_number():
    pages = [
        Document(text, metadata={**SOURCE, "page": number, "page_label": label})
        for number, (label, text) in enumerate([("i", "a b c d"), ("ii", "e f g h")])
    ]
    chunks = by_length(3).split_documents(pages)
    assert len(chunks) == 6

    assert told(order(chunks)) == told(chunks)


def test_json_has_neither_a_name_nor_a_position():
    chunks = RecursiveJsonSplitter(max_chunk_size=20).create_documents(
        [{"a": "xxxxxxxxx", "b": "yyyyyyyyy"}]
    )

    with pytest.raises(MissingDocumentError):
        order(chunks)
