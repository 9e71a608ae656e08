"""`recommended` reads what the core's own selection chooses."""

from __future__ import annotations

import asyncio

import pytest

from oprag import order_context
from oprag_eval.catalogue import make_system
from oprag_eval.splittings import Splitting
from tests.evaluation.small import Replies, bench_of


@pytest.mark.parametrize("budget", [40, 80])
def test_the_context_is_what_order_context_gives(budget):
    model = Replies()
    bench = bench_of(model)
    question = bench.dataset.questions[1]
    system = make_system("recommended:sizes=20+10")
    attempt = asyncio.run(system.attempt(question, budget, bench))

    sizes = Splitting("sentences", 20), Splitting("sentences", 10)
    ranked = bench.ranked(question, *sizes, search="hybrid", k=200)
    passages = order_context(
        [hit.text for hit in ranked],
        [hit.metadata for hit in ranked],
        token_budget=budget,
        token_counter=lambda text: len(text.split()),
        selection="recall",
    )
    expected = "\n\n".join(passage.text for passage in passages)
    assert model.calls[0].facts["context"] == expected
    assert 0 < attempt.context_tokens <= budget
    spans = [(piece.start, piece.end) for piece in attempt.pieces]
    assert spans == [tuple(span) for passage in passages for span in passage.spans]
