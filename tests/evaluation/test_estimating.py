"""The estimate of a run: equal to what is sent, bounded where replies decide."""

import asyncio

import pytest

from oprag_eval.catalogue import make_system
from oprag_eval.estimate import RunEstimate, estimate_run
from oprag_eval.running.runner import Plan
from tests.evaluation.small import Replies, bench_of, set_of_four, words


def plan(*specs: str, **options) -> Plan:
    systems = [make_system(spec) for spec in specs]
    return Plan(systems, [110, 150], set_of_four().questions, **options)


def estimated(asked: Plan, *, sample: int = 10, **options) -> RunEstimate:
    bench = bench_of(Replies(), **options)
    return asyncio.run(estimate_run(asked, bench, sample=sample))


def sent(asked: Plan, reply: str, **options) -> int:
    model = Replies(lambda _: reply)
    bench = bench_of(model, **options)

    async def ask() -> None:
        for question in asked.questions:
            for arm in asked.arms:
                await arm.system.attempt(question, arm.budget, bench)

    asyncio.run(ask())
    return sum(words(call.prompt) for call in model.calls)


@pytest.mark.parametrize("runs", [1, 3])
def test_prompts_are_as_many_tokens_as_are_sent(runs):
    asked = plan(
        "dos-rag", "vanilla-rag:size=30,name=small", "full-document", runs=runs
    )

    found = estimated(asked)

    assert found.low == found.high
    assert found.low.usage.input_tokens == sent(asked, "in May")
    assert found.low.usage.output_tokens == 20 * len(asked)
    assert found.low.usage.estimated
    assert found.failed == ()


def test_self_route_takes_at_least_the_first_step_and_at_most_all():
    asked = plan("self-route:k=1,size=20")

    found = estimated(asked)
    by_call = estimated(plan("self-route:k=1,size=20,decline=tool"))

    assert found.low.usage.input_tokens == sent(asked, "A")
    assert found.high.usage.input_tokens == sent(asked, "unanswerable")
    assert found.low.usage.input_tokens < found.high.usage.input_tokens
    assert (by_call.low.calls, by_call.high.calls) == (
        found.low.calls,
        found.high.calls,
    )


def test_a_sample_stands_for_all_questions():
    found = estimated(plan("full-document"), sample=2)

    # Of four questions the first and the third, one on each document.
    assert (found.sampled, found.questions) == (2, 4)
    whole = estimated(plan("full-document"), sample=100)
    assert whole.sampled == 4
    assert found.low.usage.input_tokens == pytest.approx(
        whole.low.usage.input_tokens, rel=0.05
    )


def test_what_is_made_of_documents_counts_once_for_each():
    one = estimated(plan("readagent:page_words=60"))
    thrice = estimated(plan("readagent:page_words=60", runs=3))
    asked = one.high.usage.output_tokens, thrice.high.usage.output_tokens

    # Gists are written once; look-ups and answers are asked in every run.
    assert asked[0] < asked[1] < 3 * asked[0]
    assert one.low.usage.input_tokens < one.high.usage.input_tokens


def test_what_cannot_be_asked_is_told_once_for_each_arm():
    small = Plan([make_system("dos-rag")], [5, 100], set_of_four().questions)

    (failed,) = estimated(small).failed

    assert failed.startswith("dos-rag, 5: token_budget=5 holds no chunk")


def test_steps_are_reported():
    steps, asked = [], plan("dos-rag:size=30", "full-document")
    made = estimate_run(asked, bench_of(Replies()), advanced=lambda *s: steps.append(s))
    asyncio.run(made)

    assert steps == [(step, 2 * 4) for step in range(1, 9)]
