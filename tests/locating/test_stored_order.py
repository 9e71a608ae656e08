"""Chunks as they lie in a store that kept no order, lost some, or holds some twice.

None is placed wrongly; what cannot be proved is not placed.
"""

from __future__ import annotations

import random
from collections import Counter
from itertools import accumulate

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from oprag.locating import Order, place
from tests.locating.comparing import _tight
from tests.locating.disguise import Bare, Disguise
from tests.locating.langchain_settings import LANGCHAIN
from tests.locating.llamaindex_settings import LLAMAINDEX
from tests.locating.texts import licences, made_up

SETTINGS = LANGCHAIN[1:14:3] + LLAMAINDEX[1:9:2]
SIZE = 8_000


def as_added(numbers, rng):
    return numbers


def one_missing(numbers, rng):
    lost = rng.choice(numbers)
    return [number for number in numbers if number != lost]


def some_missing(numbers, rng):
    return [number for number in numbers if rng.random() > 0.05]


def one_added_again(numbers, rng):
    moved = rng.choice(numbers)
    return [*(number for number in numbers if number != moved), moved]


def neighbours_swapped(numbers, rng):
    at = rng.randrange(max(len(numbers) - 1, 1))
    return [*numbers[:at], *numbers[at : at + 2][::-1], *numbers[at + 2 :]]


def shuffled(numbers, rng):
    return rng.sample(numbers, len(numbers))


def backwards(numbers, rng):
    return numbers[::-1]


def twice(numbers, rng):
    return [*numbers, *numbers]


CHANGES = [
    *(as_added, one_missing, some_missing, one_added_again),
    *(neighbours_swapped, shuffled, backwards, twice),
]


@pytest.mark.slow
@pytest.mark.parametrize("setting", SETTINGS, ids=lambda setting: setting.name)
def test_none_is_placed_wrongly(setting):
    for text in (made_up(SIZE, 0.87), licences(SIZE, 0.9)):
        disguise = Disguise(text, setting.keep)
        truths = list(map(disguise.span, setting.split(disguise)))
        chunks = setting.split(Bare(text))
        for change in CHANGES:
            rng = random.Random(7)  # noqa: S311 -- an order, no secret
            numbers = change(list(range(len(chunks))), rng)

            placement = place(
                text,
                [chunks[number] for number in numbers],
                [Order(range(len(numbers)), recorded=False)],
            )

            places = zip(numbers, placement.locations, strict=True)
            wrong = [
                number
                for number, found in places
                if found.span is not None
                and truths[number] is not None
                and _tight(text, found.span) != truths[number]
            ]
            assert wrong == [], change.__name__


def test_a_chunk_that_fills_no_gap_is_not_placed_between_its_neighbours():
    clauses = [f"{number}. A clause of its own." for number in range(9)]
    texts = [*clauses, "Terms apply. To all nine.", "Terms apply.", "The end."]
    stored = [*texts[:9], texts[10], texts[9], texts[11]]

    placement = place("\n".join(texts), stored, [Order(range(12), recorded=False)])

    assert placement.locations[9].status == "ambiguous"


FEW_WORDS = st.lists(
    st.sampled_from(["a", "b", "ab", "ba", "aab"]), min_size=1, max_size=7
)


def all_orders(flat: str, words: list[str]) -> set[tuple[str, ...]]:
    """Every order in which the words give the text."""
    if not words:
        return {()} if not flat else set()
    found = set()
    for word in {*words}:
        if flat.startswith(word):
            rest = words.copy()
            rest.remove(word)
            orders = all_orders(flat.removeprefix(word), rest)
            found |= {(word, *order) for order in orders}
    return found


def spans_of(words: list[str]) -> list[tuple[int, int]]:
    ends = list(accumulate(len(word) + 1 for word in words))
    return [(e - 1 - len(word), e - 1) for word, e in zip(words, ends, strict=True)]


@given(words=FEW_WORDS)
@example(words=["a", "a", "b", "ab"])
@example(words=["a", "b", "aab"])
def test_an_order_is_found_only_where_no_other_fits(words):
    order = Order(range(len(words)), recorded=False)
    placed = place(" ".join(words), words, [order]).locations
    found = [location.span for location in placed] == spans_of(words)
    flat = "".join(words)
    times = {w: sum(flat.startswith(w, i) for i in range(len(flat))) for w in words}

    if found:
        assert len(all_orders(flat, words)) == 1
    if times == Counter(words):  # none is inside another one, or across two
        assert found
