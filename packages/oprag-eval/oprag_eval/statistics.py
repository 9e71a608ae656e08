"""Means and differences with 95 % intervals, by document and not by question.

Questions on one document share its text, its splitting and its difficulties: a run on
ten books with a hundred questions each has seen ten books, not a thousand. So what
varies is measured between documents, each with all its questions.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from statistics import fmean
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from oprag.errors import InvalidOptionError
from oprag_eval.data import Question

Values: TypeAlias = npt.NDArray[np.float64]

_FEWEST = 2
_DIGITS = 12
"""Kept of every figure, so that 0.3 - (0.1 + 0.2) is no difference."""
_ADDED = 2
"""Questions that are added at each end of the scale, see `Sampling`."""
_SCALE = (0.0, 1.0)
_DIFFERENCES = (-1.0, 1.0)


@dataclass(frozen=True)
class Figure:
    """A mean over questions, how sure it is, and of what."""

    mean: float
    low: float | None
    """Lower end of the 95 % interval; None for a measure of all answers together."""
    high: float | None
    """Upper end of it."""
    questions: int
    """Questions that have a value."""
    deviation: float | None = None
    """Standard deviation of the runs' means; None for a single run."""


@dataclass(frozen=True, kw_only=True)
class Spread:
    """A mean over questions and its standard error; see `Sampling`."""

    mean: float
    centre: float
    """Middle of the interval."""
    error: float
    """Standard error."""
    freedom: float
    """Degrees of freedom; 0 where one group says nothing about others."""
    questions: int

    def reach(self, doubt: float) -> float:
        """How far the truth may be from the centre on one side, but for a doubt."""
        from scipy import special

        return float(special.stdtrit(self.freedom, 1 - doubt)) * self.error


@dataclass(frozen=True, kw_only=True)
class Comparison(Spread):
    """The difference of two arms on the same questions; first minus second."""

    low: float
    """Lower end of the 95 % interval."""
    high: float
    """Upper end of it."""
    better: int
    """Questions on which the first is higher."""
    worse: int
    """Questions on which it is lower."""
    p: float
    """Chance of such a difference, or a larger one, where there is none."""


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


class Sampling:
    """Documents as a sample of all that could have been asked of.

    The standard error of a mean is that of a ratio, from the sums of the documents;
    Student's t has as many degrees of freedom as there are documents, fewer where
    some have most of the questions. Where nearly all values are at one end of the
    scale, such an interval is too narrow, or has no width. So two questions at each
    end are added to find its middle, and it is never narrower than these four alone
    make it. Where questions on one document are alike, an added one counts as many.
    Of differences, the ends are the largest that was seen, up and down.

    Args:
        clusters: Group of each question, from 0 without gaps.

    Raises:
        InvalidOptionError: There is no question.

    With a single group nothing can be said about other documents; each question is
    then a group, and `unit` says so.

    Source:
        Cochran 1977, the variance of a ratio of cluster totals. Agresti and Coull
        1998, the added questions; there, each counts as one. How often the intervals
        hold the truth is measured in `benchmarks/sampling.md`.
    """

    unit: Literal["documents", "questions"]
    """The kind of groups."""
    groups: int
    """The number of them."""

    def __init__(self, clusters: Sequence[int]) -> None:
        if not clusters:
            message = "There is no question, and so no document."
            raise InvalidOptionError(message, option="clusters", value=clusters)
        of_documents = max(clusters) + 1 >= _FEWEST
        self.unit = "documents" if of_documents else "questions"
        self._group_of = np.array(clusters if of_documents else range(len(clusters)))
        self.groups = int(self._group_of.max()) + 1

    def estimate(self, values: Sequence[float | None]) -> Figure | None:
        """Return the mean over questions and its interval; None without a value."""
        spread = self._spread(self._array(values), _SCALE)
        if spread is None:
            return None
        return Figure(*_interval(spread, _SCALE), spread.questions)

    def compare(
        self, first: Sequence[float | None], second: Sequence[float | None]
    ) -> Comparison | None:
        """Return the difference of two arms over the questions that both have."""
        differences = np.round(self._array(first) - self._array(second), _DIGITS)
        spread = self._spread(differences, _widest(differences))
        if spread is None:
            return None
        better, worse = (differences > 0).sum(), (differences < 0).sum()
        return _comparison(spread, int(better), int(worse))

    def _array(self, values: Sequence[float | None]) -> Values:
        return np.array([np.nan if v is None else float(v) for v in values])

    def _spread(self, values: Values, ends: tuple[float, float]) -> Spread | None:
        """Return the mean of what is not NaN and its error; None where all is."""
        present = ~np.isnan(values)
        given, groups = values[present], self._group_of[present]
        questions = len(given)
        if not questions:
            return None
        counts = np.bincount(groups, minlength=self.groups)
        mean = float(given.mean())
        parts = np.bincount(groups, given - mean, minlength=self.groups) / questions
        held = int(np.count_nonzero(counts))
        of = partial(Spread, mean=mean, questions=questions)
        if held < _FEWEST:
            return of(centre=mean, error=0.0, freedom=0.0)
        parts *= math.sqrt(held / (held - 1))
        variance = float(parts @ parts)
        alone = float(given.var()) / questions
        alike = questions / held  # were all questions on a document one question
        each = min(max(variance / alone, 1.0), alike) if alone else alike
        added = _ADDED * each
        total = questions + 2 * added
        low, high = ends
        centre = (questions * mean + added * (low + high)) / total
        least = each * added * ((high - centre) ** 2 + (centre - low) ** 2) / total**2
        error = math.sqrt(max(variance, least))
        freedom = max(questions**2 / float(counts @ counts) - 1, 1.0)
        return of(centre=centre, error=error, freedom=freedom)


def _widest(differences: Values) -> tuple[float, float]:
    """Return the range that differences may reach; the scale where none is seen."""
    seen = np.abs(differences[~np.isnan(differences)])
    most = float(seen.max(initial=0.0)) or 1.0
    return -most, most


def _interval(spread: Spread, ends: tuple[float, float]) -> tuple[float, float, float]:
    """The mean and its interval, which stays on the scale and holds the mean."""
    low, high = ends
    if spread.freedom:
        half = spread.reach(0.025)
        low = max(low, min(spread.centre - half, spread.mean))
        high = min(high, max(spread.centre + half, spread.mean))
    return round(spread.mean, _DIGITS), round(low, _DIGITS), round(high, _DIGITS)


def over_sets(found: Sequence[Comparison]) -> Comparison:
    """Return the mean of the differences on several sets, each counting alike.

    Source:
        Welch 1947, the degrees of freedom of a sum of errors.
    """
    if len(found) == 1:
        return found[0]
    errors = [each.error / len(found) for each in found]
    error, mean = math.hypot(*errors), fmean(each.mean for each in found)
    freedom = 0.0
    if all(each.freedom for each in found):
        parts = zip(errors, found, strict=True)
        freedom = error**4 / sum(one**4 / each.freedom for one, each in parts)
    spread = Spread(
        mean=mean,
        centre=mean,
        error=error,
        freedom=freedom,
        questions=sum(each.questions for each in found),
    )
    better, worse = sum(e.better for e in found), sum(e.worse for e in found)
    return _comparison(spread, better, worse)


def _comparison(spread: Spread, better: int, worse: int) -> Comparison:
    mean, low, high = _interval(spread, _DIFFERENCES)
    p = 1.0
    if spread.freedom:
        from scipy import special

        below = special.stdtr(spread.freedom, -abs(spread.centre) / spread.error)
        p = round(2 * float(below), _DIGITS)
    found = {**vars(spread), "mean": mean, "low": low, "high": high}
    return Comparison(**found, better=better, worse=worse, p=p)


def adjusted(chances: Sequence[float]) -> list[float]:
    """Correct the p of several comparisons for their number.

    Returns:
        The corrected p, in the same order. What is below 0.05 there is no accident
        in 95 % of such families of comparisons.

    Source:
        Holm 1979.
    """
    corrected = [1.0] * len(chances)
    highest = 0.0
    order = sorted(range(len(chances)), key=lambda place: chances[place])
    for rank, place in enumerate(order):
        highest = max(highest, min((len(chances) - rank) * chances[place], 1.0))
        corrected[place] = highest
    return corrected
