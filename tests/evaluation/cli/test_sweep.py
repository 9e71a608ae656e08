"""`oprag sweep`: one command to a number of tokens, with the evidence for it."""

import csv
import dataclasses
import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from oprag_cli.app import app
from oprag_eval.cli.display import advice_lines
from oprag_eval.reports.advice import advice_of
from oprag_eval.reports.summary import ArmSummary, Difference, Summary, SweetSpot
from oprag_eval.statistics import Figure
from tests.evaluation.small import HARBOUR, MILL

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


@pytest.mark.once
def test_without_a_model_it_ends_with_tokens_and_why(shared, tmp_path):
    result = run(*shared, "--out", tmp_path / "run")

    assert result.exit_code == 0, result.output
    lines = result.stdout.splitlines()
    assert lines[0] == "q: 6 questions on 6 documents"
    assert "passages hold the answer" in lines[2]
    assert "F1" not in lines[2]
    assert "declined" not in lines[2]
    assert {line.split()[0] for line in lines[3:] if " [" in line} >= {
        *("dos-rag", "op-rag", "recommended", "full-document"),
        *("langchain-default", "llamaindex-default"),
    }
    assert lines[-1] == f"Report: {tmp_path / 'run' / 'report.html'}"
    assert "Note: No chat model was asked: " in result.stdout
    assert "document order helps cannot be compared" in result.stdout
    advice = "Cannot tell which is best."
    assert advice in lines
    page = (tmp_path / "run" / "report.html").read_text()
    assert advice in page
    settings = json.loads((tmp_path / "run" / "run.json").read_text())
    assert settings["budgets"] == [250, 500]


def arm(system: str, budget: int | None, tokens: float, measured: Figure) -> ArmSummary:
    return ArmSummary(
        system=system,
        budget=budget,
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


def summary(arms: list[ArmSummary], spot: SweetSpot | None = None) -> Summary:
    return Summary(
        dataset="own",
        questions=60,
        documents=12,
        measure="evidence_recall",
        measures=("evidence_recall",),
        unit="documents",
        groups=12,
        settings={},
        arms=tuple(arms),
        sweet_spot=spot,
    )


def spot(
    chosen: ArmSummary | None,
    best: ArmSummary,
    *difference: float,
    behind: float = 0.015,
) -> SweetSpot:
    compared = None
    if difference and chosen:
        mean, low, high = difference
        compared = Difference(
            first=chosen.label,
            first_tokens=chosen.tokens,
            second=best.label,
            second_tokens=best.tokens,
            mean=mean,
            centre=mean,
            low=low,
            high=high,
            better=1,
            worse=3,
            questions=60,
            p=0.3,
            error=0.01,
            freedom=11,
        )
    if chosen is None:
        return SweetSpot(None, best.label, behind, needed=90)
    return SweetSpot(chosen.label, best.label, behind, 0.02, compared)


SMALL = arm("op-rag", 1000, 1100.0, Figure(0.92, 0.88, 0.96, 60))
LARGE = arm("dos-rag", 4000, 4100.0, Figure(0.93, 0.9, 0.96, 60))
WHOLE = arm("full-document", None, 9000.0, Figure(0.93, 0.9, 0.96, 60))


def lines_of(held: Summary) -> list[str]:
    """The lines of the terminal, the same as those of the page."""
    held = dataclasses.replace(held, advice=advice_of(held))
    lines = advice_lines(held)
    assert [line.strip() for line in lines] == ["", *held.advice]
    return lines


def test_advice_names_the_setting_the_evidence_and_what_is_lost():
    lines = lines_of(
        summary([SMALL, LARGE], spot(SMALL, LARGE, -0.010, -0.018, -0.002))
    )

    assert (
        "\n".join(lines)
        == """
Use 1,000 tokens with op-rag.
  Seen: its passages hold the evidence 55 of 60 times (92.00 [88.0, 96.0]), of 60 \
questions about 12 documents, in 1,100 tokens. On these 12 documents that is at most 2 \
points worse than the best, with 90 % confidence.
  The best, dos-rag, 4,000: its passages hold the evidence 56 of 60 times in 4,100 \
tokens. On the same questions the difference is -1.0 points [-1.8, -0.2]; worse on 3, \
better on 1 of 60."""
    )


def test_a_difference_of_few_questions_has_no_interval():
    small, large = (dataclasses.replace(each, questions=12) for each in (SMALL, LARGE))
    seen = spot(small, large, -0.010, -0.018, -0.002)
    seen = dataclasses.replace(
        seen, difference=dataclasses.replace(seen.difference, questions=12)
    )

    assert "is -1.0 points; worse on 3" in "\n".join(
        lines_of(summary([small, large], seen))
    )


def test_what_people_have_already_is_shown_beside_it():
    default = arm("langchain-default", None, 1032.0, Figure(0.75, 0.6, 0.9, 60))
    lines = lines_of(summary([SMALL, default], spot(SMALL, SMALL)))

    beside = "Beside it, langchain-default: its passages hold the evidence 45 of 60"
    assert f"  {beside} times in 1,032 tokens." in lines


def test_the_advice_ends_in_a_line_to_copy():
    held = dataclasses.replace(
        summary([SMALL, LARGE], spot(SMALL, SMALL)), advice=("Use it.",), line="line()"
    )

    assert advice_lines(held)[-1] == "  line()"


NONE = arm("dos-rag", 500, 600.0, Figure(0.0, 0.0, 0.0, 60))
FAILED = dataclasses.replace(LARGE, missing=7)
BETTER = summary([SMALL, LARGE], spot(SMALL, LARGE, -0.01, -0.018, -0.002))


@pytest.mark.parametrize(
    ("held", "shown"),
    [
        (summary([LARGE], spot(LARGE, LARGE)), ["Use 4,000 tokens", "Nothing scored"]),
        (
            summary([SMALL, LARGE], spot(LARGE, LARGE)),
            ["Nothing scored higher.", "Nothing that takes fewer tokens scores"],
        ),
        (
            summary([SMALL, LARGE], spot(None, LARGE, behind=0.0714)),
            [
                "Cannot tell which is best.",
                "Seen: dos-rag, 4,000 scored highest",
                " be 7.1 points below another",
                "To do: ask 30 more questions. If 90",
            ],
        ),
        (summary([FAILED], spot(FAILED, FAILED)), ["7 answers of it failed."]),
        (
            summary([WHOLE], spot(WHOLE, WHOLE)),
            ["full-document: about 9,000 tokens for"],
        ),
        (dataclasses.replace(summary([SMALL]), measure=""), ["nothing to measure by"]),
        (summary([SMALL]), ["No advice: only op-rag, 1,000 was", "several budgets or"]),
        (summary([NONE, SMALL], spot(NONE, NONE)), ["No advice: nothing did better"]),
        (dataclasses.replace(BETTER, stopped=True), ["No advice: the run was stopped"]),
    ],
)
def test_advice_of_other_runs(held, shown):
    lines = "\n".join(lines_of(held))

    assert all(each in lines for each in shown)


def test_documents_are_the_runs_own_and_not_the_groups_that_are_drawn():
    # Five documents and a question about all of them: six groups.
    one = arm("dos-rag", 500, 600.0, Figure(0.9, 0.5, 1.0, 1))
    held = summary([one], spot(one, one))

    lines = lines_of(dataclasses.replace(held, questions=1, documents=5))
    assert "of 1 question about 5 documents" in "\n".join(lines)
    lines = lines_of(dataclasses.replace(held, questions=9, documents=1))
    assert "of 1 of 9 questions about 1 document" in "\n".join(lines)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="Linux has a full disk")
def test_on_a_full_disk_it_says_what_is_kept_and_goes_on_when_there_is_room(
    shared, tmp_path
):
    arguments = [*shared, "--systems", "dos-rag", "--budgets", "120,250"]
    arguments += ["--out", tmp_path / "run"]
    (tmp_path / "run").mkdir()
    draft = tmp_path / "run" / "summary.json.new"
    draft.symlink_to("/dev/full")
    full = run(*arguments)
    draft.unlink(missing_ok=True)
    again = run(*arguments)

    assert full.exit_code == 1
    assert "Error: The disk is full. " in full.stderr
    kept = f"12 of 12 answers are kept in {tmp_path / 'run'}. Give the same command"
    assert kept in full.stderr
    assert again.exit_code == 0, again.output
