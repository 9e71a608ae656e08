"""The questions of the page: places of the passages, and a said part of a large run."""

from __future__ import annotations

import pytest

from oprag.evaluation.data import Dataset, Document, Question
from oprag.evaluation.reports.page import page_data
from tests.evaluation.reports.runs import ledgers


@pytest.fixture(scope="module")
def lines(answered):
    from oprag.evaluation.running.run_directory import RunDirectory
    from oprag.evaluation.scoring import score_answers

    answers = RunDirectory(answered).answers()
    return answers, list(score_answers(answers, ledgers()))


def test_all_answers_of_a_question_stand_together(lines):
    data = page_data(*lines, ledgers(), "token_f1")

    assert [q["id"] for q in data["questions"]] == [
        question.question_id for question in ledgers().questions
    ]
    assert (data["total"], data["every"]) == (45, 1)
    assert data["arms"][:3] == [
        ["vanilla-rag", 30],
        ["vanilla-rag", 90],
        ["dos-rag", 30],
    ]
    assert all(len(q["answers"]) == 10 for q in data["questions"])
    answers, scores = lines
    shown = {
        (data["arms"][a[0]][0], data["arms"][a[0]][1], q["id"]): a
        for q in data["questions"]
        for a in q["answers"]
    }
    for answer, scored in zip(answers, scores, strict=True):
        row = shown[answer["system"], answer["budget"], answer["question_id"]]
        assert row[2] == (answer["prediction"] if answer["answered"] else None)
        assert row[3] == pytest.approx(scored["token_f1"], abs=1e-4)
        assert row[6] == [
            [[d[0] for d in data["documents"]].index(name), start, end]
            for name, start, end, _ in answer["pieces"]
        ]


def test_documents_have_their_length_and_evidence_its_place(lines):
    data, dataset = page_data(*lines, ledgers(), ""), ledgers()

    assert data["documents"] == [
        [doc.doc_id, doc.title, len(doc.text)] for doc in dataset.documents.values()
    ]
    for shown, asked in zip(data["questions"], dataset.questions, strict=True):
        (span,) = asked.evidence
        assert shown["evidence"] == [[shown["documents"][0], span.start, span.end]]
        assert {row[3] for row in shown["answers"]} == {None}  # no measure


@pytest.mark.parametrize(
    ("most", "every"),
    [
        ({"most_answers": 450}, 1),
        ({"most_answers": 449}, 2),
        ({"most_answers": 40}, 12),
    ],
)
def test_a_large_run_shows_questions_at_even_distances(lines, most, every):
    data = page_data(*lines, ledgers(), "token_f1", **most)
    ids = [question.question_id for question in ledgers().questions]

    assert data["every"] == every
    assert [q["id"] for q in data["questions"]] == ids[::every]
    assert data["total"] == 45


def test_passages_bound_the_page_too(lines):
    answers, _ = lines
    pieces = sum(len(answer["pieces"]) for answer in answers)
    data = page_data(*lines, ledgers(), "token_f1", most_pieces=pieces // 4)

    assert data["every"] in (4, 5)


def test_a_question_on_the_whole_set_is_drawn_over_what_was_read():
    dataset = Dataset(
        "s",
        (Question("q", (), "?", ("x",)),),
        {name: Document(name, "", "0123456789") for name in "abc"},
    )
    answer = {
        "system": "s",
        "budget": None,
        "run": 0,
        "question_id": "q",
        "prediction": "x",
        "answered": True,
        "pieces": [["c", 0, 4, ""], ["a", 2, 3, ""], ["a", None, None, "summary"]],
        "context_tokens": 3,
        "route": "",
    }
    data = page_data([answer], [answer], dataset, "")
    (question,) = data["questions"]

    assert data["documents"] == [["c", "", 10], ["a", "", 10]]
    assert question["documents"] == [0, 1]
    assert question["answers"][0][6:] == [[[0, 0, 4], [1, 2, 3]], 1]
