"""Makes the summary of a run from its files and the set."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from oprag.calls import Price
from oprag.errors import invalid_option
from oprag_eval.data import Dataset
from oprag_eval.metrics import bracketed_option, meteor_unavailable
from oprag_eval.reports.advising import advice_of
from oprag_eval.reports.arms import Rows, arms_of
from oprag_eval.reports.comparing import Compared, comparisons, routing, sweet_spots
from oprag_eval.reports.measuring import (
    in_order,
    main_measure,
    measures_in,
    number_of,
    title_of,
)
from oprag_eval.reports.summary import ArmSummary, Summary, arm_label
from oprag_eval.running.run_directory import RunDirectory
from oprag_eval.statistics import Sampling, clusters_of

_BRACKETS = ("bracketed_match", "bracketed_match_official")
_LETTERS = ("choice_match", "choice_match_official")


def summarize(
    directory: RunDirectory,
    dataset: Dataset,
    answers: Sequence[Mapping[str, Any]],
    scores: Sequence[Mapping[str, Any]],
    *,
    price: Price | None = None,
    index_price: Price | None = None,
    measure: str = "",
    resamples: int = 2000,
    seed: int = 42,
    stopped: bool = False,
) -> Summary:
    """Summarise the answers of a run and their scores; options as for `write_reports`.

    Raises:
        InvalidOptionError: The run has no such measure.
    """
    errors = directory.lines("errors.jsonl")
    asked = {line["question_id"] for line in [*scores, *errors]}
    questions = [q for q in dataset.questions if q.question_id in asked]
    ids = [question.question_id for question in questions]
    sampling = Sampling(clusters_of(questions))
    settings = directory.settings()
    brackets = settings.get("answer_style") == "brackets"
    measures, left_out = _shown(scores, answers, brackets=brackets)
    if measure and measure not in measures:
        takes = f"The run has {', '.join(measures) or 'none'}."
        raise invalid_option("measure", measure, takes)
    measure = measure or main_measure(dataset, measures, brackets=brackets)
    arms = arms_of(scores)
    expected = len(ids) * len({line["run"] for line in [*scores, *errors]})
    rows = Rows(dataset, answers, ids, expected, measures, sampling, price, index_price)
    compared = [Compared(arm, rows.row(arm), arm.values(measure, ids)) for arm in arms]
    found = tuple(each.row for each in compared)
    notes = list(
        _notes(
            dataset,
            found,
            measure=measure,
            sampling=sampling,
            errors=errors,
            left_out=left_out,
        )
    )
    notes += _untouched(found, measure)
    summary = Summary(
        dataset=dataset.name,
        questions=len(ids),
        documents=dataset.count_documents(questions),
        measure=measure,
        measures=_ordered(found, measures, measure),
        unit=sampling.unit,
        groups=sampling.groups,
        resamples=resamples,
        seed=seed,
        settings=settings,
        arms=found,
        comparisons=comparisons(compared, sampling) if measure else (),
        sweet_spots=sweet_spots(compared, sampling, draws=resamples, seed=seed)
        if measure
        else (),
        routing=routing(arms),
        notes=tuple(notes),
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


def _shown(
    scores: Sequence[Mapping[str, Any]],
    answers: Sequence[Mapping[str, Any]],
    *,
    brackets: bool,
) -> tuple[list[str], list[str]]:
    """Leave out the reading of options that was not asked for.

    Letters where brackets were: the first word of an explanation may be "A". Brackets
    where letters were, unless some reply has them.
    """
    measures = measures_in(scores)
    if brackets:
        letters = [name for name in measures if name in _LETTERS]
        told = "The readings of letters are left out: [[n]] was asked for."
        shown = [name for name in measures if name not in letters]
        return shown, [told] if letters else []
    if _BRACKETS[0] not in measures or any(
        bracketed_option(answer["prediction"]) is not None for answer in answers
    ):
        return measures, []
    return [name for name in measures if name not in _BRACKETS], [
        "The match of [[n]] is left out: no reply has a number in double brackets."
    ]


_FEW = 10
"""Groups below which intervals are off, see `benchmarks/sampling.md`."""


def _notes(
    dataset: Dataset,
    rows: Sequence[ArmSummary],
    *,
    measure: str,
    sampling: Sampling,
    errors: Sequence[Mapping[str, Any]],
    left_out: Sequence[str],
) -> Iterator[str]:
    """Say what differs from the papers, what is missing, and what is estimated."""
    yield from dataset.notes
    if not measure:
        yield (
            "No measure fits all questions, so nothing is compared: the set needs "
            "answers, options or evidence for every question."
        )
    if "meteor" in dataset.metrics and (reason := meteor_unavailable()):
        yield f"METEOR is not computed: {reason}."
    yield from left_out
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
    yield from _of_answers(rows, errors)


_UNTOUCHED = ("langchain-default", "llamaindex-default")
"""Systems that are what a framework does if nothing is changed."""


def _untouched(rows: Sequence[ArmSummary], measure: str) -> list[str]:
    """Say what one would get without changing anything, and what the best arm got."""

    def told(row: ArmSummary) -> str:
        mean = 100 * row.measures[measure].mean
        return f"{row.label} {mean:.1f} for {row.tokens:,.0f} tokens"

    scored = [row for row in rows if measure in row.measures]
    untouched = [told(row) for row in scored if row.system in _UNTOUCHED]
    if not untouched:
        return []
    best = max(scored, key=lambda row: (row.measures[measure].mean, -row.tokens))
    note = (
        f"If you changed nothing, you would get by {title_of(measure)}, times 100: "
        f"{'; '.join(untouched)}. The highest here is {told(best)}."
    )
    return [note]


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
        told = "; ".join(
            f"{r.label}: {r.cut:,} of {r.cut + r.read_whole:,}" for r in cut
        )
        yield (
            "The window does not take all documents whole. Answers from a text that "
            f"was cut: {told}."
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
