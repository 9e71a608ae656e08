"""The project's own format, and a user's questions on a folder."""

import json
from pathlib import Path

import pytest

from oprag.errors import (
    DocumentNotFoundError,
    InvalidOptionError,
    OpragWarning,
    UnreadableFileError,
)
from oprag_eval.data import load, read_own
from oprag_eval.metrics import evidence_recall

SHARED = Path(__file__).parents[4] / "shared" / "data"
"""Sets in the project's own format; they lie beside the repository, if at all."""

DOCS = [
    {"doc_id": "lamp", "title": "The Lamp", "text": "Mara lit the lamp at six."},
    {"doc_id": 2, "text": "Eli stayed."},
]
QUESTION = {
    "question_id": "q1",
    "doc_id": "lamp",
    "question": "Who lit the lamp?",
    "answers": ["Mara", "She"],
    "evidence": [[0, 4]],
    "evidence_text": ["Mara"],
    "evidence_kind": "any",
    "level": 3,
}


@pytest.fixture
def own(write_jsonl, tmp_path):
    def read(*questions, docs=DOCS):
        write_jsonl("set/docs.jsonl", docs)
        write_jsonl("set/questions.jsonl", questions)
        return load("jsonl", tmp_path / "set")

    return read


def test_the_own_format(own):
    found = own(QUESTION)

    (question,) = found.questions
    assert (question.doc_id, question.answers) == ("lamp", ("Mara", "She"))
    assert (question.evidence, question.evidence_kind) == (((0, 4),), "any")
    assert question.metadata == {"level": 3}
    assert list(found.documents) == ["lamp", "2"]
    assert found.document("lamp").title == "The Lamp"
    assert (found.name, found.metrics, found.notes) == (
        "set", ("token_f1", "exact_match"), (),
    )  # fmt: skip


def test_a_question_may_name_several_documents_or_none(own):
    several = {"question_id": 1, "question": "?", "doc_ids": ["2", "lamp"]}
    all_of_them = {"question_id": 2, "question": "?"}
    found = own(several, all_of_them)

    given = [[d.doc_id for d in found.documents_of(q)] for q in found.questions]
    assert given == [["2", "lamp"], ["lamp", "2"]]
    for question in found.questions:
        with pytest.raises(InvalidOptionError, match="use doc_ids"):
            _ = question.doc_id
    assert found.metrics == ()
    with pytest.raises(DocumentNotFoundError):
        found.document("x")


def test_options(own):
    changed = {"options": ["Eli", "Mara"], "gold_option": 1, "answers": None}
    found = own({**QUESTION, **changed})

    (question,) = found.questions
    assert (question.gold_letter, question.answers) == ("B", ("Mara",))
    assert found.metrics == ("choice_match", "bracketed_match")


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"answers": "Mara"}, "'answers' is not a list"),
        ({"question": None}, "'question' is NoneType"),
        ({"doc_id": "x"}, "one document that is there"),
        ({"evidence": [[0, 99]]}, r"no span \[start, end\) of a document of 25"),
        ({"evidence": [[4, 4]]}, "no span"),
        ({"evidence": [4, 5]}, "no span"),
        ({"evidence_text": ["Eli"]}, "not the document's text"),
        ({"evidence_kind": None}, "'evidence_kind' is None"),
        ({"options": ["a", "b"], "gold_option": 2}, "is 2, of 2 options"),
        ({"options": ["a", "b"], "gold_option": "a"}, "not the index"),
        ({"question_id": None}, "'question_id' is NoneType"),
    ],
)
def test_a_bad_question_is_named_by_line(own, changes, reason):
    with pytest.raises(UnreadableFileError, match=reason) as caught:
        own(QUESTION, {**QUESTION, "question_id": "q2", **changes})
    assert caught.value.path.endswith("questions.jsonl")
    assert caught.value.line == 2


def test_a_question_on_a_document_that_is_not_there(own):
    question = {"question_id": "q", "question": "?", "doc_id": "x"}
    with pytest.raises(UnreadableFileError, match="names the document 'x'"):
        own(question)


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ('{"doc_id": "x", "text"', "no JSON: .* at column 23"),
        ("[1]", "list, not a JSON object"),
        (DOCS[0], "'lamp' occurs twice"),
        ({"doc_id": "x", "text": ""}, "'text' is empty"),
    ],
)
def test_a_bad_document_is_named_by_line(own, line, reason):
    with pytest.raises(UnreadableFileError, match=reason) as caught:
        own(QUESTION, docs=[DOCS[0], "", line])
    assert caught.value.line == 3  # blank lines are skipped and counted


def test_bytes_that_are_no_text_are_named_by_line(tmp_path):
    (tmp_path / "docs.jsonl").write_bytes(
        b'\xef\xbb\xbf{"doc_id": 1, "text": "a"}\n\xff\n'
    )
    with pytest.raises(UnreadableFileError, match="no UTF-8") as caught:
        load("jsonl", tmp_path)
    assert caught.value.line == 2


TEXTS = {"lamp.txt": "a", "more/eli.md": "b", "more/lamp.md": "c"}


def test_questions_in_csv(write_csv):
    row = {"question": "Who?", "document": "eli", "answer": "Eli", "answer_2": "He",
           "topic": "lamps"}  # fmt: skip
    rows = [
        row,
        {**row, "document": "more/lamp.md", "answer_2": ""},
        {**row, "document": "", "question": "All,\nor none?"},
    ]
    with pytest.warns(OpragWarning, match="the field 'topic' is not used"):
        found = read_own(write_csv("mine.csv", rows), TEXTS)

    first, second, third = found.questions
    assert [q.question_id for q in found.questions] == ["1", "2", "3"]
    assert (first.doc_id, first.answers) == ("more/eli.md", ("Eli", "He"))
    assert (second.doc_id, second.answers) == ("more/lamp.md", ("Eli",))
    assert (third.doc_ids, third.question) == ((), "All,\nor none?")
    assert first.metadata == {"topic": "lamps"}
    assert list(found.documents) == ["lamp.txt", "more/eli.md", "more/lamp.md"]
    assert found.metrics == ("token_f1", "exact_match")


def test_options_in_csv(write_csv):
    row = {"question": "Who?", "option_a": "Eli", "option_b": "Mara", "correct": "b"}
    found = read_own(write_csv("mine.csv", [row]), TEXTS)

    (question,) = found.questions
    assert (question.options, question.gold_option) == (("Eli", "Mara"), 1)
    assert found.metrics == ("choice_match", "bracketed_match")


def test_questions_in_json_lines_on_texts(write_jsonl):
    rows = [
        {"question": "Who?", "doc_id": "a.pdf", "answer": "Mara"},
        {
            "question": "Who?",
            "question_id": "x",
            "options": ["A", "B"],
            "gold_option": 0,
        },
    ]
    found = read_own(
        write_jsonl("mine.jsonl", rows), {"a.pdf": "Mara.", "b.pdf": "Eli."}
    )

    assert found.questions[0].answers == ("Mara",)
    assert found.questions[0].doc_id == "a.pdf"
    assert found.questions[1].gold_text == "A"
    assert found.documents["b.pdf"].text == "Eli."
    assert found.metrics == ("token_f1", "exact_match")  # only one has options


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"document": "lamp"}, "'lamp' fits several documents"),
        ({"document": "x"}, "'x' is not there .known: eli"),
        ({"question": ""}, "'question' is empty"),
        ({"correct": "c"}, "'correct' is 'c'"),
        ({"correct": ""}, "'correct' is ''"),
    ],
)
def test_a_bad_line_of_ones_own(write_csv, tmp_path, changes, reason):
    texts = {"more/lamp.md": "a", "lamp.txt": "b", "eli.txt": "c"}
    row = {"question": "Who?", "document": "", "option_a": "x", "option_b": "y",
           "correct": "a"}  # fmt: skip
    path = write_csv("mine.csv", [row, {**row, **changes}])
    with pytest.raises(UnreadableFileError, match=reason) as caught:
        read_own(path, texts)
    assert caught.value.line == 3


@pytest.mark.parametrize("line", ["Who?", "Who?,a,b"])
def test_a_line_of_csv_with_other_fields_is_named(tmp_path, line):
    path = tmp_path / "mine.csv"
    path.write_text(f"question,answer\nWho?,Mara\n{line}\n", "utf-8")
    with pytest.raises(UnreadableFileError, match="2 fields of line 1") as caught:
        read_own(path, {"a": "text"})
    assert caught.value.line == 3


def test_headings_may_have_capitals_and_spaces(tmp_path):
    path = tmp_path / "mine.csv"
    path.write_text("Question, Question ID ,Answer,ANSWER_2,\nWho?,x,Mara,She,\n")
    (question,) = read_own(path, {"a": "text"}).questions

    assert (question.question, question.question_id) == ("Who?", "x")
    assert question.answers == ("Mara", "She")


@pytest.mark.parametrize(
    ("heading", "reason"),
    [
        ("question,answers", "'answers' is not a list"),
        ("question,Question", "'question', 'Question'. have one name"),
        ("Frage,Antwort", r"no field 'question' .fields found: 'frage', 'antwort'"),
    ],
)
def test_a_heading_that_cannot_be_read_is_told(tmp_path, heading, reason):
    path = tmp_path / "mine.csv"
    path.write_text(f"{heading}\nWho,Mara\n", "utf-8")
    with pytest.raises(UnreadableFileError, match=reason):
        read_own(path, {"a": "text"})


def test_only_numbered_answers_are_answers(write_csv):
    row = {"question": "Who?", "answer": "Mara", "answer_source": "page 3"}
    with pytest.warns(OpragWarning, match="'answer_source' is not used"):
        found = read_own(write_csv("mine.csv", [row]), {"a": "text"})

    (question,) = found.questions
    assert question.answers == ("Mara",)
    assert question.metadata == {"answer_source": "page 3"}
    assert found.notes == ("the field 'answer_source' is not used",)


def test_all_evidence_is_needed_unless_it_is_said(write_jsonl):
    row = {"question": "Who?", "document": "a", "evidence": [[0, 4], [5, 6]]}
    path = write_jsonl("mine.jsonl", [row, {**row, "evidence_kind": "any"}])
    first, second = read_own(path, {"a.txt": "Mara." + "!"}).questions

    assert (first.evidence, first.evidence_kind) == (((0, 4), (5, 6)), "all")
    assert second.evidence_kind == "any"


def test_files_that_cannot_be_used(tmp_path):
    (tmp_path / "latin.csv").write_bytes("question\nCafé?\n".encode("latin-1"))
    (tmp_path / "empty.csv").write_bytes(b"")
    (tmp_path / "q.xlsx").write_bytes(b"PK\x03\x04\xff")
    (tmp_path / "heading.csv").write_bytes(b"question,answer\n")
    (tmp_path / "none.jsonl").write_bytes(b"\n")
    (tmp_path / "folder").mkdir()
    for questions, documents, reason in (
        (tmp_path / "latin.csv", {"a": "x"}, "is not UTF-8"),
        (tmp_path / "empty.csv", {"a": "x"}, "is empty"),
        (tmp_path / "none.csv", {"a": "x"}, r"none\.csv' is not there"),
        (tmp_path / "nowhere", {"a": "x"}, "is not there"),
        (tmp_path / "q.xlsx", {"a": "x"}, r"oprag takes \.csv or \.jsonl"),
        (tmp_path / "heading.csv", {"a": "x"}, r"heading\.csv' holds no questions"),
        (tmp_path / "none.jsonl", {"a": "x"}, r"none\.jsonl' holds no questions"),
        (tmp_path / "folder", {"a": "x"}, "is a folder"),
    ):
        with pytest.raises(UnreadableFileError, match=reason):
            read_own(questions, documents)


@pytest.mark.parametrize(
    ("name", "questions", "documents"),
    [
        ("chunking_eval", 375, 4),
        ("covidqa", 727, 46),
        ("nocha_sample", 60, 2),
        ("qmsum", 521, 59),
        ("squality", 95, 19),
        ("xquad_en", 497, 21),
    ],
)
def test_real_sets(name, questions, documents):
    folder = SHARED / name
    if not folder.is_dir():
        pytest.skip(f"{folder} is not there")
    found = load("jsonl", folder)

    assert (len(found.questions), len(found.documents)) == (questions, documents)
    for question in found.questions:
        if question.evidence:  # checked against the text while it was read
            whole = [(0, len(found.document(question.doc_id).text))]
            kind = question.evidence_kind
            assert evidence_recall(question.evidence, whole, kind=kind)
    lines = (folder / "docs.jsonl").read_text("utf-8").split("\n")
    ids = [json.loads(line)["doc_id"] for line in lines if line]
    assert list(found.documents) == ids
