"""The reports of a run, made of its answers and the set, written into its folder."""

from __future__ import annotations

import dataclasses
import json
import statistics
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from oprag.calls import Price, TokenUsage
from oprag.files import write_whole
from oprag_eval import metrics
from oprag_eval.data import Dataset
from oprag_eval.models import OFFLINE
from oprag_eval.reports.advice import advice_of
from oprag_eval.reports.comparison import Compared, comparisons
from oprag_eval.reports.copied import line_to_copy
from oprag_eval.reports.page import as_page, page_data
from oprag_eval.reports.plots import Plot, plots_of
from oprag_eval.reports.summary import ArmSummary, Summary, arm_label
from oprag_eval.reports.sweet_spot import sweet_spot
from oprag_eval.reports.tables import (
    HELD,
    held_column,
    in_order,
    main_measure,
    number_of,
    tables_of,
)
from oprag_eval.running.run_directory import RunDirectory
from oprag_eval.scores import CORPUS_MEASURES, score, scored_text
from oprag_eval.statistics import Figure, Sampling, sampling_of


@dataclass(frozen=True)
class Arm:
    """The scores of one system at one budget."""

    system: str
    budget: int | None
    """Tokens; None for a system without a budget."""
    lines: tuple[Mapping[str, Any], ...]
    """Its answers, scored, in their order."""

    def read(self, *, whole: bool) -> int:
        """Count the answers for which full documents were read, whole or cut."""
        return sum(line.get("whole") is whole for line in self.lines)

    def values(self, measure: str, question_ids: Sequence[str]) -> list[float | None]:
        """Return a measure of each question, the mean over its runs.

        Returns:
            None for a question that was not answered, or that the measure does not fit.
        """
        found = self.means("question_id", measure)
        return [found.get(name) for name in question_ids]

    def means(self, field: str, measure: str) -> dict[Any, float]:
        """Return the means of a measure over its lines, by a field of theirs."""
        found: dict[Any, list[float]] = {}
        for line in self.lines:
            if (value := line["measures"].get(measure)) is not None:
                found.setdefault(line[field], []).append(float(value))
        return {key: statistics.fmean(values) for key, values in found.items()}

    def count_questions(self) -> int:
        """Count its questions."""
        return len({line["question_id"] for line in self.lines})

    def index(self) -> TokenUsage:
        """Return the tokens of the objects made of the documents, each made once.

        Questions on the same documents carry the same figure; it is added once. That
        of a question on all documents holds the others'.
        """
        by_documents = {
            tuple(line["doc_ids"]): TokenUsage(**line["usage"]["index"])
            for line in self.lines
        }
        return by_documents.get(()) or sum(by_documents.values(), TokenUsage())


def arms_of(scores: Iterable[Mapping[str, Any]]) -> list[Arm]:
    """Group scored answers by system and budget.

    Returns:
        In the order of their first lines, which is that of the plan.
    """
    groups: dict[tuple[str, int | None], list[Mapping[str, Any]]] = {}
    for line in scores:
        groups.setdefault((line["system"], line["budget"]), []).append(line)
    return [
        Arm(system, budget, tuple(lines)) for (system, budget), lines in groups.items()
    ]


def row_of(
    arm: Arm, figures: Mapping[str, Figure], *, expected: int, price: Price | None
) -> ArmSummary:
    """Summarise one arm."""
    asked = [TokenUsage(**line["usage"]["asked"]) for line in arm.lines]
    index = arm.index()
    costs = [price.cost(usage) for usage in asked] if price else None
    return ArmSummary(
        system=arm.system,
        budget=arm.budget,
        questions=arm.count_questions(),
        answers=len(arm.lines),
        missing=expected - len(arm.lines),
        declined=sum(not line["prediction"] for line in arm.lines),
        read_whole=arm.read(whole=True),
        cut=arm.read(whole=False),
        measures=figures,
        context_tokens=statistics.fmean(line["context_tokens"] for line in arm.lines),
        input_tokens=statistics.fmean(usage.input_tokens for usage in asked),
        output_tokens=statistics.fmean(usage.output_tokens for usage in asked),
        index_tokens=index.input_tokens + index.output_tokens,
        estimated=any(usage.estimated for usage in [*asked, index]),
        cost=statistics.fmean(costs) if costs else None,
        index_cost=price.cost(index) if price else None,
    )


def figures_of(
    arm: Arm, measures: Iterable[str], question_ids: Sequence[str], sampling: Sampling
) -> dict[str, Figure]:
    """Return the measures of an arm; one that fits no question is absent."""
    figures = {}
    for measure in measures:
        if found := sampling.estimate(arm.values(measure, question_ids)):
            deviation = _deviation([*arm.means("run", measure).values()])
            figures[measure] = replace(found, deviation=deviation)
    return figures


def corpus_figures(arm: Arm, dataset: Dataset) -> dict[str, Figure]:
    """Return measures of all answers together: the mean of the runs, no interval."""
    references = {q.question_id: q.answers for q in dataset.questions if q.answers}
    runs: dict[int, list[Mapping[str, Any]]] = {}
    for line in arm.lines:
        if line["question_id"] in references:
            runs.setdefault(line["run"], []).append(line)
    if not runs or "corpus_bleu" not in dataset.metrics:
        return {}
    figures = {}
    for name, order in CORPUS_MEASURES.items():
        values = [
            metrics.corpus_bleu(
                [scored_text(line) for line in lines],
                [references[line["question_id"]] for line in lines],
                max_order=order,
            )
            for lines in runs.values()
        ]
        mean, count = statistics.fmean(values), arm.count_questions()
        figures[name] = Figure(mean, None, None, count, _deviation(values))
    return figures


def token_share(arm: Arm, full: Arm | None) -> dict[str, Figure]:
    """Return the input tokens of a routed arm over those of the full documents.

    Of the questions of each run that both have; empty if there are none.

    Source:
        Self-Route (arXiv:2407.16833): "token %".
    """
    alone = {_asked(line): _input(line) for line in full.lines} if full else {}
    known = [line for line in arm.lines if line["route"] and _asked(line) in alone]
    whole = sum(alone[_asked(line)] for line in known)
    if not whole:
        return {}
    share = sum(map(_input, known)) / whole
    questions = len({line["question_id"] for line in known})
    return {"token_share": Figure(share, None, None, questions)}


def _asked(line: Mapping[str, Any]) -> tuple[int, str]:
    return line["run"], line["question_id"]


def _input(line: Mapping[str, Any]) -> int:
    tokens: int = line["usage"]["asked"]["input_tokens"]
    return tokens


def _deviation(values: Sequence[float]) -> float | None:
    """Return the sample's standard deviation over runs; None for one run."""
    return statistics.stdev(values) if len(values) > 1 else None


_FULL = "full-document"


_HELD = (
    "No chat model was asked: what passages hold is compared, and no answers. Whether "
    "document order helps cannot be compared so: the same passages hold the same in "
    "any order. Give --model for that."
)
_OFFLINE = (
    "The reader was offline: it gives the best-matching sentence and is not a language "
    "model. What contexts hold can be compared; its answers say nothing about a "
    "model's."
)


def _notes(
    dataset: Dataset, measure: str, sampling: Sampling, *, documents: int, offline: bool
) -> Iterator[str]:
    """Yield notes on differences from the papers, and on the unit of intervals."""
    if offline:
        yield _HELD if measure in HELD else _OFFLINE
    yield from dataset.notes
    if not measure:
        yield (
            "No measure fits all questions, so nothing is compared: the set needs "
            "answers, options or evidence for every question."
        )
    if "meteor" in dataset.metrics and (reason := metrics.meteor_unavailable()):
        yield f"METEOR is not computed: {reason}."
    if sampling.unit == "questions":
        on = "one document" if documents == 1 else f"{documents:,} documents"
        yield (
            f"All questions are on {on}: intervals are over questions, on these "
            "documents, and say nothing about others."
        )


def _of_answers(
    rows: Sequence[ArmSummary], errors: Sequence[Mapping[str, Any]], *, held: bool
) -> Iterator[str]:
    """Say which answers are missing, of cut texts, estimated, or declined.

    Of a run that compares passages, say only which are missing.
    """
    there = {(row.system, row.budget) for row in rows}
    failed = dict.fromkeys((line["system"], line["budget"]) for line in errors)
    if none := [arm_label(*arm) for arm in failed if arm not in there]:
        yield f"All answers failed of: {'; '.join(none)}. See errors.jsonl."
    missing = {row.label: row.missing for row in rows if row.missing}
    if missing:
        listed = "; ".join(f"{label}: {number:,}" for label, number in missing.items())
        yield (
            f"Answers are missing: {listed} ({len(errors):,} failed). Means are over "
            "the others, and comparisons over the questions that both have."
        )
    if cut := [row for row in rows if row.cut]:
        counts = "; ".join(
            f"{r.label}: {r.cut:,} of {r.cut + r.read_whole:,}" for r in cut
        )
        yield (
            "The window does not take all documents whole. Answers from a text that "
            f"was cut: {counts}."
        )
    if held:
        return
    if any(row.estimated for row in rows):
        yield "Some tokens were counted here and not reported by the provider."
    declined = sum(row.declined for row in rows)
    if declined:
        said = "decline. They count" if declined > 1 else "declines. It counts"
        yield (
            f"{number_of(declined, 'answer')} {said} as wrong, except where the set "
            "itself says that the question is unanswerable."
        )


_DIGITS = 6


def write_reports(
    directory: RunDirectory,
    dataset: Dataset,
    *,
    price: Price | None = None,
    measure: str = "",
    planned: Sequence[tuple[str, str]] = (),
    stopped: bool = False,
) -> Summary:
    """Score a run and write its tables, plots and page.

    A run that is not complete is reported all the same; the notes name the missing
    answers. No model is asked.

    Args:
        directory: Holds the answers.
        dataset: The set that they answer.
        price: Per million tokens. None: no cost is shown.
        measure: The measure that arms are compared by, a name in `scores.jsonl`; empty,
            or if no answer has it, the set's own.
        planned: Names of systems that are compared. Empty: each with vanilla RAG.
        stopped: Whether a cap ended the run: some arms may then have had easier
            questions, and nothing is advised.

    Returns:
        The content of `summary.json`.

    Raises:
        InvalidOptionError: There are no answers.
        KeyError: They are of another set.
        UnreadableFileError: A file of the run is damaged.
    """
    scores = score(directory, dataset)
    errors = directory.lines("errors.jsonl")
    asked = {line["question_id"] for line in [*scores, *errors]}
    questions = [q for q in dataset.questions if q.question_id in asked]
    ids = [question.question_id for question in questions]
    sampling = sampling_of(questions)
    documents = dataset.count_documents(questions)
    settings = directory.settings()
    offline = settings.get("model") == OFFLINE
    measures = {
        name
        for line in scores
        for name, value in line["measures"].items()
        if value is not None
    }
    if measure not in measures:
        measure = main_measure(dataset, measures)
    arms = arms_of(scores)
    full = next((arm for arm in arms if arm.system.startswith(_FULL)), None)
    expected = len(ids) * len({line["run"] for line in [*scores, *errors]})
    rows = tuple(
        row_of(
            arm,
            figures_of(arm, sorted(measures), ids, sampling)
            | corpus_figures(arm, dataset)
            | token_share(arm, full),
            expected=expected,
            price=price,
        )
        for arm in arms
    )
    compared = [
        Compared(
            row.label, row.system, row.budget, row.tokens, arm.values(measure, ids)
        )
        for arm, row in zip(arms, rows, strict=True)
        if measure
    ]
    summary = Summary(
        dataset=dataset.name,
        questions=len(ids),
        documents=documents,
        measure=measure,
        measures=tuple(in_order((n for row in rows for n in row.measures), measure)),
        unit=sampling.unit,
        groups=sampling.groups,
        settings=settings,
        arms=rows,
        comparisons=comparisons(compared, sampling, planned),
        sweet_spot=sweet_spot(compared),
        notes=(
            *_notes(dataset, measure, sampling, documents=documents, offline=offline),
            *_of_answers(rows, errors, held=offline and measure in HELD),
        ),
        stopped=stopped,
    )
    summary = dataclasses.replace(
        summary, advice=advice_of(summary), line=_line(summary)
    )
    _write(directory, dataset, scores, summary)
    return summary


def _line(summary: Summary) -> str:
    """Write the advised setting as a line of Python."""
    spot = summary.sweet_spot
    if summary.stopped or spot is None or spot.chosen is None:
        return ""
    chosen = next(arm for arm in summary.arms if arm.label == spot.chosen)
    made = summary.settings.get("systems", {}).get(chosen.system)
    return line_to_copy(made, chosen.budget)


def _write(
    directory: RunDirectory,
    dataset: Dataset,
    scores: Sequence[Mapping[str, Any]],
    summary: Summary,
) -> None:
    # Rounded, so that the last digits of a sum, which machines may differ in, go.
    rounded = lambda text: round(float(text), _DIGITS)  # noqa: E731 -- as short as that
    values = json.loads(json.dumps(dataclasses.asdict(summary)), parse_float=rounded)
    written = json.dumps(values, ensure_ascii=False, indent=2)
    directory.write_text("summary.json", written + "\n")
    tables, plots = tables_of(summary), plots_of(summary)
    _write_plots(directory.path / "plots", plots)
    questions = page_data(
        scores,
        dataset,
        summary.measure,
        numbered=summary.settings.get("answer_style") == "brackets",
        held=held_column(summary),
    )
    page = as_page(summary, tables, plots, questions)
    directory.write_text("report.html", page)


def _write_plots(folder: Path, plots: Sequence[Plot]) -> None:
    """Write the plots; remove earlier ones that are not drawn any more."""
    folder.mkdir(exist_ok=True)
    for path in folder.glob("quality_*.svg"):
        path.unlink()
    for plot in plots:
        write_whole(folder / f"{plot.name}.svg", plot.svg)
