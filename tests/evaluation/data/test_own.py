"""A user's questions on a folder."""

import pytest

from oprag.errors import OpragWarning, UnreadableFileError
from oprag_eval.data import read_own

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
    assert (first.doc_ids[0], first.answers) == ("more/eli.md", ("Eli", "He"))
    assert (second.doc_ids[0], second.answers) == ("more/lamp.md", ("Eli",))
    assert (third.doc_ids, third.question) == ((), "All,\nor none?")
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
        {"question": "Who?", "document": "a.pdf", "answer": "Mara"},
        {"question": "Who?", "question_id": "x", "answers": ["A", "B"]},
    ]
    found = read_own(
        write_jsonl("mine.jsonl", rows), {"a.pdf": "Mara.", "b.pdf": "Eli."}
    )

    one, other = found.questions
    assert (one.answers, one.doc_ids[0]) == (("Mara",), "a.pdf")
    assert (other.answers, other.doc_ids) == (("A", "B"), ())
    assert [d.doc_id for d in found.documents_of(other)] == ["a.pdf", "b.pdf"]
    assert found.documents["b.pdf"].text == "Eli."
    assert found.metrics == ("token_f1", "exact_match")


def test_options_in_a_list(write_jsonl):
    row = {"question": "Who?", "options": ["Eli", "Mara"], "correct": "B"}
    (question,) = read_own(write_jsonl("mine.jsonl", [row]), TEXTS).questions

    assert (question.options, question.gold_option) == (("Eli", "Mara"), 1)


def test_questions_with_and_without_options_are_refused(write_jsonl):
    choice = {"question": "Who?", "option_a": "A", "option_b": "B", "correct": "A"}
    path = write_jsonl("mine.jsonl", [{"question": "Who?", "answer": "A"}, choice])
    with pytest.raises(UnreadableFileError, match="give each kind a file"):
        read_own(path, TEXTS)


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ('{"question": "x", "text"', "no JSON: .* column 25"),
        ("[1]", "has no fields"),
        ({"question": "x", "evidence": [[0, 9]], "document": "a"}, "not a span"),
        ({"question": "x", "evidence": [[1, 1]], "document": "a"}, "not a span"),
        ({"question": "x", "evidence": [[0, 1]]}, "needs 'document', the file"),
        ({"question": "x", "answer": "a", "answers": []}, "'answer' and 'answers'"),
        ({"question": "x", "Answer": "a", "answer": "b"}, "have one name"),
        ("[" * 100_000, "no JSON: maximum recursion"),
        ({"question": 3.5, "question_id": [1]}, "'question_id': .* string"),
    ],
)
def test_a_bad_line_of_json_is_named(write_jsonl, line, reason):
    path = write_jsonl("mine.jsonl", [{"question": "Who?"}, "", line])
    with pytest.raises(UnreadableFileError, match=reason) as caught:
        read_own(path, {"a": "text"})
    assert caught.value.path == str(path)
    assert caught.value.line == 3  # blank lines are skipped and counted


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"document": "lamp"}, "'lamp' fits several documents"),
        ({"document": "x"}, "'x' is unknown .known: eli"),
        ({"question": ""}, "'question': .* it is empty"),
        ({"correct": "c"}, "'correct' is 'c'"),
        ({"correct": ""}, "'correct' is ''"),
        ({"option_a": "", "option_b": "", "correct": "y"}, "there are no options"),
        ({"option_a": "", "correct": "b"}, "'option_b' and no 'option_a'"),
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
    with pytest.raises(
        UnreadableFileError, match="as many fields as the heading"
    ) as caught:
        read_own(path, {"a": "text"})
    assert caught.value.line == 3


def test_two_columns_of_one_name_are_refused(tmp_path):
    path = tmp_path / "mine.csv"
    path.write_text("question,Answer,answer \nWho?,Mara,Eli\n")
    with pytest.raises(UnreadableFileError, match=r"two columns .* 'answer'"):
        read_own(path, {"a": "text"})


def test_headings_may_have_capitals_and_spaces(tmp_path):
    path = tmp_path / "mine.csv"
    path.write_text("Question, Question ID ,Answer,ANSWER_2,\nWho?,x,Mara,She,\n")
    (question,) = read_own(path, {"a": "text"}).questions

    assert (question.question, question.question_id) == ("Who?", "x")
    assert question.answers == ("Mara", "She")


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
    (tmp_path / "folder.csv").mkdir()
    for questions, documents, reason in (
        (tmp_path / "latin.csv", {"a": "x"}, "no CSV in UTF-8"),
        (tmp_path / "empty.csv", {"a": "x"}, "holds no questions"),
        (tmp_path / "none.csv", {"a": "x"}, r"none\.csv' does not exist"),
        (tmp_path / "q.xlsx", {"a": "x"}, r"oprag takes \.csv or \.jsonl"),
        (tmp_path / "heading.csv", {"a": "x"}, r"heading\.csv' holds no questions"),
        (tmp_path / "none.jsonl", {"a": "x"}, r"none\.jsonl' holds no questions"),
        (tmp_path / "folder.csv", {"a": "x"}, "is a folder"),
    ):
        with pytest.raises(UnreadableFileError, match=reason):
            read_own(questions, documents)
