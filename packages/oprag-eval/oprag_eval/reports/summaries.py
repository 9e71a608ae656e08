"""Makes the summary of a run from its files and the set."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from oprag.calls import Price
from oprag_eval.data import Dataset
from oprag_eval.metrics import meteor_unavailable
from oprag_eval.reports.advice import advice_of
from oprag_eval.reports.arms import (
    arms_of,
    corpus_figures,
    figures_of,
    row_of,
    token_share,
)
from oprag_eval.reports.comparison import Compared, comparisons, sweet_spot
from oprag_eval.reports.measures import in_order, main_measure, measures_in, number_of
from oprag_eval.reports.summary import ArmSummary, Summary, arm_label
from oprag_eval.running.run_directory import RunDirectory
from oprag_eval.statistics import Sampling, clusters_of


def summarize(
    directory: RunDirectory,
    dataset: Dataset,
    scores: Sequence[Mapping[str, Any]],
    *,
    price: Price | None = None,
    index_price: Price | None = None,
    measure: str = "",
    planned: Sequence[tuple[str, str]] = (),
    stopped: bool = False,
) -> Summary:
    """Summarise scored answers; options as for `write_reports`."""
    errors = directory.lines("errors.jsonl")
    asked = {line["question_id"] for line in [*scores, *errors]}
    questions = [q for q in dataset.questions if q.question_id in asked]
    ids = [question.question_id for question in questions]
    sampling = Sampling(clusters_of(questions))
    settings = directory.settings()
    measures = measures_in(scores)
    measure = measure or main_measure(dataset, measures)
    arms = arms_of(scores)
    full = next((arm for arm in arms if arm.system.startswith(_FULL)), None)
    expected = len(ids) * len({line["run"] for line in [*scores, *errors]})
    rows = tuple(
        row_of(
            arm,
            figures_of(arm, measures, ids, sampling)
            | corpus_figures(arm, dataset)
            | token_share(arm, full),
            expected=expected,
            price=price,
            index_price=index_price,
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
        documents=dataset.count_documents(questions),
        measure=measure,
        measures=_ordered(rows, measures, measure),
        unit=sampling.unit,
        groups=sampling.groups,
        settings=settings,
        arms=rows,
        comparisons=comparisons(compared, sampling, planned),
        sweet_spot=sweet_spot(compared, sampling),
        notes=(*_notes(dataset, measure, sampling), *_of_answers(rows, errors)),
        stopped=stopped,
    )
    return dataclasses.replace(summary, advice=advice_of(summary))


def _ordered(
    rows: Sequence[ArmSummary], measures: Sequence[str], first: str
) -> tuple[str, ...]:
    """The main one first, then those of answers, of all answers, of contexts."""
    of_corpus = {name for row in rows for name in row.measures} - set(measures)
    shown = in_order([*measures, *of_corpus])
    return tuple(sorted(shown, key=lambda name: name != first))


_FULL = "full-document"
_FEW = 10
"""Groups below which intervals are off, see `benchmarks/sampling.md`."""


def _notes(dataset: Dataset, measure: str, sampling: Sampling) -> Iterator[str]:
    """Say what differs from the papers, and what intervals are over."""
    yield from dataset.notes
    if not measure:
        yield (
            "No measure fits all questions, so nothing is compared: the set needs "
            "answers, options or evidence for every question."
        )
    if "meteor" in dataset.metrics and (reason := meteor_unavailable()):
        yield f"METEOR is not computed: {reason}."
    if sampling.unit == "questions":
        yield (
            "All questions are on one document: intervals are over questions, and say "
            "nothing about other documents."
        )
    elif sampling.groups < _FEW:
        yield (
            f"The questions are on {sampling.groups} documents, and these are few: "
            "with less than 10 the 95 % intervals are wide, and still hold the truth "
            "somewhat less or more often than they say."
        )


def _of_answers(
    rows: Sequence[ArmSummary], errors: Sequence[Mapping[str, Any]]
) -> Iterator[str]:
    """Say which answers are missing, of cut texts, estimated, or declined."""
    there = {(row.system, row.budget) for row in rows}
    failed = dict.fromkeys((line["system"], line["budget"]) for line in errors)
    if none := [arm_label(*arm) for arm in failed if arm not in there]:
        yield f"All answers failed of: {'; '.join(none)}. See errors.jsonl."
    missing = {row.label: row.missing for row in rows if row.missing}
    if missing:
        listed = "; ".join(f"{label}: {number:,}" for label, number in missing.items())
        yield (
            f"Answers are missing ({len(errors):,} failed, see errors.jsonl); means "
            f"are over those that are there: {listed}. Comparisons take the questions "
            "that both have."
        )
    if cut := [row for row in rows if row.cut]:
        counts = "; ".join(
            f"{r.label}: {r.cut:,} of {r.cut + r.read_whole:,}" for r in cut
        )
        yield (
            "The window does not take all documents whole. Answers from a text that "
            f"was cut: {counts}."
        )
    if any(row.estimated for row in rows):
        yield "Some tokens were counted here and not reported by the provider."
    declined = sum(row.declined for row in rows)
    if declined:
        said = "decline. They count" if declined > 1 else "declines. It counts"
        yield (
            f"{number_of(declined, 'answer')} {said} as wrong, except where the set "
            "itself says that the question is unanswerable."
        )
