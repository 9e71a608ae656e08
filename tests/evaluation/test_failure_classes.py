"""Declined questions are labelled once each, by their words; nothing is guessed."""

from __future__ import annotations

import asyncio
import dataclasses
import re

import pytest

from oprag.errors import ModelCallError
from oprag_eval.failure_classes import label_declined, read_labels
from oprag_eval.reports.arms import arms_of, class_counts
from oprag_eval.running.run_directory import RunDirectory
from oprag_eval.running.runner import Plan, run
from oprag_eval.scoring import score
from oprag_eval.systems.retrieved import dos_rag, vanilla_rag
from oprag_eval.systems.self_route import SelfRoute
from tests.evaluation.reports.runs import ledgers
from tests.evaluation.small import Replies, bench_of, set_of_four


@pytest.fixture
def directory(tmp_path) -> RunDirectory:
    """Two systems that decline q2 and q4."""

    def rule(call):
        declined = "lamp" in call.facts["question"] or "king" in call.facts["question"]
        return "Unanswerable." if declined else "in May"

    directory = RunDirectory(tmp_path)
    directory.begin({})
    plan = Plan([vanilla_rag(size=20), dos_rag(size=20)], [80], set_of_four().questions)
    assert asyncio.run(run(plan, bench_of(Replies(rule)), directory)).complete
    return directory


def label(directory, reply, **options):
    model = Replies(reply if callable(reply) else lambda _: reply)
    labels = asyncio.run(label_declined(directory, set_of_four(), model, **options))
    return labels, model


def test_each_declined_question_is_asked_once_whatever_declined_it(directory):
    labels, model = label(directory, lambda call: "AD"["king" in call.prompt])

    assert labels == {"q2": "multi-step", "q4": "implicit"}
    assert [call.kind for call in model.calls] == ["failure_class"] * 2
    assert all("Answer:" not in call.prompt for call in model.calls)
    assert "When was the lamp lit?" in model.calls[0].prompt


def test_labelling_again_asks_nothing_and_writes_the_same(directory):
    labels, _ = label(directory, "B", concurrency=1)
    written = (directory.path / "failure_classes.jsonl").read_bytes()
    again, model = label(directory, "C", concurrency=3)

    assert again == labels == read_labels(directory)
    assert model.calls == []
    assert (directory.path / "failure_classes.jsonl").read_bytes() == written


def test_another_models_labels_are_asked_for_anew(directory):
    label(directory, "B")
    other = Replies(lambda _: "C")
    other.name = "another"
    labels = asyncio.run(label_declined(directory, set_of_four(), other))

    assert set(labels.values()) == {"long or complex"}
    assert len(other.calls) == 2


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ("A", "multi-step"),
        (" **D** ", "implicit"),
        ("(E).", "other"),
        ("C: it has many conditions, a and b", "long or complex"),
        ("B) It is too general.", "general"),
        ("The question is implicit.", "implicit"),
        ("A general question", "general"),
        ("It is general, or implicit.", "unread"),
        ("a", "unread"),
        ("F", "unread"),
        ("", "unread"),
    ],
)
def test_a_reply_is_read_or_said_not_to_be(directory, reply, expected):
    labels, _ = label(directory, reply)

    assert set(labels.values()) == {expected}


def test_what_was_labelled_before_a_failure_is_kept(directory):
    def rule(call):
        if "king" in call.prompt:
            raise ModelCallError("it is down", model="replies")
        return "A"

    with pytest.raises(ModelCallError, match="it is down"):
        label(directory, rule, concurrency=1)
    assert read_labels(directory) == {"q2": "multi-step"}

    labels, model = label(directory, "B", concurrency=1)
    assert labels == {"q2": "multi-step", "q4": "general"}
    assert len(model.calls) == 1


def test_a_run_without_refusals_asks_nothing(tmp_path):
    directory = RunDirectory(tmp_path)
    directory.begin({})
    plan = Plan([dos_rag(size=20)], [80], set_of_four().questions)
    asyncio.run(run(plan, bench_of(Replies()), directory))
    labels, model = label(directory, "A")

    assert (labels, model.calls) == ({}, [])


def test_counts_are_of_answers_by_arm(directory):
    lines = directory.answers()
    labels = {"q2": "implicit"}

    assert class_counts(labels, arms_of(lines)) == {
        "vanilla-rag, 80": {"implicit": 1, "not labelled": 1},
        "dos-rag, 80": {"implicit": 1, "not labelled": 1},
    }
    assert class_counts({}, arms_of(lines)) == {}


def test_what_the_first_step_declined_is_labelled_whatever_the_second_answered(
    tmp_path,
):
    asked = tuple(
        dataclasses.replace(q, question=f"{q.question} ({q.question_id})")
        for q in ledgers().questions[:35]
    )
    dataset = dataclasses.replace(ledgers(), questions=asked)
    hard = {question.question for question in dataset.questions[:16]}

    def oracle(call):
        whole = any(d.text == call.facts["context"] for d in dataset.documents.values())
        return (
            "three" if whole or call.facts["question"] not in hard else "unanswerable"
        )

    directory = RunDirectory(tmp_path)
    directory.begin({})
    plan = Plan([SelfRoute(k=1, size=20)], [], dataset.questions)
    bench = bench_of(Replies(oracle), dataset)
    assert asyncio.run(run(plan, bench, directory)).complete
    answers = directory.answers()
    judge = Replies(lambda _: "D")
    labels = asyncio.run(label_declined(directory, dataset, judge))
    (arm,) = arms_of(score(directory, dataset))

    assert all(answer["answered"] for answer in answers)
    assert len(labels) == len(judge.calls) == 16
    assert class_counts(labels, [arm]) == {"self-route": {"implicit": 16}}
    steps = [[step["name"] for step in answer["steps"]] for answer in answers]
    assert steps == [["retrieved", "full"]] * 16 + [["retrieved"]] * 19
    assert [step["reply"] for step in answers[0]["steps"]] == ["unanswerable", "three"]
    for answer in answers:
        asked = sum(step["usage"]["input_tokens"] for step in answer["steps"])
        assert asked == answer["usage"]["answer"]["input_tokens"]


def test_the_judge_is_shown_questions_that_were_judged(directory):
    _, model = label(directory, "B")

    letters = re.findall(r"^Letter: ([A-E])$", model.calls[0].prompt, re.MULTILINE)
    assert set(letters) == set("ABCDE")
