"""Means and differences with bootstrap intervals, by document and not by question.

Questions on one document share its text, its splitting and its difficulties: a run on
ten books with a hundred questions each has seen ten books, not a thousand. So whole
documents are drawn, with all their questions.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from oprag.errors import InvalidOptionError
from oprag.evaluation.data import Question

Values: TypeAlias = npt.NDArray[np.float64]

_BLOCK = 200
"""Resamples that are added up at a time: bounds the memory, not the result."""
_FEWEST = 2
_DIGITS = 12
"""Kept of every figure, so that 0.3 - (0.1 + 0.2) is no difference."""


class Estimate(NamedTuple):
    """A mean, how sure it is, and of what."""

    mean: float
    low: float
    """Lower end of the 95 % interval."""
    high: float
    """Upper end of it."""
    questions: int
    """Questions that have a value."""
    documents: int
    """Groups that they fall into (see `clusters_of`)."""


class Comparison(NamedTuple):
    """How one arm differs from another on the same questions."""

    difference: Estimate
    """First minus second."""
    better: int
    """Questions on which the first is higher."""
    worse: int
    """Questions on which it is lower."""


def clusters_of(questions: Sequence[Question]) -> list[int]:
    """Group questions that share a document, directly or through others.

    A question that is asked of all documents of a set is a group of its own: the
    documents are then the same for all, and only questions vary.

    Returns:
        For each question the number of its group; groups are numbered from 0 in the
        order of their first question.
    """
    parents: dict[str, str] = {}

    def root(name: str) -> str:
        while parents.setdefault(name, name) != name:
            name = parents[name]
        return name

    for question in questions:
        for doc_id in question.doc_ids[1:]:
            parents[root(doc_id)] = root(question.doc_ids[0])
    numbers: dict[tuple[str, str], int] = {}
    return [
        numbers.setdefault(
            ("document", root(question.doc_ids[0]))
            if question.doc_ids
            else ("question", question.question_id),
            len(numbers),
        )
        for question in questions
    ]


class Resampling:
    """Draws of documents, the same for every figure that is made with them.

    Args:
        clusters: Group of each question, from 0 without gaps.
        resamples: How often documents are drawn.
        seed: Of the draws.

    Raises:
        InvalidOptionError: There is no question, or nothing is drawn.

    With a single group nothing can be said about other documents; questions are
    drawn instead, and `unit` says so.

    Source:
        Efron and Tibshirani 1993, the percentile interval; groups are drawn whole
        (Field and Welsh 2007). A resample has as many groups as the set, and as many
        questions as these have.
    """

    unit: Literal["documents", "questions"]
    """What is drawn."""
    groups: int
    """How many of them there are."""

    def __init__(
        self, clusters: Sequence[int], *, resamples: int = 2000, seed: int = 42
    ) -> None:
        if not clusters or resamples < 1:
            message = (
                f"There is nothing to draw from: {len(clusters)} questions, "
                f"resamples={resamples!r}."
            )
            raise InvalidOptionError(message, option="resamples", value=resamples)
        self.clusters = np.asarray(clusters, dtype=np.intp)
        count = int(self.clusters.max()) + 1
        self.unit = "documents" if count >= _FEWEST else "questions"
        self._drawn = (
            self.clusters if self.unit == "documents" else np.arange(len(clusters))
        )
        self.groups = int(self._drawn.max()) + 1
        self._times = _drawn_times(self.groups, resamples, seed)

    def estimate(self, values: Sequence[float | None]) -> Estimate | None:
        """Return the mean over questions and its interval.

        Args:
            values: One per question; None where there is none.

        Returns:
            None where no question has a value.

        Raises:
            InvalidOptionError: There is not one value per question.
        """
        given = self._array(values)
        present = ~np.isnan(given)
        if not present.any():
            return None
        means = self._means(np.where(present, given, 0.0), present)
        low, high = np.quantile(means[~np.isnan(means)], (0.025, 0.975))
        return Estimate(
            round(float(given[present].mean()), _DIGITS),
            round(float(low), _DIGITS),
            round(float(high), _DIGITS),
            int(present.sum()),
            len(np.unique(self.clusters[present])),
        )

    def compare(
        self, first: Sequence[float | None], second: Sequence[float | None]
    ) -> Comparison | None:
        """Return the difference of two arms over the questions that both have.

        Args:
            first: One value per question, as in `estimate`.
            second: Of the other arm, for the same questions.

        Returns:
            None where no question has both.

        Raises:
            InvalidOptionError: There is not one value of each per question.
        """
        differences = np.round(self._array(first) - self._array(second), _DIGITS)
        listed = [None if np.isnan(value) else float(value) for value in differences]
        difference = self.estimate(listed)
        if difference is None:
            return None
        better, worse = int((differences > 0).sum()), int((differences < 0).sum())
        return Comparison(difference, better, worse)

    def _array(self, values: Sequence[float | None]) -> Values:
        if len(values) != len(self.clusters):
            lengths = {"values": len(values), "questions": len(self.clusters)}
            message = f"One value belongs to each question: {lengths}."
            raise InvalidOptionError(message, option="values", value=lengths)
        return np.array([np.nan if v is None else float(v) for v in values])

    def _means(self, values: Values, present: npt.NDArray[np.bool_]) -> Values:
        """The mean of each resample; NaN for one without any value."""
        sums = np.bincount(self._drawn, values, minlength=self.groups)
        counts = np.bincount(self._drawn, present, minlength=self.groups)
        table = np.stack([sums, counts], axis=1)
        blocks = [
            self._times[begin : begin + _BLOCK].astype(np.float64) @ table
            for begin in range(0, len(self._times), _BLOCK)
        ]
        totals = np.concatenate(blocks)
        with np.errstate(invalid="ignore"):
            means: Values = totals[:, 0] / totals[:, 1]
        return means


def _drawn_times(groups: int, resamples: int, seed: int) -> npt.NDArray[np.uint16]:
    """For each resample and group, how often the group is drawn."""
    generator = np.random.default_rng(seed)
    times = np.empty((resamples, groups), dtype=np.uint16)
    for row in range(resamples):
        drawn = generator.integers(groups, size=groups)
        times[row] = np.bincount(drawn, minlength=groups)
    return times


def mean_and_deviation(values: Sequence[float]) -> tuple[float, float | None]:
    """Return the mean of several runs and their standard deviation.

    Args:
        values: One figure per run, at least one.

    Returns:
        The deviation is the sample's, with n − 1 in the divisor; None for one run.

    Raises:
        InvalidOptionError: There is no run.
    """
    if not values:
        message = "values is empty: the mean of no run is not defined."
        raise InvalidOptionError(message, option="values", value=values)
    mean = statistics.fmean(values)
    return mean, statistics.stdev(values) if len(values) >= _FEWEST else None
