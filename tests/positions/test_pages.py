"""Chunks without an offset, at the beginnings of their pages."""

import pytest

from oprag import order_context
from oprag.chunk import Hit
from oprag.context import write_place
from oprag.errors import MissingPositionError
from oprag.metadata import text_hash
from oprag.ordering import document_order
from tests.positions.reading import read_hits


@pytest.mark.parametrize(
    ("page", "document", "expected"),
    [
        (3, None, [(1, 20, 24), (2, 0, 4), (2, 30, 34), (3,)]),
        (2, None, [(1, 20, 24), (2,), (2, 0, 4), (2, 30, 34)]),
        (2, "cut", [(1, 20, 24), (2, 0, 4), (2, 30, 34), None]),
        (None, None, [(1, 20, 24), (2, 0, 4), (2, 30, 34), None]),
    ],
)
def test_a_chunk_without_offsets_stands_at_its_page_or_behind_the_others(
    page, document, expected
):
    rows = [(30, 2), (0, 2), (20, 1)]
    hits = [
        Hit("text", {"page": page}, document="cut", offsets=(start, start + 4))
        for start, page in rows
    ]
    hits.insert(1, Hit("table", {"page": page}, document=document))
    problems = {}

    chunks = read_hits(hits, problems=problems)
    assert [chunk.position for chunk in document_order(chunks)] == expected
    assert bool(problems) == (None in expected)


def test_a_result_in_the_whole_text_is_not_ordered_beside_a_chunk_of_a_page():
    text = "On page 2."
    result = {"oprag": f"0 1030-1040 r{text_hash(text)}"}
    metadatas = [
        {"source": "a.pdf", "page": 2, **result},
        {"source": "a.pdf", "page": 1, "start_index": 20},
    ]

    with pytest.raises(MissingPositionError):
        order_context([text, "On page 1."], metadatas)


def test_a_table_takes_no_characters_away_from_chunks_of_other_pages():
    metadatas = [{"source": "s", "page": page, "start_index": 0} for page in (0, 1)]
    metadatas.append({"source": "s", "page": 2})

    for _ in range(2):  # of results, too
        read = order_context(["a", "b", "table"], metadatas)
        assert [passage.chunks[0].span for passage in read] == [(0, 1), (0, 1), None]
        metadatas = [write_place(p, m) for m, p in zip(metadatas, read, strict=True)]


def test_a_table_is_at_no_page_of_another_count_than_that_of_the_other_chunks():
    hits = [
        Hit(text, {"page": page, "page_number": page + 1, "start_index": start})
        for text, page, start in (("a", 0, 0), ("b", 0, 9), ("c", 1, 0))
    ]
    problems = {}

    read_hits([*hits, Hit("table", {"page_number": 3})], problems=problems)
    assert problems


def test_two_tables_of_a_page_have_no_known_order():
    hits = [Hit(text, {"page": 2}) for text in ("table", "other")]
    hits.append(Hit("text", {"page": 1, "start_index": 0}))
    problems = {}

    read = read_hits(hits, problems=problems)
    assert [chunk.position for chunk in read] == [None, None, (1, 0, 4)]
    assert problems["d"].kind == "missing_position"
