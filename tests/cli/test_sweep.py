"""`oprag sweep`: one command to a number of tokens, with the evidence for it."""

from __future__ import annotations

import csv
import dataclasses
import json
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from oprag.cli.advice import advice_lines
from oprag.cli.app import app
from oprag.cli.evaluation_run import CAPPED
from oprag.evaluation.reports.summary import (
    ArmSummary,
    Difference,
    Figure,
    Summary,
    SweetSpotSummary,
)
from tests.evaluation.small import HARBOUR, MILL
from tests.support.openai_server import Reply, ScriptedServer

TOWNS = ["Aby", "Borg", "Ceder", "Dal", "Ek", "Fors"]


@pytest.fixture(scope="module")
def notes(tmp_path_factory) -> Path:
    """Six files with one fact each at a place of its own, and questions on them."""
    folder = tmp_path_factory.mktemp("sweep") / "notes"
    (folder / "inner").mkdir(parents=True)
    with (folder.parent / "q.csv").open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["question", "document", "answer"])
        for number, town in enumerate(TOWNS):
            fact = f"The bell of {town} weighs {900 + number} pounds."
            text = " ".join([HARBOUR] * number + [fact] + [MILL] * (6 - number))
            (folder / "inner" / f"{town}.txt").write_text(text)
            question = f"How many pounds does the bell of {town} weigh?"
            rows.writerow([question, town, str(900 + number)])
    return folder


@pytest.fixture(scope="module")
def shared(notes, tiny_model, tmp_path_factory) -> list[str]:
    cache = tmp_path_factory.mktemp("sweep-cache")
    model = ["--embedding-model", str(tiny_model), "--cache", str(cache)]
    return [str(notes), "--questions", str(notes.parent / "q.csv"), *model]


def run(*arguments: object) -> Result:
    return CliRunner().invoke(app, ["sweep", *map(str, arguments)])


@pytest.mark.slow
def test_without_a_model_it_ends_with_tokens_and_why(shared, tmp_path):
    result = run(*shared, "--out", tmp_path / "run")

    assert result.exit_code == 0, result.output
    lines = result.stdout.splitlines()
    assert lines[0] == "q: 6 questions on 6 documents"
    assert "answer recall" in lines[2]
    assert {line.split()[0] for line in lines[3:] if " [" in line} >= {
        *("dos-rag", "op-rag", "recommended", "full-document"),
        *("langchain-default", "llamaindex-default"),
    }
    untouched = re.search("Note: If you changed nothing, .*", result.stdout)[0]
    for name in ("langchain-default", "llamaindex-default"):
        assert re.search(rf"{name} [\d.]+ for \d+ tokens", untouched)
    page = (tmp_path / "run" / "report.html").read_text()
    assert "If you changed nothing, you would get by answer recall" in page
    (advice,) = [line for line in lines if line.startswith("Use ")]
    assert re.fullmatch(
        r"Use (250|500|1,000) tokens with (dos-rag|op-rag|recommended)\.|"
        r"Use (full-document|langchain-default|llamaindex-default): "
        r"about [\d,]+ tokens for a question\.",
        advice,
    )
    assert "  6 questions are few: " in result.stdout
    settings = json.loads((tmp_path / "run" / "run.json").read_text())
    assert settings["budgets"] == [250, 500]


@pytest.mark.slow
def test_with_a_model_its_answers_are_measured(shared, tmp_path, monkeypatch):
    def reads(request):
        found = re.search(r"bell of (\w+) weigh\?", request.prompt)
        weighs = re.search(f"of {found[1]} weighs ([0-9]+)", request.prompt)
        return Reply(weighs[1] if weighs else "unanswerable")

    monkeypatch.setenv("OPENAI_API_KEY", "none")
    with ScriptedServer(reads) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        model = ["--model", "openai:scripted", "--systems", "dos-rag,full-document"]
        result = run(*shared, *model, "--budgets", "120", "--out", tmp_path / "run")

    assert result.exit_code == 0, result.output
    assert "F1 1.000 [1.000, 1.000] on 6 questions about 6 documents" in result.stdout
    assert "LongRAG" not in result.stdout


def figure(mean: float, low: float, high: float, questions: int = 60) -> Figure:
    return Figure(mean, low, high, None, questions, 12)


def arm(system: str, budget: int | None, tokens: float, measured: Figure) -> ArmSummary:
    return ArmSummary(
        system=system,
        budget=budget,
        runs=1,
        questions=60,
        answers=60,
        missing=0,
        declined=0,
        measures={"evidence_recall": measured},
        context_tokens=tokens,
        input_tokens=tokens,
        output_tokens=1,
        index_tokens=0,
        estimated=True,
        cost=None,
        index_cost=None,
    )


def summary(arms: list[ArmSummary], *spots: SweetSpotSummary) -> Summary:
    return Summary(
        dataset="own",
        questions=60,
        documents=12,
        measure="evidence_recall",
        measures=("evidence_recall",),
        unit="documents",
        groups=12,
        resamples=2000,
        seed=42,
        settings={},
        arms=tuple(arms),
        sweet_spots=spots,
    )


def spot(chosen: ArmSummary, best: ArmSummary, *difference: float) -> SweetSpotSummary:
    compared = Difference(chosen.label, best.label, *difference, 1, 3, 60, 12)
    return SweetSpotSummary(
        "",
        chosen.label,
        chosen.system,
        chosen.budget,
        chosen.tokens,
        best.label,
        best.tokens,
        compared,
    )


SMALL = arm("recall", 1000, 1100.0, figure(0.90, 0.85, 0.95))
LARGE = arm("dos-rag", 4000, 4100.0, figure(0.93, 0.9, 0.96))
WHOLE = arm("full-document", None, 9000.0, figure(0.93, 0.9, 0.96))


def test_advice_names_the_setting_the_evidence_and_what_may_be_lost():
    lines = advice_lines(
        summary([SMALL, LARGE], spot(SMALL, LARGE, -0.03, -0.08, 0.01))
    )

    assert (
        "\n".join(lines)
        == """
Use 1,000 tokens with recall.
  In your code: OffsetSentenceSplitter(chunk_size=100), \
OrderPreservingRetriever(token_budget=1000, selection="recall")
  Why: evidence recall 0.900 [0.850, 0.950] on 60 questions about 12 documents.
  The best (dos-rag, 4,000) has 0.930 [0.900, 0.960] for 4,100 tokens instead of \
1,100. On the same questions the difference is -0.030 [-0.080, +0.010]: not \
significant; worse on 3, better on 1 of 60.
  Up to 0.080 may be lost: more questions narrow this."""
    )


def test_the_best_needs_no_comparison():
    lines = advice_lines(summary([SMALL, LARGE], spot(LARGE, LARGE, 0.0, 0.0, 0.0)))

    assert lines[1] == "Use 4,000 tokens with dos-rag."
    assert lines[-1].endswith(
        "better; everything that takes less did measurably worse."
    )
    alone = advice_lines(summary([LARGE], spot(LARGE, LARGE, 0.0, 0.0, 0.0)))
    assert alone[-1] == "  Nothing did better."


def test_whole_documents_may_be_the_advice():
    lines = advice_lines(summary([WHOLE], spot(WHOLE, WHOLE, 0.0, 0.0, 0.0)))

    assert lines[1] == "Use full-document: about 9,000 tokens for a question."
    assert "send the whole documents" in lines[2]


def test_few_questions_are_no_proof():
    few = arm("dos-rag", 500, 600.0, figure(0.9, 0.5, 1.0, questions=29))

    assert (
        "29 questions are few"
        in advice_lines(summary([few], spot(few, few, 0.0, 0.0, 0.0)))[-1]
    )


def test_documents_are_the_runs_own_and_not_the_groups_that_are_drawn():
    # Five documents and a question about all of them: six groups.
    one = arm("dos-rag", 500, 600.0, Figure(0.9, 0.5, 1.0, None, 1, 6))
    held = summary([one], spot(one, one, 0.0, 0.0, 0.0))

    lines = advice_lines(dataclasses.replace(held, questions=1, documents=5))
    assert "on 1 question about 5 documents." in "\n".join(lines)
    assert "  1 question is few: " in lines[-1]
    lines = advice_lines(dataclasses.replace(held, questions=9, documents=1))
    assert "on 1 of 9 questions about 1 document." in "\n".join(lines)


def test_without_a_measure_there_is_no_advice():
    held = dataclasses.replace(summary([SMALL]), measure="")

    assert "nothing to measure by" in advice_lines(held)[1]


def test_one_arm_alone_is_no_ground_for_advice():
    (_, line) = advice_lines(summary([SMALL]))

    assert line.startswith("No advice: only recall, 1,000 was answered")
    assert "several budgets or systems" in line


def test_nothing_but_zeros_and_a_run_cut_off_are_no_ground_for_advice():
    none = arm("dos-rag", 500, 600.0, figure(0.0, 0.0, 0.0))
    (_, zeros) = advice_lines(summary([none, SMALL], spot(none, none, 0.0, 0.0, 0.0)))
    better = summary([SMALL, LARGE], spot(SMALL, LARGE, -0.03, -0.08, 0.01))
    (_, cut_off) = advice_lines(better, stopped=True)

    assert zeros.startswith("No advice: nothing did better than 0 by evidence recall.")
    assert cut_off.startswith("No advice: the run was stopped")


def test_a_sweep_that_a_cap_stops_ends_without_advice(shared, tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    with ScriptedServer(lambda _: Reply("900")) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        model = ["--model", "openai:scripted", "--systems", "dos-rag"]
        cap = ["--budgets", "120,250", "--max-reply", "10", "--max-tokens", "800"]
        result = run(*shared, *model, *cap, "--out", tmp_path / "run")

    assert result.exit_code == CAPPED, result.output
    assert "No advice: the run was stopped" in result.stdout
    assert "\nUse " not in result.stdout


def test_questions_without_an_answer_are_named_before_anything_is_asked(
    shared, notes, tmp_path
):
    (tmp_path / "q.csv").write_text(
        "question,document,answer\nHow heavy is the bell?,Aby,900\nWho rings it?,Aby,\n"
    )
    options = ["--questions", tmp_path / "q.csv", "--budgets", "120,200"]
    result = run(*shared, *options, "--systems", "dos-rag", "--out", tmp_path / "run")

    assert result.exit_code == 0, result.output
    told = "Note: Nothing will be measured: 1 of 2 questions has no answer (by id: 2)."
    assert told in result.stderr
    assert "No advice: there is nothing to measure by." in result.stdout
