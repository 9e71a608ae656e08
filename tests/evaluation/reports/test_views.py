"""Scores on parts of the questions, by the evidence's place, and beside full text."""

from __future__ import annotations

import dataclasses

import pytest

from oprag.chunk import Span
from oprag_eval.data import Dataset, Question
from oprag_eval.reports.summarizing import summarize
from oprag_eval.reports.summary import Summary
from oprag_eval.reports.tables import as_markdown, tables_of
from oprag_eval.reports.views import evidence_place
from oprag_eval.scoring import score
from oprag_eval.systems.full_document import FullDocuments
from oprag_eval.systems.retrieved import dos_rag
from tests.evaluation.reports.runs import NUMBERS, ask, ledgers


def told(dataset: Dataset, key: str, value) -> Dataset:
    """The ledgers, of whose questions something is said by their entries' numbers."""
    questions = tuple(
        dataclasses.replace(each, metadata={key: value(int(each.question_id[-1]))})
        for each in dataset.questions
    )
    return dataclasses.replace(dataset, questions=questions)


def summarized(path, dataset: Dataset, right=None, **options) -> Summary:
    """What a run shows in which `right` says which entry each system has right."""
    systems = [dos_rag(size=15), FullDocuments()]
    directory, _ = ask(path, systems, dataset=dataset, budgets=(90,))
    answers = directory.answers()
    for answer in answers if right else ():
        number = int(answer["question_id"][-1])
        answer["answered"] = True
        answer["prediction"] = "x"
        if right(answer["system"], number):
            answer["prediction"] = f"{NUMBERS[number]} barrels"
    directory.write_lines("answers.jsonl", answers)
    scores = score(directory, dataset)
    return summarize(directory, dataset, answers, scores, resamples=50, **options)


@pytest.mark.parametrize(
    ("key", "value", "by", "parts"),
    [
        ("difficult", lambda n: n > 2, "difficulty", {"easy": 1.0, "hard": 0.5}),
        ("type", lambda n: "bridge" if n < 3 else "comparison", "type", None),
        ("depth", lambda n: n / 9, "depth", None),
    ],
)
def test_scores_are_told_by_what_the_set_says_of_its_questions(
    tmp_path, key, value, by, parts
):
    summary = summarized(
        tmp_path, told(ledgers(), key, value), lambda _, number: number < 6
    )
    found = {
        each.part: each.figure
        for each in summary.parts
        if each.by == by and each.arm == "full-document"
    }

    assert sum(figure.questions for figure in found.values()) == 45
    if parts:
        assert {part: figure.mean for part, figure in found.items()} == parts
        assert [found[part].questions for part in parts] == [15, 30]
    (table,) = [each for each in tables_of(summary) if each.title == f"By {by}"]
    assert table.headings[1::2] == tuple(found)
    assert [row[0] for row in table.rows] == ["dos-rag, 90", "full-document"]
    if by == "depth":
        assert table.headings[1::2] == (
            *("first quarter", "second quarter", "third quarter", "last quarter"),
        )
    if parts:
        assert "| full-document | 100.00 [" in as_markdown(table)


def test_questions_of_one_kind_have_no_parts(tmp_path):
    summary = summarized(tmp_path, told(ledgers(), "type", lambda _: "bridge"))

    assert {each.by for each in summary.parts} == {"place of the evidence"}


def test_scores_are_told_by_where_the_evidence_lay_in_what_was_read(tmp_path):
    # The nine entries of a ledger are equally long, so the evidence of the first three
    # stands in the first third of the whole text, and so on.
    summary = summarized(tmp_path, ledgers(), lambda _, number: number < 3)
    found = {
        each.part: (each.figure.mean, each.figure.questions)
        for each in summary.parts
        if each.arm == "full-document"
    }

    assert found == {
        "first third": (1, 15),
        "middle third": (0, 15),
        "last third": (0, 15),
    }
    chunks = {each.part for each in summary.parts if each.arm == "dos-rag, 90"}
    assert "not in it" in chunks


@pytest.mark.parametrize(
    ("pieces", "place"),
    [
        ([["d", 100, 200, ""]], "first third"),
        ([["d", 0, 100, ""], ["d", 100, 200, ""]], "middle third"),
        ([["d", 300, 400, ""], ["d", 0, 100, ""], ["d", 90, 120, ""]], "last third"),
        ([["e", 100, 200, ""], ["d", 115, 130, ""], ["e", 0, 30, ""]], "last third"),
        ([["d", 0, 100, ""], ["e", 100, 200, ""], ["d", 120, 200, ""]], "not in it"),
        ([], "not in it"),
        ([["", None, None, "summary"], ["d", 100, 200, ""]], None),
    ],
)
def test_the_place_is_that_of_the_first_character_of_evidence_that_was_read(
    pieces, place
):
    question = Question("q", ("d",), "?", evidence=(Span(110, 120),))

    assert evidence_place({"pieces": pieces}, question) == place


def test_without_evidence_there_is_no_place():
    assert (
        evidence_place({"pieces": [["d", 0, 9, ""]]}, Question("q", ("d",), "?"))
        is None
    )


def test_an_arm_beside_the_full_text_and_what_an_oracle_would_get(tmp_path):
    # Of nine entries: both right on 0 to 2, the chunks alone on 3, the full text alone
    # on 4 and 5, and nobody on 6 to 8, where both write the same.
    right = {"dos-rag": {0, 1, 2, 3}, "full-document": {0, 1, 2, 4, 5}}
    summary = summarized(
        tmp_path, ledgers(), lambda system, number: number in right[system]
    )
    (found,) = summary.agreements
    tokens = {arm.label: arm.input_tokens for arm in summary.arms}

    assert (found.arm, found.full, found.answers) == (
        *("dos-rag, 90", "full-document", 45),
    )
    assert found.same == found.near == pytest.approx(6 / 9)
    assert found.better == pytest.approx(1 / 9)
    assert found.worse == pytest.approx(2 / 9)
    assert found.oracle == pytest.approx(6 / 9)
    assert tokens["dos-rag, 90"] < found.oracle_tokens < tokens["full-document"]
    (table,) = [t for t in tables_of(summary) if t.title == "Beside the full text"]
    assert "| dos-rag, 90 | 45 | 66.67 % | 66.67 % | 11.11 % |" in as_markdown(table)


def test_contexts_are_not_looked_at_so_where_they_are_what_is_compared_by(tmp_path):
    summary = summarized(tmp_path, ledgers(), measure="evidence_recall")

    assert (summary.parts, summary.agreements) == ((), ())
