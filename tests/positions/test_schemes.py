"""The places that the known keys give to chunks."""

import pytest

from oprag import order_context
from oprag.chunk import Hit
from oprag.errors import MissingPositionError
from oprag.metadata import text_hash
from oprag.positions import Identity, read_chunks
from tests.positions.reading import read_hits, read_positions


@pytest.mark.parametrize(
    ("metadata", "position", "span"),
    [
        ({"char_start": 5, "char_end": 9}, (0, 5, 9), (5, 9)),
        ({"char_start": 5, "char_end": 9, "part_index": 2}, (2, 5, 9), (5, 9)),
        (
            {"char_start": 5, "char_end": 9, "start_index": 0, "chunk_index": 3},
            (0, 5, 9),
            (5, 9),
        ),
        ({"start_index": 5}, (0, 5, 9), (5, 9)),
        ({"start_index": 5, "page": 3}, (3, 5, 9), (5, 9)),
        ({"start_index": 5, "page": 3, "page_label": "iv"}, (3, 5, 9), (5, 9)),
        ({"start_index": 5, "page_label": "12"}, (12, 5, 9), (5, 9)),
        ({"start_index": 5, "row": 8}, (8, 5, 9), (5, 9)),
        ({"start_char_idx": 5, "end_char_idx": 9}, (0, 5, 9), (5, 9)),
        (
            {"start_char_idx": 5, "end_char_idx": 9, "page_label": "2"},
            (2, 5, 9),
            (5, 9),
        ),
        ({"split_idx_start": 5, "split_id": 1, "page_number": 2}, (0, 5, 9), (5, 9)),
        ({"chunk_index": 5}, (0, 5), None),
        ({"chunk_index": 5, "page": 1}, (1, 5), None),
        ({"split_id": 5}, (0, 5), None),
        ({"loc.lines.from": 5}, (0, 5), None),
        ({"loc": {"lines": {"from": 5}, "pageNumber": 2}}, (2, 5), None),
        ({"page": 5}, (5,), None),
        ({"page_number": 5}, (5,), None),
        ({"page_label": "5"}, (5,), None),
        ({"seq_num": 5}, (5,), None),
        ({"row": 5}, (5,), None),
        ({"page": 5, "page_label": "i"}, (5,), None),
    ],
)
def test_known_keys(metadata, position, span):
    (chunk,) = read_hits([Hit("text", metadata)])

    assert chunk.position == position
    assert chunk.span == span


def test_one_document_uses_one_scheme_that_all_its_chunks_have():
    metadatas = [{"start_index": 900, "chunk_index": 1}, {"chunk_index": 0}]

    assert read_positions(metadatas) == [(0, 1), (0, 0)]


@pytest.mark.parametrize("key", ["start_seconds", "start_time"])
def test_seconds_order_a_talk_unless_all_its_chunks_have_one(key):
    assert read_positions([{key: 12.5}, {key: 3}]) == [(0, 12.5), (0, 3)]
    whole = {key: 3}
    assert read_positions([whole | {"page": 2}, whole | {"page": 1}]) == [(2,), (1,)]
    for seconds in (float("nan"), float("inf"), -1.5, True):
        with pytest.raises(MissingPositionError):
            read_positions([{key: seconds}, {key: 3}])


def test_two_documents_may_use_different_schemes():
    hits = [Hit("text", {"start_index": 5}), Hit("text", {"chunk_index": 3})]

    chunks = read_chunks(hits, [Identity("a", "a"), Identity("b", "b")])
    assert [chunk.position for chunk in chunks] == [(0, 5, 9), (0, 3)]


def test_a_page_on_only_some_chunks_leaves_the_offsets_without_scope():
    with pytest.raises(MissingPositionError):
        read_positions([{"start_index": 5, "page": 0}, {"start_index": 9}])


@pytest.mark.parametrize("metadata", [{"page": "Pricing"}, {"row": "A"}])
def test_offsets_in_the_one_text_of_all_chunks_need_no_number_of_a_page(metadata):
    hits = [
        Hit(f"tx{at:02}", metadata, document="d", offsets=(at, at + 4))
        for at in (40, 0)
    ]

    assert [chunk.position for chunk in read_hits(hits)] == [(0, 40, 44), (0, 0, 4)]
    with pytest.raises(MissingPositionError):  # or pages of a file
        read_chunks(hits, [Identity("a.pdf", "a.pdf")] * 2)


@pytest.mark.parametrize(
    "metadata",
    [
        {"char_start": 9, "char_end": 5},
        {"char_start": 9, "char_end": -1},
        {"char_start": 9, "char_end": "x"},
        {"start_char_idx": 9, "end_char_idx": 5},
    ],
)
def test_an_end_that_cannot_be_one_is_not_claimed(metadata):
    assert read_positions([metadata]) == [(0, 9, 9)]


def test_a_text_of_another_length_than_recorded_says_where_it_begins_alone():
    metadatas = [
        {"source": "s", "char_start": 40, "char_end": 60},
        {"source": "s", "char_start": 0, "char_end": 7},
    ]
    for text, metadata in zip(("its own text", "the end"), metadatas, strict=True):
        metadata["chunk_hash"] = text_hash(text)

    passages = order_context(["a longer text than that", "the end"], metadatas)

    assert [p.text for p in passages] == ["the end", "a longer text than that"]
    assert [p.exact for p in passages] == [True, False]
    assert passages[1].citation == "s, from character 40"
