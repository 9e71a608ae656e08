"""The words of prompts: task lines of the sets, the papers' content, a user's files."""

import dataclasses

import pytest

from oprag.calls import SENTINEL
from oprag_eval.data import DATASETS, Dataset, Document, Question
from oprag_eval.question_words import TASKS, wording_for
from oprag_eval.requests import answer_call
from tests.evaluation.small import Replies, attempt, set_of_four

OPEN, CHOICE = set_of_four().questions[0], set_of_four().questions[2]


def named(name: str, *questions: Question) -> Dataset:
    return dataclasses.replace(set_of_four(), name=name, questions=questions or (OPEN,))


def prompt(name: str, question: Question = OPEN, style="letter", **options) -> str:
    routing = options.pop("routing", False)
    wording = wording_for(named(name), style=style, **options)
    return answer_call(question, "A text.", style, wording, routing=routing).prompt


def test_every_set_of_the_papers_has_a_task_of_its_own():
    assert set(TASKS) == {name.removesuffix("/documents") for name in DATASETS}


def test_our_own_words_are_the_same_for_most_sets():
    usual = answer_call(OPEN, "A text.").prompt

    for name in ("notes", "narrativeqa", "infinitebench/en.qa"):
        assert prompt(name) == usual


@pytest.mark.parametrize("source", ["own", "paper"])
def test_the_answers_of_a_set_are_asked_for_as_its_measure_wants_them(source):
    meeting = prompt("longbench/qmsum", source=source)
    article = prompt("longbench/qasper", source=source)

    assert "in one or more sentences" in meeting
    assert "as few words" not in meeting
    assert "yes or no" in article


def test_the_papers_words_tell_what_is_read_and_say_the_task_twice():
    story = prompt("narrativeqa", source="paper")

    assert story.startswith("You are given a story")
    assert story.count("as concisely as you can") == 2
    assert story.count(SENTINEL) == 2


@pytest.mark.parametrize("name", ["quality", "infinitebench/en.mc", "notes"])
def test_a_choice_of_the_papers_in_brackets_may_not_be_declined(name):
    asked = prompt(name, CHOICE, "brackets", source="paper")

    assert SENTINEL not in asked
    assert "[[1]]" in asked
    assert "\n1. iron\n2. oak\n" in asked
    assert SENTINEL in prompt(name, OPEN, "brackets", source="paper")
    assert SENTINEL in prompt(name, CHOICE, "brackets", source="paper", routing=True)


@pytest.mark.parametrize("question", [OPEN, CHOICE])
@pytest.mark.parametrize("style", ["letter", "brackets"])
@pytest.mark.parametrize("source", ["own", "paper"])
def test_no_prompt_lets_decline_where_that_is_not_wanted(question, style, source):
    options = {"source": source, "decline": False, "style": style}
    asked = prompt("longbench/qasper", question, **options)
    routed = prompt("longbench/qasper", question, **options, routing=True)

    assert SENTINEL not in asked
    assert SENTINEL in routed
    assert "Otherwise" not in asked


@pytest.mark.parametrize(
    ("name", "asked_for"),
    [("nq/documents", "very short"), ("hotpot_qa", "yes or no, or one of the two")],
)
def test_the_papers_words_of_longrag_tell_titles_task_and_all_answers(name, asked_for):
    texts = {name: f"{name} text. " + "word " * 900 for name in ("a", "b")}
    documents = {
        name: Document(name, f"Title of {name}", text) for name, text in texts.items()
    }
    asked = Question("q", (), "What is it?", ("x",))
    dataset = Dataset(f"longrag/{name}", (asked,), documents)
    sent = {}
    for source in ("own", "paper"):
        model = Replies(lambda _: "Here is\nthe Answer: a thing.\nIt is large.")
        options = {"wording": wording_for(dataset, source), "token_counter": None}
        spec = "longrag:links=none,max_tokens=2000,k=2"
        found = attempt(spec, model, dataset, **options)
        sent[source] = [call.prompt for call in model.calls], found.prediction
    (long, short), answer = sent["paper"]

    assert "Title of a, Title of b" in long
    assert asked_for in long
    assert ("exactly the words" in long) == (name == "hotpot_qa")
    assert short.count("Short answer: Mozart\n") == 1  # after the whole name
    assert short.count("Short answer:") == 8 + 5 + 1
    assert "Long answer: a thing.\nShort answer:" in short
    assert answer == "a thing."
    (long, short), answer = sent["own"]
    assert "Title of" not in long
    assert "It is large." in short
    assert answer.endswith("It is large.")
