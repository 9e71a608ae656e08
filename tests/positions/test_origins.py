"""Positions that count from several texts are not compared."""

import numpy as np
import pytest

from oprag import order_context
from oprag.chunk import Hit
from oprag.errors import MissingPositionError, PositionError
from tests.positions.reading import read_hits


@pytest.mark.parametrize("key", ["Header 1", "Header 2", "header_path", "section"])
def test_start_index_relative_to_sections_is_an_error(key):
    metadatas = [{"source": "s", "start_index": n, key: f"Part {n}"} for n in (0, 40)]

    with pytest.raises(PositionError, match=key) as caught:
        order_context(["a", "b"], metadatas)
    assert caught.value.keys == (key,)


def test_start_index_relative_to_several_parents_is_an_error():
    metadatas = [
        {"source": "s", "start_index": start, "doc_id": parent}
        for start, parent in ((0, "p1"), (40, "p0"))
    ]

    with pytest.raises(PositionError, match="doc_id"):
        order_context(["a", "b"], metadatas, document_key="source")
    passages = order_context(
        ["a", "b"], metadatas, document_key="source", position_keys="start_index"
    )
    assert [p.text for p in passages] == ["a", "b"]


def test_pages_may_each_have_an_id():
    metadatas = [
        {"source": "s", "start_index": 0, "doc_id": f"page-{page}", "page": page}
        for page in (1, 0)
    ]

    passages = order_context(["second", "first"], metadatas)
    assert [p.text for p in passages] == ["first", "second"]


@pytest.mark.parametrize("other", [2, 2.0, "2", np.int64(2)])
def test_one_section_is_one_however_a_store_writes_its_number(other):
    metadatas = [
        {"source": "s", "start_index": start, "section": section}
        for start, section in ((400, 2), (0, other))
    ]

    passages = order_context(["late", "early"], metadatas)
    assert [p.text for p in passages] == ["early", "late"]


@pytest.mark.parametrize("key", ["doc_id", "page", "page_label"])
@pytest.mark.parametrize("value", [[1, 2], np.array([1, 2])])
def test_a_list_is_no_page_and_no_parent(key, value):
    metadatas = [{"source": "s", "start_index": at, key: value} for at in (40, 0)]
    keys = {} if key == "doc_id" else {"position_keys": "start_index"}

    passages = order_context(["late", "early"], metadatas, **keys)
    assert [p.text for p in passages] == ["early", "late"]
    if keys:
        with pytest.raises(MissingPositionError):
            order_context(["late", "early"], metadatas)


@pytest.mark.parametrize(
    "placed",
    [
        [(5, "parent"), (9, "parent")],
        [(0, "document"), (40, "last"), (80, "last")],
        [(90, "document"), (40, "last"), (10, "last")],
        [(50, "document"), (10, "last")],
    ],
)
def test_offsets_in_a_parent_or_of_a_chained_parser_are_an_error(placed):
    hits = [
        Hit(f"tx{start:02}", {}, offsets=(start, start + 4), frame=frame)
        for start, frame in placed
    ]

    with pytest.raises(PositionError):
        read_hits(hits)


def test_one_last_chunk_at_the_end_is_trusted():
    hits = [
        Hit("text", {}, offsets=(50, 54), frame="last"),
        Hit("text", {}, offsets=(10, 14)),
    ]

    assert [chunk.span for chunk in read_hits(hits)] == [(50, 54), (10, 14)]
