"""Chunks of real splitters are placed where they were taken from, or reported.

The truth comes from splitting a copy of the text that shows where each part of it
was: see `disguise.py`.
"""

from __future__ import annotations

import pytest

from tests.locating.comparing import compare
from tests.locating.disguise import Bare, Disguise
from tests.locating.langchain_settings import LANGCHAIN
from tests.locating.llamaindex_settings import LLAMAINDEX
from tests.locating.texts import licences, made_up, readmes, reference, share_repeated

pytestmark = pytest.mark.slow

SETTINGS = LANGCHAIN + LLAMAINDEX
SIZE = 20_000


@pytest.mark.parametrize("setting", SETTINGS, ids=lambda setting: setting.name)
def test_on_prose_none_is_wrong_and_hardly_any_reported(setting):
    outcome = compare(reference(SIZE), setting)

    assert outcome.wrong == []
    assert outcome.share_reported <= 0.005


@pytest.mark.parametrize(
    "setting",
    [setting for setting in SETTINGS if "#" in setting.keep],
    ids=lambda setting: setting.name,
)
def test_on_markdown_none_is_wrong_and_hardly_any_reported(setting):
    text = readmes(2 * SIZE)
    if text.count("\n## ") < 10:
        pytest.skip("the installed packages have too few descriptions in Markdown")

    outcome = compare(text, setting)

    assert outcome.wrong == []
    assert outcome.share_reported <= 0.005
    assert len(outcome.right) > 30


@pytest.mark.parametrize("setting", SETTINGS, ids=lambda setting: setting.name)
def test_on_lines_that_repeat_none_is_wrong_and_hardly_any_reported(setting):
    text = made_up(SIZE, 0.87)
    assert share_repeated(text) >= 0.85

    outcome = compare(text, setting)

    assert outcome.wrong == []
    assert outcome.share_reported <= 0.005


@pytest.mark.parametrize("setting", SETTINGS, ids=lambda setting: setting.name)
def test_on_licences_that_repeat_none_is_wrong_and_hardly_any_reported(setting):
    text = licences(2 * SIZE, 0.9)
    if len(text) < SIZE or share_repeated(text) < 0.85:
        pytest.skip(
            f"the installed packages have too few licences: {len(text)} characters, "
            f"{share_repeated(text):.0%} of the lines repeated"
        )

    outcome = compare(text, setting)

    assert outcome.wrong == []
    assert outcome.share_reported <= 0.005


@pytest.mark.parametrize("setting", SETTINGS, ids=lambda setting: setting.name)
def test_with_a_tenth_altered_none_is_wrong_and_the_others_are_found(setting):
    text = made_up(SIZE, 0.87)

    def alter(number, chunk):
        middle = len(chunk) // 2
        return f"{chunk[:middle]}¤{chunk[middle:]}" if number % 10 == 5 else chunk

    outcome = compare(text, setting, alter)

    assert outcome.wrong == []
    assert all(number % 10 == 5 for number in outcome.absent)
    assert outcome.share_reported <= 0.05


def leave_out(number, chunk):
    return chunk if number % 7 in (1, 2, 5) else None


@pytest.mark.parametrize("setting", SETTINGS, ids=lambda setting: setting.name)
def test_of_a_sample_none_is_wrong(setting):
    outcome = compare(made_up(SIZE, 0.87), setting, leave_out, complete=False)

    assert outcome.wrong == []
    assert outcome.absent == []


@pytest.mark.parametrize(
    "setting",
    [setting for setting in SETTINGS if "Recursive (" not in setting.name],
    ids=lambda setting: setting.name,
)
def test_of_a_sample_that_is_taken_for_all_none_is_wrong_either(setting):
    # Unless the splitter steps back: then too few chunks are left to show it.
    outcome = compare(made_up(SIZE, 0.87), setting, leave_out)

    assert outcome.wrong == []


def test_the_copy_tells_apart_what_the_text_does_not():
    # Equality of text is no proof: all chunks are equal, no two have one place.
    text = "word " * 300
    setting = next(s for s in LANGCHAIN if s.name == "Recursive 200/50")

    truth = _truth(text, setting)

    assert len(set(setting.split(Bare(text)))) <= 2
    assert len(set(truth)) == len(truth) > 8


def _truth(text, setting):
    disguise = Disguise(text, setting.keep)
    spans = map(disguise.span, setting.split(disguise))
    return [span for span in spans if span is not None]
