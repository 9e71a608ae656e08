"""The place of a chunk in its document."""

import math
from decimal import Decimal
from types import SimpleNamespace

import numpy as np
import pytest

from oprag import order_context
from oprag.chunk import Hit
from oprag.context import write_place
from oprag.errors import (
    ConflictingPositionsError,
    MissingPositionError,
    PositionError,
    PositionWarning,
)
from oprag.metadata import as_number, text_hash
from oprag.ordering import document_order
from oprag.positions import Identity, read_chunks


def _read(hits, **options):
    return read_chunks(hits, [Identity("d", "d")] * len(hits), **options)


def _positions(metadatas, **options):
    hits = [Hit(f"tx{i:02}", metadata) for i, metadata in enumerate(metadatas)]
    return [chunk.position for chunk in _read(hits, **options)]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (0, 0),
        (7, 7),
        (2**53 + 1, 2**53 + 1),
        (7.0, 7),
        ("7", 7),
        (" 10 ", 10),
        (np.int64(7), 7),
        (np.float32(7), 7),
        (Decimal(7), 7),
        (Decimal("NaN"), None),
        (7j, None),
        (np.array([7]), None),
        (-1, None),
        (-1.0, None),
        ("-1", None),
        (7.5, None),
        (math.nan, None),
        (math.inf, None),
        (1e308, None),
        (10**400, None),
        (True, None),
        (None, None),
        ("iv", None),
        ("", None),
        ("٣", None),  # a digit, but not an ASCII one
        ("d41d8cd98f00b204", None),
        ("1234567890123456", None),  # 16 digits: an id, not a place
        ([7], None),
    ],
)
def test_what_is_a_position_and_what_is_not(value, expected):
    assert as_number(value) == expected


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
    (chunk,) = _read([Hit("text", metadata)])

    assert chunk.position == position
    assert chunk.span == span


def test_one_document_uses_one_scheme_that_all_its_chunks_have():
    metadatas = [{"start_index": 900, "chunk_index": 1}, {"chunk_index": 0}]

    assert _positions(metadatas) == [(0, 1), (0, 0)]


def test_two_documents_may_use_different_schemes():
    hits = [Hit("text", {"start_index": 5}), Hit("text", {"chunk_index": 3})]

    chunks = read_chunks(hits, [Identity("a", "a"), Identity("b", "b")])
    assert [chunk.position for chunk in chunks] == [(0, 5, 9), (0, 3)]


@pytest.mark.parametrize(
    "metadata",
    [
        {},
        {"element_id": "9f8e7d"},
        {"chunk_id": "c0ffee"},
        {"chunk_index": "b1946ac92492d234"},
        {"start_index": None},
        {"start_index": math.nan},
        {"page_label": "iv"},
    ],
)
def test_no_usable_position_is_an_error_that_names_the_keys_found(metadata):
    with pytest.raises(MissingPositionError) as caught:
        _positions([{"title": "x", **metadata}] * 2)
    assert caught.value.keys == tuple(sorted(["title", *metadata]))
    assert isinstance(caught.value, ValueError)


def test_a_page_on_only_some_chunks_leaves_the_offsets_without_scope():
    with pytest.raises(MissingPositionError):
        _positions([{"start_index": 5, "page": 0}, {"start_index": 9}])


@pytest.mark.parametrize("key", ["page", "chunk_index"])
def test_two_chunks_of_a_page_or_of_one_number_have_no_known_order(key):
    metadatas = [{"source": "a.pdf", key: 2}, {"source": "a.pdf", key: 2}]

    with pytest.raises(ConflictingPositionsError) as caught:
        order_context(["one", "two"], metadatas)
    assert caught.value.position[-1] == 2
    assert caught.value.ranks == (0, 1)
    with pytest.warns(PositionWarning, match="ambiguous_position"):
        passages = order_context(["one", "two"], metadatas, on_problem="warn")
    assert [p.text for p in passages] == ["one", "two"]


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

    chunks = _read(hits, problems=problems)
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

    _read([*hits, Hit("table", {"page_number": 3})], problems=problems)
    assert problems


def test_two_tables_of_a_page_have_no_known_order():
    hits = [Hit(text, {"page": 2}) for text in ("table", "other")]
    hits.append(Hit("text", {"page": 1, "start_index": 0}))
    problems = {}

    read = _read(hits, problems=problems)
    assert [chunk.position for chunk in read] == [None, None, (1, 0, 4)]
    assert problems["d"].kind == "missing_position"


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


@pytest.mark.parametrize("metadata", [{"page": "Pricing"}, {"row": "A"}])
def test_offsets_in_the_one_text_of_all_chunks_need_no_number_of_a_page(metadata):
    hits = [
        Hit(f"tx{at:02}", metadata, document="d", offsets=(at, at + 4))
        for at in (40, 0)
    ]

    assert [chunk.position for chunk in _read(hits)] == [(0, 40, 44), (0, 0, 4)]
    with pytest.raises(MissingPositionError):  # or pages of a file
        read_chunks(hits, [Identity("a.pdf", "a.pdf")] * 2)


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
        _read(hits)


def test_one_last_chunk_at_the_end_is_trusted():
    hits = [
        Hit("text", {}, offsets=(50, 54), frame="last"),
        Hit("text", {}, offsets=(10, 14)),
    ]

    assert [chunk.span for chunk in _read(hits)] == [(50, 54), (10, 14)]


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
    assert _positions([metadata]) == [(0, 9, 9)]


@pytest.mark.parametrize(
    "metadata",
    [
        {},
        {"start_index": -1},
        {"page_label": "iv"},
        {"chunk_index": "b1946ac92492d234"},
    ],
)
@pytest.mark.parametrize("problems", [None, {}])
def test_a_chunk_that_is_alone_in_its_document_needs_no_position(metadata, problems):
    hits = [Hit("one", metadata), Hit("two", metadata), Hit("one", metadata)]
    documents = [Identity(key, key) for key in "aba"]  # one text came twice

    chunks = read_chunks(hits, documents, problems=problems)
    assert not problems
    assert [(c.position, c.span) for c in chunks] == [(None, None)] * 3


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


def test_a_window_around_a_sentence_does_not_say_where_it_begins():
    place = {"source": "s", "start_index": 40, "original_text": "a sentence"}

    (passage,) = order_context(["before, a sentence"], [place])
    (again,) = order_context(["before, a sentence"], [write_place(passage, place)])
    assert passage.citation == again.citation == "s"
    assert order_context(["a sentence"], [place])[0].spans == ((40, 50),)
    for nothing in (None, ""):
        (sentence,) = order_context(
            ["a sentence"], [place | {"original_text": nothing}]
        )
        assert sentence.spans == ((40, 50),)


def test_a_window_that_its_document_has_twice_may_have_a_list_for_a_parent():
    place = {"source": "s", "doc_id": ["p"], "start_index": 3, "original_text": "one."}
    keys = {"document_key": "source", "documents": {"s": "No one. No one."}}

    assert order_context(["No one."], [place], **keys)[0].citation == "s"


HEADER = "From the lease of 1807, about rent and repairs.\n"


@pytest.mark.parametrize("overlap", [0, 20])
def test_one_header_before_every_chunk_explains_what_disagrees(overlap):
    source = " ".join(map(str, range(200)))
    starts = [*range(0, 500, 50)]
    mixed = starts[5:] + starts[:5]
    texts = [HEADER + source[start : start + 50 + overlap] for start in mixed]
    metadatas = [{"source": "s", "start_index": start} for start in mixed]

    passages = order_context(texts, metadatas, merge=True)

    assert [p.spans[0].start for p in passages] == starts
    assert not any(p.exact for p in passages)
    other = [text.replace("1807", str(1800 + n)) for n, text in enumerate(texts)]
    with pytest.raises(ConflictingPositionsError):
        order_context(other, metadatas)


def test_a_named_position_may_be_an_attribute():
    hit = Hit("text", {}, subject=SimpleNamespace(abs_idx=4))

    assert _read([hit], position_keys="abs_idx")[0].position == (4,)


def test_a_callable_may_give_a_tuple_of_positions():
    read = _positions([{"v": 2, "c": "11"}], position_keys=lambda m: (m["v"], m["c"]))
    assert read == [(2, 11)]


def test_named_numbers_are_not_mixed_with_the_characters_of_a_result():
    (result,) = order_context(["One."], [{"source": "d", "start_index": 500}])
    place = {"source": "d", "v": 2, "c": 1, "p": 1}
    metadatas = [write_place(result, place), place | {"v": 1}]

    read = order_context(["One.", "Two."], metadatas, position_keys=["v", "c", "p"])
    assert [passage.text for passage in read] == ["Two.", "One."]


@pytest.mark.parametrize("value", [12.5, np.float32(12.5), Decimal("12.5")])
def test_fractions_are_positions_where_the_user_names_the_key(value):
    assert _positions([{"seconds": value}], position_keys="seconds") == [(12.5,)]


def test_a_fraction_is_no_character():
    (chunk,) = _read([Hit("a", {"start_index": 2.5})], position_keys="start_index")
    assert chunk.span is None


def test_a_known_character_key_says_where_a_chunk_begins_alone():
    hit = Hit("text", {"v": 2, "start_index": 5, "Header 1": "x"})

    (chunk,) = _read([hit], position_keys=["v", "start_index"])
    assert chunk.position == (2, 5, 5)
    assert chunk.span == (5, 5)
    assert not chunk.exact


@pytest.mark.parametrize("value", [None, "x", -1, math.nan, [], ["x"]])
def test_a_named_value_that_is_no_number_is_an_error(value):
    with pytest.raises(MissingPositionError, match="position_keys='abs'"):
        _positions([{"abs": 1}, {"abs": value}], position_keys="abs")


PLACES: tuple[dict[str, int], ...] = ({}, {"start_index": 0}, {"start_index": 40})


def test_a_text_that_came_again_without_a_position_is_the_chunk_that_has_one():
    texts = ["The end.", "It begins.", "The end."]
    metadatas = [{"source": "a.txt"} | place for place in PLACES]

    passages = order_context(texts, metadatas)

    assert [passage.text for passage in passages] == ["It begins.", "The end."]
    assert [passage.rank for passage in passages] == [1, 0]
    with pytest.raises(MissingPositionError):  # another text has no twin
        order_context(["Nowhere.", *texts[1:]], metadatas)


@pytest.mark.parametrize(
    ("key", "values"),
    [("seq", (3, 1, 2)), ("pages", ([5, 6], [1, 2], [3])), ("page", ([5], [1], [3]))],
)
def test_a_key_with_another_number_on_each_chunk_is_named_as_the_way_out(key, values):
    metadatas = [{"source": "a.txt", key: value} for value in values]

    with pytest.raises(MissingPositionError, match=f"position_keys='{key}'"):
        order_context(["c", "a", "b"], metadatas)
    passages = order_context(["c", "a", "b"], metadatas, position_keys=key)
    assert "".join(passage.text for passage in passages) == "abc"
