"""So many chunks, as OP-RAG's paper counts them, in place of a budget."""

from __future__ import annotations

import asyncio

import pytest

from oprag.evaluation.catalogue import make_system
from oprag.evaluation.running.runner import Plan
from tests.evaluation.small import Replies, bench_of, set_of_one

LONG = " ".join(f"Entry {n} tells of crate {n * 7 % 911}." for n in range(6_000))
DATASET = set_of_one(LONG, "What is told of crate 77?")


def attempt(spec: str, budget: int | None = None):
    bench = bench_of(Replies(), DATASET, token_counter=None)
    system = make_system(spec)
    return asyncio.run(system.attempt(DATASET.questions[0], budget, bench))


@pytest.mark.parametrize(("budget", "windows"), [(16_000, 128), (48_000, 384)])
def test_the_papers_number_of_windows_is_read_and_not_what_a_budget_holds(
    budget, windows
):
    counted = attempt(f"op-rag:top_n={windows}")

    assert len(counted.pieces) == windows
    assert windows * 128 <= counted.context_tokens <= windows * 132
    assert len(attempt("op-rag", budget).pieces) < windows
    by_score = attempt(f"vanilla-rag:unit=tokens,size=128,top_n={windows}")
    assert by_score.chunk_set == counted.chunk_set


def test_it_runs_once_and_not_for_each_budget():
    plan = Plan([make_system("op-rag:top_n=128")], [500, 1000], DATASET.questions)

    assert [arm.budget for arm in plan.arms] == [None]
