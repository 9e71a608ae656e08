"""QuALITY, LongBench, LongRAG and NarrativeQA."""

import json
import zipfile

import pytest

from oprag.errors import OpragWarning, UnreadableFileError
from oprag_eval.data import load
from oprag_eval.data.narrativeqa import read_narrativeqa
from oprag_eval.data.quality import read_quality
from oprag_eval.data.rows import Rows

pytestmark = pytest.mark.usefixtures("counts_differ")


def rows_of(*values):
    return Rows("sample", [*enumerate(values, 1)])


def quality(**changes):
    question = {
        "question": "Why did she leave?",
        "question_unique_id": "52845_X_1",
        "options": ["Rain", "Fear", "Duty", "Sleep"],
        "gold_label": 3,
        "difficult": 1,
    }
    line = {
        "article_id": "52845",
        "set_unique_id": "52845_X",
        "title": "The Lamp",
        "article": "Mara left.",
        "questions": [{**question, **changes.pop("question", {})}],
    }
    return {**line, **changes}


def test_quality(write_jsonl):
    lines = [quality(), quality(question={"question_unique_id": "52845_Y_1"})]
    path = write_jsonl("QuALITY.v1.0.1.htmlstripped.dev", lines)
    found = load("quality", path.parent)

    first, second = found.questions
    assert (first.gold_option, first.options[2]) == (2, "Duty")
    assert first.doc_ids == second.doc_ids == ("52845",)
    (document,) = found.documents.values()
    assert (document.title, document.text) == ("The Lamp", "Mara left.")
    assert found.metrics[0] == "bracketed_match"
    assert found.notes == ("2 questions, not 2086 as in the papers",)


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (quality(article="Another text."), "another text than before"),
        (quality(question={"gold_label": 5}), "label 5 of 4 options"),
        (quality(question={"options": "none"}), "'questions.0.options': .* tuple"),
    ],
)
def test_a_bad_line_of_quality(line, reason):
    with pytest.raises(UnreadableFileError, match=reason) as caught:
        read_quality(rows_of(quality(), line))
    assert caught.value.line == 2


def longbench(**changes):
    row = {
        "_id": "ab12",
        "input": "Who lit it?",
        "context": "Passage 1:\nMara lit it.",
        "answers": ["Mara", "She"],
        "length": 5,
        "dataset": "hotpotqa",
        "language": "en",
        "all_classes": None,
    }
    return {**row, **changes}


@pytest.mark.parametrize("packed", [False, True])
def test_longbench(write_jsonl, tmp_path, packed):
    path = write_jsonl("data/hotpotqa.jsonl", [longbench()])
    if packed:
        with zipfile.ZipFile(tmp_path / "data.zip", "w") as archive:
            archive.write(path, "data/hotpotqa.jsonl")
        path.unlink()
        path = tmp_path / "data.zip"
    for place in (path, tmp_path):
        found = load("longbench/hotpotqa", place)
        assert len(found.questions) == 1

    (question,) = found.questions
    assert (question.question_id, question.question) == ("ab12", "Who lit it?")
    assert question.answers == ("Mara", "She")
    assert found.documents[question.doc_ids[0]].text == "Passage 1:\nMara lit it."
    assert found.metrics == ("token_f1",)
    assert found.notes == ("1 questions, not 200 as in the papers",)


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: data.replace(b"lit it", b"LIT IT", 1),
        # The flag of an encrypted file, in both of its headers.
        lambda data: data.replace(b"\x14\0\0\0", b"\x14\0\x01\0"),
    ],
)
def test_a_zip_that_cannot_be_unpacked_is_named(tmp_path, damage):
    path = tmp_path / "data.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("data/hotpotqa.jsonl", json.dumps(longbench()))
    path.write_bytes(damage(path.read_bytes()))

    with pytest.raises(UnreadableFileError, match="cannot be unpacked"):
        load("longbench/hotpotqa", path)


def test_a_bad_line_in_a_zip_is_named(tmp_path):
    path = tmp_path / "data.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("data/musique.jsonl", '\n{"_id": 1,}\n')

    with pytest.raises(UnreadableFileError, match="no JSON") as caught:
        load("longbench/musique", path)
    assert caught.value.path.endswith("data.zip/data/musique.jsonl")
    assert caught.value.line == 2
    with pytest.raises(UnreadableFileError, match="qasper"):
        load("longbench/qasper", path)


def longrag(**changes):
    row = {
        "query_id": 383,
        "query": "who lit the lamp",
        "answer": ["Mara"],
        "context_titles": ["Lamp", "Mara"],
        "context": "Title: Lamp\nMara lit it.",
        "sp": ["Lamp", "Eli"],
        "type": "bridge",
    }
    return {**row, **changes}


def test_longrag_with_the_authors_own_context(write_jsonl):
    path = write_jsonl("hotpot_qa.jsonl", [longrag()])
    found = load("longrag/hotpot_qa", path.parent)

    (question,) = found.questions
    assert question.question_id == "383"
    assert question.supporting == ("Lamp", "Eli")
    document = found.documents[question.doc_ids[0]]
    assert (document.title, document.text) == (
        "Lamp, Mara",
        "Title: Lamp\nMara lit it.",
    )
    assert found.metrics == ("longrag_match", "exact_match")
    assert found.notes == ("1 questions, not 7405 as in the papers",)


def hub_row(doc_id, text):
    return {
        "document": {"id": doc_id, "text": text, "summary": {"title": "Lamp"}},
        "question": {"text": "Who?", "tokens": ["Who", "?"]},
        "answers": [{"text": "Mara", "tokens": []}, {"text": "She", "tokens": []}],
    }


def test_narrativeqa_from_the_hubs_rows():
    page = "<html><body><p>Mara &amp; Eli</p></body></html>"
    rows = rows_of(hub_row("d1", page), hub_row("d2", ""), hub_row("d1", page))
    with pytest.warns(OpragWarning, match="1 stories have no text"):
        found = read_narrativeqa(rows)

    assert [q.question_id for q in found.questions] == ["d1-1", "d1-2"]
    assert found.questions[0].answers == ("Mara", "She")
    document = found.documents["d1"]
    assert (document.title, document.text) == ("Lamp", "Mara & Eli")
    assert "1 stories have no text: 1 questions" in found.notes[-1]


def test_a_set_that_is_not_on_the_hub_says_which_file_it_takes():
    with pytest.raises(UnreadableFileError, match="Give the path of") as caught:
        load("quality")
    assert caught.value.path == "quality"
