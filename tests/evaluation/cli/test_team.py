"""`oprag sweep` as a team has it in CI: own systems, rows, the gate, a judge."""

import csv
import json
import sys
from pathlib import Path

import pytest
from langchain_core.embeddings import Embeddings
from typer.testing import CliRunner, Result

from oprag_cli.app import app
from oprag_eval.comparing import compare_systems
from tests.evaluation.small import WordVectors

FACTS = 40


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """Forty facts in three files, and a question on each."""
    made = tmp_path_factory.mktemp("team")
    (made / "notes").mkdir()
    texts = dict.fromkeys(("a", "b", "c"), "")
    with (made / "q.csv").open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["question", "document", "answer"])
        for number in range(FACTS):
            name = "abc"[number % 3]
            texts[name] += f"Box {number} of the store holds {1000 + number} nails. "
            rows.writerow([f"What does box {number} hold?", name, f"{1000 + number}"])
    for name, text in texts.items():
        (made / "notes" / f"{name}.txt").write_text(text)
    (made / "team_search.py").write_text(
        "import pathlib, re\n"
        "TEXT = ' '.join(p.read_text() for p in pathlib.Path('notes').glob('*.txt'))\n"
        "FACTS = re.findall(r'Box .*? nails[.]', TEXT)\n"
        "def good(question):\n"
        "    box = question.split()[3]\n"
        "    return [f for f in FACTS if f.split()[1] == box]\n"
        "def switched(question):\n"
        "    lost = pathlib.Path('lost').exists() and question.endswith('5 hold?')\n"
        "    return ['nothing'] if lost else good(question)\n"
        "def judge(row):\n"
        "    return row['reference'] in row['response']\n"
        "def answering(question):\n"
        "    return {'context': good(question), 'answer': good(question)[0]}\n"
    )
    return made


@pytest.fixture
def sweep(folder, tiny_model, monkeypatch, tmp_path):
    monkeypatch.chdir(folder)
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.delitem(sys.modules, "team_search", raising=False)
    shared = ["sweep", "notes", "--questions", "q.csv", "--systems", ""]
    shared += ["--embedding-model", str(tiny_model), "--cache", str(tmp_path / "cache")]

    def run(*arguments: object) -> Result:
        return CliRunner().invoke(app, [*shared, *map(str, arguments)])

    return run


def test_a_build_fails_when_retrieval_gets_worse(sweep, folder, tmp_path):
    system = ["--system", "team_search:switched"]
    first = sweep(*system, "--out", tmp_path / "main", "--fail-under", "recall=0.95")
    same = sweep(*system, "--out", tmp_path / "same", "--compare", tmp_path / "main")
    (folder / "lost").touch()
    gate = ["--compare", tmp_path / "main"]
    worse = sweep(*system, "--out", tmp_path / "worse", *gate, "--json")
    under = sweep(*system, "--out", tmp_path / "worse", "--fail-under", "recall=0.95")
    (folder / "lost").unlink()

    assert (first.exit_code, same.exit_code) == (0, 0), first.output + same.output
    assert "The gate is green." in first.stdout
    assert "Green: team_search:switched, beside" in same.stdout
    # 5, 15, 25 and 35: four of forty, which chance gives in one of 16 runs.
    said = json.loads(worse.stdout)
    (change,) = said["gate"]["changes"]
    assert (change["worse"], change["better"]) == (4, 0)
    assert change["p"] == pytest.approx(1 / 16)
    assert worse.exit_code == 0
    assert not said["gate"]["red"]
    assert change["seen_from"] > 0.1
    assert under.exit_code == 5
    line = "Red: team_search:switched has passages hold the answer 0.9000, under 0.95."
    assert line in under.stdout


def test_rows_hold_what_was_read(sweep, tmp_path):
    result = sweep("--system", "team_search:good", "--out", tmp_path / "run")
    lines = (tmp_path / "run" / "rows.jsonl").read_text().splitlines()
    rows = [json.loads(line) for line in lines]
    with (tmp_path / "run" / "rows.csv").open(newline="") as file:
        table = list(csv.DictReader(file))

    assert result.exit_code == 0, result.output
    assert len(rows) == len(table) == FACTS
    assert rows[7]["retrieved_contexts"] == ["Box 7 of the store holds 1007 nails."]
    assert rows[7]["response"] is None  # nobody answered
    assert table[7]["response"] == ""
    assert json.loads(table[7]["retrieved_contexts"]) == rows[7]["retrieved_contexts"]
    assert rows[7]["answer_recall"] == float(table[7]["answer_recall"]) == 1


def test_a_judge_scores_the_answers_once(sweep, tmp_path):
    own = ["--system", "team_search:answering", "--out", tmp_path / "run"]
    result = sweep(*own, "--judge", "team_search:judge")
    judged = (tmp_path / "run" / "judged.jsonl").read_text()
    again = sweep(*own, "--judge", "team_search:judge", "--fail-under", "judge=1")

    assert (result.exit_code, again.exit_code) == (0, 0), result.output + again.output
    assert "judge" in result.stdout.splitlines()[2]
    assert (tmp_path / "run" / "judged.jsonl").read_text() == judged
    assert judged.count('"judge": 1.0') == FACTS


def test_scores_by_question_are_a_judge(sweep, tmp_path):
    scores = tmp_path / "scores.csv"
    lines = [f"{n},{1 if n > 10 else 0.5}" for n in range(1, FACTS + 1)]
    scores.write_text("\n".join(["question_id,score", *lines]))
    own = ["--system", "team_search:answering", "--out", tmp_path / "run"]
    result = sweep(*own, "--judge", scores, "--json")

    (arm,) = json.loads(result.stdout)["arms"]
    assert arm["measures"]["judge"]["mean"] == pytest.approx(35 / 40)


def test_wrong_calls_are_told_what_to_write(sweep, tmp_path):
    for arguments, said in (
        (["--fail-under", "recall"], "it takes MEASURE=NUMBER from 0 to 1"),
        (["--compare", tmp_path / "none"], "`oprag sweep` writes it with each run"),
        (["--judge", "team_search:judge"], "without a chat model there are none"),
    ):
        result = sweep(*arguments)
        assert result.exit_code in (1, 2)
        assert said in " ".join(result.output.split())


class Words(Embeddings):
    embed_documents = WordVectors.embed_documents
    embed_query = WordVectors.embed_query


def test_a_python_call_gives_the_same_rows(folder, monkeypatch, tmp_path):
    monkeypatch.chdir(folder)
    monkeypatch.syspath_prepend(str(folder))
    import team_search

    rows = compare_systems(
        "notes",
        "q.csv",
        [team_search.good, "dos-rag:size=20,name=dos"],
        embeddings=Words(),
        budgets=[60],
        judge=lambda row: bool(row["retrieved_contexts"]),
        out=tmp_path / "run",
    )

    own, other = rows[:FACTS], rows[FACTS:]
    assert {(row["system"], row["answer_recall"]) for row in own} == {("good", 1)}
    assert {(row["system"], row["budget"]) for row in other} == {("dos", 60)}
    assert all(row["judge"] == 1 for row in rows)
    lines = (tmp_path / "run" / "rows.jsonl").read_text().splitlines()
    assert rows == [json.loads(line) for line in lines]
