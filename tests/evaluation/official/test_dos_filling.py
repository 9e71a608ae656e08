"""The DOS RAG authors' way of filling a budget: hand-worked, tokens being words."""

from __future__ import annotations

import pytest

from oprag.errors import BudgetTooSmallError
from oprag.evaluation.catalogue import make_system
from oprag.evaluation.official.dos_rag import fill_officially, join_officially
from tests.evaluation.small import Replies, bench_of


def kept(sizes: list[int], budget: int) -> list[int]:
    ranked = [(place, "w " * size) for place, size in enumerate(sizes)]
    return fill_officially(ranked, budget, lambda text: len(text.split()))


@pytest.mark.parametrize(
    ("sizes", "budget", "expected"),
    [
        ([10, 10, 10, 10], 150, [0, 1, 2]),  # 150 / 50 = 3 chunks, though all fit
        ([10, 10, 10, 10], 149, [0, 1]),  # 149 / 50 = 2.98
        ([100, 60, 10], 150, [0]),  # 100 + 60 > 150, and there it ends
        ([75, 75], 150, [0, 1]),  # what stands between them is not counted
        ([60], 50, []),  # not even the best
        ([10], 49, []),  # no chunk for less than 50 tokens
    ],
)
def test_filling_by_number_and_by_tokens(sizes, budget, expected):
    assert kept(sizes, budget) == expected


def test_line_breaks_inside_a_chunk_become_blanks():
    assert join_officially(["a\nb", "c\r\nd"]) == "a b \n\nc\r d"


def context(spec: str, budget: int):
    bench = bench_of(Replies())
    question = bench.dataset.questions[1]  # answered at the end
    return make_system(spec).context(question, budget, bench)


def test_official_vanilla_and_dos_rag_differ_in_the_order_alone():
    document = context("dos-rag:compat=official,size=20", 200)
    score = context("vanilla-rag:compat=official,size=20", 200)

    assert len(document.pieces) == 4  # 200 / 50
    assert document.chunk_set == score.chunk_set
    assert document.pieces == tuple(sorted(score.pieces, key=lambda p: p.start))
    assert document.pieces != score.pieces
    assert document.text.count(" \n\n") == 3


def test_a_budget_that_the_rules_leave_empty_is_told():
    with pytest.raises(BudgetTooSmallError) as caught:
        context("dos-rag:compat=official", 49)

    assert caught.value.needed >= 50
