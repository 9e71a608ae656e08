"""A short form of the simulated verdicts, and of their page."""

from __future__ import annotations

import pytest

from benchmarks.verdicts import TRUTHS, as_markdown, asked_more, judged, program
from oprag_eval.reproduction import recipe_named

COME = "comes out"


@pytest.mark.slow
@pytest.mark.parametrize("table", ["op-rag/en.mc", "dos-rag/en.mc"])
def test_an_effect_comes_out_and_none_does_not(table):
    recipe = recipe_named(table)
    paper, none, sixty = (judged(recipe, recipe.reader(), t, 60) for t in TRUTHS)

    assert paper.whole[COME] >= 0.8
    assert max(none.any_claim, sixty.any_claim) <= 0.12  # 60 runs: 5 % is 3 ± 1.7
    best = [claim for claim in paper.claims if claim["best"] >= 0.9]
    assert best
    assert min(claim[COME] for claim in best) >= 0.7


@pytest.mark.slow
def test_as_many_more_questions_as_are_named_decide():
    assert asked_more("flat", 100, 20, 40).decided >= 0.75


def test_the_program_says_what_scripted_systems_do():
    rates = program(3)

    assert rates.page == rates.shown == 1
    assert rates.intervals >= 0.8
    assert rates.too_low == 0


def test_the_page_has_a_line_of_each_table():
    recipe = recipe_named("op-rag/en.qa")
    found = [judged(recipe, recipe.reader(), truth, 2) for truth in TRUTHS]
    page = as_markdown(found, [asked_more("flat", 30, 10, 2)], program(1), 2)

    assert "| op-rag/en.qa, Llama-3.1-70B | 1 |" in page
    assert "| flat | 30 | 10 | 2 |" in page
    assert judged(recipe_named("dos-rag/en.qa"), "GPT-4o", TRUTHS[0], 2) is None
