"""Chunks are numbered in the order of their text, or get an error and no number."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.documents import Document
from langchain_text_splitters import RecursiveCharacterTextSplitter

from langchain_oprag import annotate_positions
from oprag.documents import SourcePart, annotate_chunks
from oprag.errors import ConflictingPositionsError, PositionWarning
from tests.kit.effort import cases
from tests.locating.disguise import Bare
from tests.locating.repeating import cut_text, permutations_of
from tests.locating.settings import SETTINGS, TWICE
from tests.locating.texts import licences, made_up, reference

LINES = [f"Line {n} stands here, and nowhere else." for n in range(12)]
pytestmark = pytest.mark.filterwarnings("ignore::oprag.errors.PositionWarning")


def numbers(source: str, chunks: list[str]) -> list[int]:
    (entries,) = annotate_chunks("a.txt", [SourcePart(source, chunks)])
    return [int(entry["chunk_index"]) for entry in entries]


def wrong_orders(seed: int, count: int) -> tuple[int, int, int]:
    """Orders tried of one text, refused, and accepted with a number that is false."""
    rng = random.Random(seed)  # noqa: S311 -- an order, no secret
    cut = cut_text(rng)
    tried = refused = wrong = 0
    for order in permutations_of(rng, len(cut.spans), count):
        tried += 1
        texts = [cut.texts[i] for i in order]
        try:
            found = numbers(cut.source, texts)
        except ConflictingPositionsError:
            refused += 1
            continue
        if sorted(found) != list(range(len(texts))):
            wrong += 1
            continue
        read = [texts[found.index(number)] for number in range(len(texts))]
        solid = [text.strip() for text in cut.texts if text.strip()]
        wrong += [text.strip() for text in read if text.strip()] != solid
    return tried, refused, wrong


@settings(max_examples=cases(60))
@given(seed=st.integers(0, 2**32))
def test_whatever_the_order_no_number_is_false(seed):
    assert wrong_orders(seed, 10)[2] == 0


@pytest.mark.parametrize("overlap", [0, 12, 30])
def test_shuffled_chunks_are_numbered_by_their_places(overlap):
    splitter = RecursiveCharacterTextSplitter(chunk_size=50, chunk_overlap=overlap)
    text = "\n".join(LINES)
    chunks = splitter.split_documents([Document(text, metadata={"source": "a.txt"})])
    moved = [*chunks[:3], chunks[7], *chunks[3:7], *chunks[8:]]

    found = [
        c.metadata["chunk_index"] for c in annotate_positions(moved, {"a.txt": text})
    ]

    assert found == [0, 1, 2, 7, 3, 4, 5, 6, *range(8, len(chunks))]


def test_shuffled_chunks_of_which_one_is_not_found_are_refused():
    chunks = [LINES[2], "altered", *LINES[3:], LINES[0]]

    with pytest.raises(ConflictingPositionsError, match="in doubt: 1 of the list"):
        numbers("\n".join(LINES), chunks)


def test_chunks_that_fit_in_several_orders_are_refused():
    with pytest.raises(
        ConflictingPositionsError, match="more than one order"
    ) as caught:
        numbers("word word word", ["word", "word word"])
    assert caught.value.ranks == (0, 1)


def test_equal_chunks_need_no_order():
    assert numbers("word word word", ["word", "word", "word"]) == [0, 1, 2]


def test_equal_neighbours_and_an_end_that_comes_again_put_no_order_in_doubt():
    chunks = [*LINES[:6], "Line", "Line", *LINES[6:]]
    again = LINES[-1][5:]

    assert numbers("\n".join(chunks), [*chunks, again]) == list(range(15))


def test_a_line_that_was_dropped_puts_no_order_in_doubt():
    chunks = [*LINES[:6], "Same.", *LINES[6:]]
    assert numbers("\n".join([*chunks, "Same."]), chunks) == list(range(13))


def test_a_chunk_that_is_not_found_stays_where_it_was_put():
    chunks = [LINES[0], "altered", *LINES[2:]]

    assert numbers("\n".join(LINES), chunks) == list(range(12))


def test_chunks_of_two_splitters_in_turn_are_numbered_by_place():
    text = " ".join(str(number**3) for number in range(100, 180))
    chunks = [
        text[start : min(start + 25, outer + 120)]
        for outer in range(0, len(text), 60)
        for start in range(outer, min(outer + 120, len(text)), 25)
    ]

    (entries,) = annotate_chunks("a.txt", [SourcePart(text, chunks)])

    given_starts = [entry["char_start"] for entry in entries]
    assert given_starts != sorted(given_starts)
    by_number = sorted(entries, key=lambda entry: entry["chunk_index"])
    starts = [entry["char_start"] for entry in by_number]
    assert starts == sorted(starts)


@pytest.mark.once
@pytest.mark.parametrize(
    "text",
    [reference(5_000), made_up(4_000, 0.6), licences(6_000, 0.5)],
    ids=["reference", "made up", "licences"],
)
def test_what_a_splitter_made_is_accepted_and_shuffled_no_number_is_false(text):
    rng = random.Random(1)  # noqa: S311 -- an order, no secret
    for setting in SETTINGS:
        chunks = setting.split(Bare(text))
        if setting is not TWICE:
            assert sorted(numbers(text, chunks)) == list(range(len(chunks)))
        shuffled = rng.sample(chunks, len(chunks))
        try:
            found = numbers(text, shuffled)
        except ConflictingPositionsError:
            continue
        if setting is not TWICE:
            read = [shuffled[found.index(number)] for number in range(len(chunks))]
            assert [r.strip() for r in read] == [c.strip() for c in chunks]


def test_a_text_of_which_little_is_found_is_still_ordered_as_given():
    text = "alpha beta gamma delta"

    with pytest.warns(PositionWarning):
        assert numbers(text, ["ALPHA", "beta", "GAMMA", "delta"]) == [0, 1, 2, 3]
