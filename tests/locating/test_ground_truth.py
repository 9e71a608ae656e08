"""Chunks of real splitters are placed where they were taken from, or reported.

The truth comes from splitting a copy of the text that shows where each part of it
was: see `disguise.py`.
"""

import random
from functools import partial

import pytest

from oprag.locating import Order, locate, place, place_some
from tests.locating.comparing import compare
from tests.locating.settings import SETTINGS, TWICE
from tests.locating.texts import licences, made_up, readmes, reference

pytestmark = pytest.mark.once

SIZE = 20_000
TEXTS = {
    "prose": reference(SIZE),
    "Markdown": readmes(2 * SIZE),
    "lines": made_up(SIZE, 0.87),
    "licences": licences(2 * SIZE, 0.9),
}
each_setting = pytest.mark.parametrize("setting", SETTINGS, ids=lambda each: each.name)


@each_setting
@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_none_is_wrong_and_hardly_any_reported(text, setting):
    if len(text) < SIZE:
        pytest.skip("the installed packages have too few texts of this kind")

    outcome = compare(text, setting)

    assert outcome.right
    assert outcome.wrong == []
    assert outcome.share_reported <= 0.005


@each_setting
def test_with_a_tenth_altered_none_is_wrong_and_the_others_are_found(setting):
    def alter(number, chunk):
        middle = len(chunk) // 2
        return f"{chunk[:middle]}¤{chunk[middle:]}" if number % 10 == 5 else chunk

    outcome = compare(TEXTS["lines"], setting, alter=alter)

    assert outcome.wrong == []
    assert all(number % 10 == 5 for number in outcome.absent)
    assert outcome.share_reported <= 0.05


@each_setting
@pytest.mark.parametrize("complete", [False, True])
def test_of_a_sample_none_is_wrong(setting, complete):
    if complete and setting is TWICE:
        pytest.skip("too few chunks are left to show that the splitter steps back")
    find = partial(locate, complete=complete)

    outcome = compare(
        TEXTS["lines"],
        setting,
        pick=lambda numbers: [n for n in numbers if n % 7 in (1, 2, 5)],
        find=find,
    )

    assert outcome.wrong == []
    assert outcome.absent == [] or complete


STORED = {
    "as added": lambda numbers, rng: numbers,
    "some missing": lambda numbers, rng: [n for n in numbers if rng.random() > 0.05],
    "one twice": lambda numbers, rng: [*numbers, *rng.sample(numbers, 1)],
    "one moved": lambda numbers, rng: [*numbers[:5], *numbers[6:], *numbers[5:6]],
    "shuffled": lambda numbers, rng: rng.sample(numbers, len(numbers)),
    "backwards": lambda numbers, rng: numbers[::-1],
    "twice": lambda numbers, rng: [*numbers, *numbers],
}


def place_stored(text, chunks):
    order = Order(range(len(chunks)), recorded=False)
    return place(text, chunks, [order]).locations


@pytest.mark.parametrize("setting", SETTINGS[::2], ids=lambda each: each.name)
@pytest.mark.parametrize("text", ["lines", "licences"])
def test_as_a_store_may_hold_them_none_is_wrong(text, setting):
    for pick in STORED.values():
        rng = random.Random(7)  # noqa: S311 -- an order, no secret
        outcome = compare(
            TEXTS[text][:8_000],
            setting,
            pick=partial(lambda pick, rng, numbers: pick(numbers, rng), pick, rng),
            find=place_stored,
        )
        assert outcome.wrong == []


@each_setting
@pytest.mark.parametrize("text", ["prose", "lines", "licences"])
def test_in_any_order_none_is_wrong(text, setting):
    rng = random.Random(4)  # noqa: S311 -- an order, no secret

    outcome = compare(
        TEXTS[text][:15_000],
        setting,
        pick=lambda numbers: rng.sample(numbers, len(numbers)),
        find=place_some,
    )

    assert outcome.wrong == []
    if text != "licences" and setting is not TWICE:
        assert outcome.share_reported <= 0.06
