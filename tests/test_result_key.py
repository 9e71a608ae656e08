"""The place of a result in one short string."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oprag import place_of
from oprag.chunk import PROOFS, SMALL_GAP, Span
from oprag.metadata import text_hash
from oprag.result_key import (
    WrittenPlace,
    drop_rank,
    encode_place,
    is_result,
    read_written,
)
from oprag.tokens import resolve_token_counter

NUMBERS = st.integers(0, 10**9)
WORDS = st.text(min_size=1, max_size=20)
HASH = text_hash("text")


@st.composite
def spans(draw):
    bounds = sorted(draw(st.lists(NUMBERS, max_size=8, unique=True)))
    pairs = zip(bounds[::2], bounds[1::2], strict=False)
    return tuple(Span(*pair) for pair in pairs)


begun = st.integers(0, 10**9).map(lambda start: (Span(start, start),))
written = st.builds(
    WrittenPlace,
    rank=st.none() | NUMBERS,
    text_hash=WORDS.map(text_hash),
    spans=spans() | begun,
    part=st.none() | st.integers(-5, 10**6),
    counted=st.none() | WORDS,
    among=st.just(()) | st.tuples(NUMBERS, NUMBERS),
    proof=st.sampled_from(PROOFS),
    is_slice=st.booleans(),
    has_room=st.booleans(),
    number=st.none() | NUMBERS,
    problem=st.none() | st.sampled_from(["missing_position", "conflicting_text"]),
    document_key=st.none() | WORDS,
    document_name=st.none() | st.text(max_size=20),
    citation=st.none() | st.text(max_size=40),
)


@given(written)
def test_a_place_is_read_as_it_was_written(place):
    text = encode_place(place)

    assert read_written({"oprag": text}) == place
    assert encode_place(read_written({"oprag": text})) == text
    assert read_written(drop_rank({"oprag": text})) == place._replace(rank=None)


@given(st.text() | st.from_regex(r"\d+ [\d,:@-]+ [a-z]\d+.*", fullmatch=True))
def test_any_other_text_is_no_place_or_means_one_thing(text):
    place = read_written({"oprag": text})

    if place is not None:
        assert read_written({"oprag": encode_place(place)}) == place


@pytest.mark.parametrize(
    "value",
    [None, 3, "", "yes", "0", "0 5-3 s1", "0 0-4 z1", "0 0-4 s", "0 0-4,5-9 s1", {}],
)
def test_what_somebody_else_keeps_under_the_key_is_no_place(value):
    metadata = {"source": "a.txt", "oprag": value}

    assert not is_result(metadata)
    assert place_of({"page_content": "text", "metadata": metadata}) is None
    assert drop_rank(metadata) == metadata


@pytest.mark.parametrize(
    ("place", "text"),
    [
        (WrittenPlace(3, HASH, (Span(984, 1679),), proof="stamped"), "3 984-1679 s"),
        (WrittenPlace(0, HASH, (Span(7, 7),), proof="recorded"), "0 7 r"),
        (WrittenPlace(0, HASH, (Span(1, 2), Span(4, 9)), 2), "0 2:1-2,2+5 n"),
        (WrittenPlace(None, HASH, counted="7"), "- @7 n"),
        (WrittenPlace(1, HASH, number=5, has_room=False), "1#5 - nb"),
        (WrittenPlace(1, HASH, (Span(0, 4),), is_slice=False), "1 0-4 nx"),
    ],
)
def test_it_holds_no_more_than_is_known(place, text):
    assert encode_place(place) == text + HASH


def test_a_name_or_a_key_may_hold_anything():
    place = WrittenPlace(
        0, HASH, document_key="a b\n%20", document_name="", citation="a b, page 1 key=x"
    )

    text = encode_place(place)
    assert text.count(" key=") == 2  # one of them in the citation
    assert read_written({"oprag": text}) == place


EARLIER = {
    "source": "a.txt",
    "oprag_rank": 2,
    "oprag_citation": "a.txt, characters 0-9",
    "oprag_document": "a.txt",
    "oprag_key": "a.txt",
    "oprag_start": 0,
    "oprag_end": 9,
    "oprag_spans": "0-4,5-9",
    "oprag_proof": "stamped",
    "oprag_ids": "1\n2",
    "oprag_hash": text_hash("text text"),
}


def test_the_keys_of_before_are_read_and_go_with_the_next_component():
    place = place_of({"page_content": "text text", "metadata": EARLIER})

    assert (place.start, place.end, place.rank) == (0, 9, 2)
    assert place.spans == (Span(0, 4), Span(5, 9))
    assert place.citation == "a.txt, characters 0-9"
    assert (place.proof, place.exact) == ("stamped", False)


@pytest.mark.parametrize("kind", [str, float])
def test_the_keys_of_before_are_read_whatever_a_store_made_of_numbers(kind):
    stored = {
        key: value if isinstance(value, str) else kind(value)
        for key, value in EARLIER.items()
    }

    given_twice = [
        place_of({"page_content": "text text", "metadata": each})
        for each in (EARLIER, stored)
    ]
    assert given_twice[0] == given_twice[1]


COUNT = resolve_token_counter("cl100k_base")


def printed_tokens(value: str) -> int:
    """Tokens that the key adds to metadata that an application prints."""
    return COUNT(f"{{'source': 'a.txt', 'oprag': {value!r}}}") - COUNT(
        "{'source': 'a.txt'}"
    )


@given(st.integers(0, 999), st.integers(0, 9_990_000), st.integers(0, 9_999))
def test_one_span_costs_a_prompt_at_most_24_tokens(rank, start, length):
    spans = (Span(start, start + length + 1),)
    for part in (None, 127):
        place = WrittenPlace(rank, HASH, spans, part, proof="stamped", has_room=False)
        assert printed_tokens(encode_place(place)) <= 24


@given(st.integers(1, SMALL_GAP), st.integers(1, 9_999))
def test_a_further_span_costs_at_most_7_tokens(gap, length):
    one = Span(1_234_567, 1_235_267)
    two = Span(one.end + gap, one.end + gap + length)
    alone = WrittenPlace(0, HASH, (one,), proof="stamped")
    both = alone._replace(spans=(one, two))

    assert printed_tokens(encode_place(both)) <= printed_tokens(encode_place(alone)) + 7


BEGUN, JOINED = (Span(3, 3),), (Span(3, 7), Span(9, 12))


@pytest.mark.parametrize(
    ("fields", "states"),
    [
        ({}, {"is_verbatim"}),
        ({"spans": BEGUN}, {"has_characters", "is_verbatim"}),
        ({"spans": BEGUN, "is_slice": False}, {"has_characters"}),
        ({"spans": JOINED}, {"has_characters", "is_joined"}),
        ({"spans": BEGUN, "problem": "p"}, {"has_characters", "is_verbatim"}),
        ({"part": 2, "problem": "p"}, {"lacks_place", "is_verbatim"}),
    ],
)
def test_the_states_of_a_result_are_told_apart(fields, states):
    place = WrittenPlace(0, HASH, **fields)

    names = {"has_characters", "lacks_place", "is_joined", "is_verbatim"}
    assert {name for name in names if getattr(place, name)} == states


@pytest.mark.parametrize(
    ("fields", "text", "number"),
    [
        ({"proof": "chained", "counted": "7"}, "text", 7),
        ({"proof": "chained", "counted": "7"}, "changed", None),
        ({"proof": "chained", "counted": "7", "spans": BEGUN}, "text", None),
        ({"proof": "recorded", "counted": "7"}, "text", None),
        ({"proof": "chained"}, "text", None),
    ],
)
def test_a_number_by_links_is_that_of_the_text_it_was_written_for(fields, text, number):
    assert WrittenPlace(0, HASH, **fields).find_link_number(text) == number
