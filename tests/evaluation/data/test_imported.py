"""Questions in the formats of LlamaIndex, ragas and LangSmith."""

import csv
import json
import uuid
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace

import pytest
from langsmith.schemas import Example

from oprag.errors import OpragWarning, UnreadableFileError
from oprag_eval.data import check_gold, read_own
from oprag_eval.data.gold import find_passage
from oprag_eval.data.records import Document

TEXTS = {
    "harbour.txt": "The harbour opened. Its first ship\ncarried salt. It rained.",
    "mill.md": "The mill ground rye. The wheel was made of oak. It rained.",
}
SALT = "Its first ship carried salt."
LLAMA = {
    "examples": [
        {
            "query": "What did the first ship carry?",
            "query_by": {"model_name": "gpt-4o", "type": "ai"},
            "reference_contexts": [SALT],
            "reference_answer": "salt",
            "reference_answer_by": {"model_name": "", "type": "human"},
        },
        {
            "query": "What was the wheel made of?",
            "query_by": None,
            "reference_contexts": None,
            "reference_answer": "oak",
            "reference_answer_by": None,
        },
    ]
}
RAGAS = [
    {
        "user_input": "What did the first ship carry?",
        "reference_contexts": [SALT],
        "reference": "salt",
        "synthesizer_name": "single_hop_specific_query_synthesizer",
    },
    {
        "user_input": "What was the wheel made of?",
        "reference_contexts": None,
        "reference": "oak",
        "synthesizer_name": "",
    },
]
LANGSMITH = [
    {
        "id": "5f5c9b3e",
        "inputs": {"question": "What did the first ship carry?"},
        "outputs": {"answer": "salt"},
        "metadata": {"source": "harbour.txt", "reference_contexts": [SALT]},
    },
    {
        "id": "0b7c",
        "inputs": {"my_query": "What was the wheel made of?"},
        "outputs": {"output": "oak"},
        "metadata": None,
    },
]


def as_file(folder: Path, name: str, rows) -> Path:
    path = folder / name
    if path.suffix == ".json":
        path.write_text(json.dumps(rows))
    elif path.suffix == ".jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    else:
        with path.open("w", newline="") as file:
            writer = csv.DictWriter(file, list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)
    return path


def objects(kind: str):
    if kind == "LabelledRagDataset":
        return SimpleNamespace(
            examples=[SimpleNamespace(**e) for e in LLAMA["examples"]]
        )
    if kind == "Testset":
        samples = [SimpleNamespace(**each) for each in RAGAS]
        wrapped = [SimpleNamespace(eval_sample=each) for each in samples]
        return SimpleNamespace(samples=wrapped)
    now = datetime.now(UTC)
    return [
        Example(
            id=uuid.uuid4(),
            dataset_id=uuid.uuid4(),
            created_at=now,
            **{key: each[key] for key in ("inputs", "outputs", "metadata")},
        )
        for each in LANGSMITH
    ]


FILES = {
    "llama.json": LLAMA,
    "ragas.jsonl": RAGAS,
    "ragas.csv": RAGAS,
    "langsmith.json": LANGSMITH,
    "langsmith.jsonl": LANGSMITH,
    "langsmith.csv": [
        {key: json.dumps(row[key]) for key in ("inputs", "outputs")}
        for row in LANGSMITH
    ],
}


@pytest.mark.parametrize(
    "name", [*FILES, "LabelledRagDataset", "Testset", "LangSmith examples"]
)
def test_question_and_answer_are_read_from_any_of_them(tmp_path, name):
    source = as_file(tmp_path, name, FILES[name]) if name in FILES else objects(name)
    dataset = read_own(source, TEXTS)

    assert [(q.question, q.answers) for q in dataset.questions] == [
        ("What did the first ship carry?", ("salt",)),
        ("What was the wheel made of?", ("oak",)),
    ]
    assert dataset.notes == ()


@pytest.mark.parametrize("name", ["llama.json", "ragas.jsonl", "ragas.csv", "Testset"])
def test_gold_passages_are_evidence_where_they_stand_in_one_document(tmp_path, name):
    source = as_file(tmp_path, name, FILES[name]) if name in FILES else objects(name)
    first, second = read_own(source, TEXTS).questions

    ((start, end),) = first.evidence
    assert first.doc_ids == ("harbour.txt",)
    assert " ".join(TEXTS["harbour.txt"][start:end].split()) == SALT
    assert (second.doc_ids, second.evidence) == ((), ())


@pytest.mark.parametrize(
    "passages", [["It snowed."], ["It rained."], [SALT, "The mill ground rye."]]
)
def test_passages_that_are_not_in_one_document_are_left_out_and_said(
    tmp_path, passages
):
    rows = [{"question": "Q?", "answers": ["salt"], "passages": passages}]
    with pytest.warns(OpragWarning, match="`oprag check-questions` names them"):
        (asked,) = read_own(as_file(tmp_path, "q.jsonl", rows), TEXTS).questions

    assert (asked.doc_ids, asked.evidence) == ((), ())


def test_what_is_wrong_with_the_gold_is_found(tmp_path):
    rows = [
        {"question_id": "a", "question": "Q?", "answer": "salt", "passages": [SALT]},
        {
            "question": "Q?",
            "answer": "pepper",
            "passages": ["It snowed.", "It rained."],
        },
        {"question": "Q?", "answer": "rye", "document": "mill", "passages": [SALT]},
    ]
    documents = {name: Document(name, name, text) for name, text in TEXTS.items()}
    found = list(check_gold(as_file(tmp_path, "q.jsonl", rows), documents))

    assert found == [
        ("2", "gold passage in no document", "It snowed."),
        ("2", "answer in no document, word for word", "pepper"),
        ("3", "gold passage not in mill.md", SALT),
    ]


def test_the_first_place_of_each_document_is_found():
    documents = {name: Document(name, name, text) for name, text in TEXTS.items()}

    assert [each.document for each in find_passage("It  rained.", documents)] == [
        *TEXTS
    ]
    assert find_passage(" ", documents) == []


@pytest.mark.parametrize("held", ["[1, 2]", "{}", '"text"', "{"])
def test_other_json_is_refused(tmp_path, held):
    path = tmp_path / "q.json"
    path.write_text(held)
    with pytest.raises(UnreadableFileError, match=r"no JSON|no list of questions"):
        read_own(path, TEXTS)
