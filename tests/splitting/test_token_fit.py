"""Boundaries between graphemes."""

import itertools

import regex
from hypothesis import given

from oprag.splitting.token_fit import boundary_after, boundary_at_or_before
from tests.kit.fresh_interpreter import run
from tests.kit.growth import LINEAR, time_growth
from tests.kit.strategies import awkward_texts


@given(awkward_texts)
def test_boundaries_are_those_of_the_regex_package(text):
    boundaries = [0, *(match.end() for match in regex.finditer(r"\X", text))]

    for place in range(len(text) + 1):
        known = max(b for b in boundaries if b <= place)
        assert boundary_at_or_before(text, place) == known
        assert boundary_at_or_before(text, place, known) == known
    for begin, end in itertools.pairwise(boundaries):
        assert boundary_after(text, begin) == end


def test_the_time_for_a_row_of_flags_grows_as_the_row_does():
    def pass_flags(count):
        text = "🇩🇪" * count

        def work():
            place = 0
            while place < len(text):
                place = boundary_after(text, place)

        return work

    assert time_growth(pass_flags, 8_000) < LINEAR


def test_without_the_regex_package_code_points_are_boundaries():
    code = """
from oprag.splitting.token_fit import boundary_after, boundary_at_or_before
print(boundary_at_or_before("e\u0301", 1), boundary_after("e\u0301", 0))
"""
    assert run(code, without=["regex"]).split() == ["1", "1"]
