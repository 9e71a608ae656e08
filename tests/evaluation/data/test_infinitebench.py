"""∞Bench's files."""

import pytest

from oprag.errors import InvalidOptionError, OpragWarning, UnreadableFileError
from oprag_eval.data import load

BOOK = "Mara lit the lamp.\n\nThen she left."
OTHER = "Eli stayed on the island."


def mc(**changes):
    row = {
        "id": 7,
        "context": BOOK,
        "input": "Who lit the lamp?",
        "answer": ["Mara"],
        "options": ["Eli", "Ruth", "Mara", "Jon"],
    }
    return {**row, **changes}


@pytest.fixture
def en_mc(write_jsonl, counts_differ):
    def read(*rows):
        path = write_jsonl("longbook_choice_eng.jsonl", rows)
        return load("infinitebench/en.mc", path.parent)

    return read


@pytest.mark.parametrize("answer", [["Mara"], ["Mara", "C"]])
def test_multiple_choice(en_mc, answer):
    (question,) = en_mc(mc(answer=answer)).questions

    assert question.answers == ("Mara",)
    assert question.options == ("Eli", "Ruth", "Mara", "Jon")
    assert (question.gold_option, question.options[2]) == (2, "Mara")


def test_questions_on_one_book_share_one_document(en_mc):
    found = en_mc(mc(), mc(id=8), mc(id=9, context=OTHER))

    one, two, three = (question.doc_ids[0] for question in found.questions)
    assert one == two != three
    assert [document.text for document in found.documents.values()] == [BOOK, OTHER]


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"answer": ["Ben"]}, "none of the four options"),
        ({"answer": ["Mara", "A"]}, "none of the four options"),
        ({"options": ["Mara"]}, "none of the four options"),
        (
            {"answer": ["Ben", "E"], "options": [*"abcd", "Ben"]},
            "none of the four options",
        ),
        ({"answer": 3}, "'answer': .* tuple"),
        ({"context": None}, "'context': .* valid string"),
        ({"input": " "}, "'input': .* it is empty"),
    ],
)
def test_a_bad_row_is_named_by_file_and_line(en_mc, tmp_path, changes, reason):
    with pytest.raises(UnreadableFileError, match=reason) as caught:
        en_mc(mc(), mc(**{"id": 8, **changes}))

    path = str(tmp_path / "longbook_choice_eng.jsonl")
    assert (caught.value.path, caught.value.line) == (path, 2)
    assert caught.value.message.startswith(f"{path}, line 2: ")


def test_a_count_that_the_papers_do_not_give_is_said(write_jsonl):
    path = write_jsonl("longbook_choice_eng.jsonl", [mc()])
    with pytest.warns(OpragWarning) as caught:
        found = load("infinitebench/en.mc", path)

    assert found.notes == ("1 questions, not 229 as in the papers",)
    assert [str(w.message) for w in caught] == [
        f"infinitebench/en.mc: {note}" for note in found.notes
    ]


def test_two_questions_of_one_id_are_an_error(en_mc):
    with pytest.raises(UnreadableFileError, match="'7' occurs twice"):
        en_mc(mc(), mc())


def test_only_the_tasks_of_the_papers_are_read(tmp_path):
    with pytest.raises(InvalidOptionError, match=r"infinitebench/en\.mc"):
        load("infinitebench/math", tmp_path)
