"""From chunks to the units that they stand in."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oprag import place_of
from oprag.chunk import Hit, Span
from oprag.citations import disambiguate_names
from oprag.context import ContextOptions
from oprag.errors import InvalidOptionError, MissingPositionError, PositionError
from oprag.metadata import document_key, text_hash
from oprag.units import LongUnit, UnitIndex, order_units
from oprag.units.unit_index import unit_metadata

PAIR = LongUnit(("a", "b"), 5)
ALONE = LongUnit(("c",), 2)
LONG = "y" * 260
PARTS = [
    LongUnit(("long",), 10, Span(*ends), part, text_hash(LONG))
    for part, ends in enumerate([(0, 100), (100, 180), (180, 260)])
]
UNITS = [PAIR, *PARTS, ALONE]


def hit(document: str, start: int | None = None, length: int = 20, **more) -> Hit:
    metadata = {"source": document, **more}
    if start is not None:
        metadata["start_index"] = start
    return Hit("x" * length, metadata, source=document, score=more.get("score"))


def units_of(*hits, units=UNITS, **options):
    return UnitIndex(units).rank_units(hits, ContextOptions(**options))


def test_a_unit_is_as_good_as_its_best_chunk():
    found = units_of(hit("c"), hit("b"), hit("c"), hit("a"), hit("long", 5))

    assert [(each.unit, each.chunk.rank) for each in found] == [
        (ALONE, 0),
        (PAIR, 1),
        (PARTS[0], 4),
    ]


@pytest.mark.parametrize(
    ("start", "length", "part"),
    [
        (0, 20, 0),
        (95, 20, 1),  # 5 characters in the first, 15 in the second
        (90, 20, 0),  # 10 in each: the first
        (85, 20, 0),
        (100, 20, 1),
        (179, 1, 1),
        (240, 20, 2),
        (50, 200, 1),  # 50, 80 and 70 of them
    ],
)
def test_of_a_long_document_the_part_that_has_more_of_the_chunk(start, length, part):
    (each,) = units_of(hit("long", start, length))

    assert each.unit == PARTS[part]


@pytest.mark.parametrize(
    "place",
    [{}, {"chunk_index": 3}, {"start_index": 5, "page": 2}, {"start_index": 260}],
)
def test_characters_are_needed_only_where_a_document_is_cut(place):
    assert units_of(hit("a", **place))
    with pytest.raises(MissingPositionError, match=r"3 units.* has no characters"):
        units_of(hit("long", **place))


def test_units_of_a_hashed_key_are_found_by_the_documents_own_name():
    (each,) = units_of(Hit("x", {"doc_key": "0" * 64, "doc_uri": "b"}))

    assert each.unit == PAIR


@pytest.mark.parametrize(
    "units", [["unit"], "unit", None, 5], ids=["str", "text", "no", "int"]
)
def test_units_that_cannot_be_used_are_refused(units):
    with pytest.raises(InvalidOptionError, match="list of LongUnit"):
        UnitIndex(units)


@pytest.mark.parametrize("second", [ALONE, LongUnit(("c", "d"), 3)])
def test_of_a_document_in_two_units_none_is_guessed(second):
    index = UnitIndex([LongUnit(("b", "c"), 5), second])

    with pytest.raises(PositionError):
        index.rank_units([Hit("x", {"source": "c"})], ContextOptions())


def in_order(*hits, k=10, **options):
    options = ContextOptions(**options)
    return [each.unit for each in order_units(units_of(*hits), k, options)]


HITS = (hit("long", 190), hit("b"), hit("long", 10), hit("c"), hit("long", 120))


def test_parts_of_one_document_follow_one_another_as_they_stand_in_it():
    assert in_order(*HITS) == [*PARTS, PAIR, ALONE]


def test_the_best_are_kept_before_they_are_ordered():
    assert in_order(*HITS, k=3) == [PARTS[0], PARTS[2], PAIR]
    assert in_order(*HITS, k=1) == [PARTS[2]]


def test_order_by_score_is_as_they_came():
    assert in_order(*HITS, order="rank") == [PARTS[2], PAIR, PARTS[0], ALONE, PARTS[1]]


def test_units_follow_a_function_of_their_best_chunks():
    hits = (hit("c", year=3), hit("a", year=1), hit("long", 5, year=2))

    assert in_order(*hits, sort_documents=lambda c: c[0].metadata["year"]) == [
        PAIR,
        PARTS[0],
        ALONE,
    ]


def test_metadata_say_what_a_unit_holds():
    texts = {"a": "12345", "b": "é", "long": LONG}
    pair, part = order_units(
        units_of(hit("b", score=0.5), hit("long", 130)), 2, ContextOptions()
    )

    names = {(name, name): name for name in texts}

    assert unit_metadata(part, "y" * 80, texts.__getitem__, names) == {
        "doc_key": document_key("long"),
        "doc_uri": "long",
        "unit_documents": ["long"],
        "unit_spans": [[100, 180]],
        "unit_tokens": 10,
        "oprag": f"1 100-180 c{text_hash('y' * 80)}",
    }
    metadata = unit_metadata(pair, "12345\n\né", texts.__getitem__, names)
    assert metadata["doc_uri"] == '["a", "b"]'
    assert metadata["unit_documents"] == ["a", "b"]
    assert metadata["unit_spans"] == [[0, 5], [0, 1]]
    place = place_of({"text": "12345\n\né", "metadata": metadata})
    assert place.citation == "a, characters 0-5; b, characters 0-1"
    # Its text is the slice of no document.
    assert (place.start, place.end, place.spans) == (None, None, ())
    assert (place.rank, metadata["unit_score"]) == (0, 0.5)


def test_units_are_named_as_chunks_are():
    one, two = "/home/ann/docs/2024/a.md", "/home/ann/docs/b.md"
    index = UnitIndex([LongUnit((one, two), 2)])
    (found,) = index.rank_units([Hit("a", {"source": one})], ContextOptions())
    texts = dict.fromkeys((one, two), "a")
    names = disambiguate_names((name, name) for name in texts)
    metadata = unit_metadata(found, "a\n\nb", texts.get, names)

    place = place_of({"text": "a\n\nb", "metadata": metadata})
    assert place.document_name == '["2024/a.md", "docs/b.md"]'
    assert place.citation == ("2024/a.md, characters 0-1; docs/b.md, characters 0-1")
    assert metadata["unit_documents"] == [one, two]


@given(
    st.lists(st.sampled_from(["a", "b", "c", "long"]), max_size=12),
    st.integers(0, 240),
    st.integers(1, 6),
)
def test_every_chunk_is_in_a_unit_and_every_unit_comes_once(names, start, k):
    hits = [hit(name, (start + 37 * n) % 240) for n, name in enumerate(names)]
    found = units_of(*hits)

    units = [each.unit for each in found]
    assert len(set(units)) == len(units)
    ranks = [each.chunk.rank for each in found]
    assert ranks == sorted(ranks)
    for name in names:
        assert any(name in unit.documents for unit in units)
    kept = order_units(found, k, ContextOptions())
    assert {each.unit for each in kept} == set(units[:k])
