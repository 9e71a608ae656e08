"""Questions without a text: what is sent, and that nothing is read."""

from __future__ import annotations

import asyncio

import pytest

from oprag_eval.catalogue import make_system
from oprag_eval.running.runner import Plan
from oprag_eval.wording import Wording
from tests.evaluation.small import Replies, bench_of, set_of_four


@pytest.mark.parametrize("style", ["letter", "brackets"])
@pytest.mark.parametrize("number", [0, 2])
@pytest.mark.parametrize("decline", [True, False])
def test_it_is_asked_without_a_text(style, number, decline):
    model = Replies(lambda _: "in May")
    bench = bench_of(model, answer_style=style, wording=Wording(decline=decline))
    question = bench.dataset.questions[number]

    attempt = asyncio.run(make_system("closed-book").attempt(question, None, bench))

    (call,) = model.calls
    assert attempt.prediction == "in May"
    assert (attempt.pieces, attempt.context_tokens) == ((), 0)
    assert question.question in call.prompt
    assert all(option in call.prompt for option in question.options)
    assert "text" not in call.prompt.replace(question.question, "")
    assert ("unanswerable" in call.prompt) == decline


def test_it_runs_once_and_not_for_each_budget():
    plan = Plan([make_system("closed-book")], [500, 1000], set_of_four().questions)

    assert [arm.budget for arm in plan.arms] == [None]
