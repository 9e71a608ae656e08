"""Means and differences with 95 % intervals: over documents, or over questions.

Questions on one document share its text, its splitting and its difficulties: a run on
ten books with a hundred questions each has seen ten books, not a thousand. So the
variance is measured between documents, each with all its questions. A few documents say
nothing about others: intervals are then over questions, on these documents.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist, fmean
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from oprag.errors import InvalidOptionError
from oprag_eval.data import Question

Values: TypeAlias = npt.NDArray[np.float64]
Groups: TypeAlias = npt.NDArray[np.int64]

FEWEST_DOCUMENTS = 10
"""Groups from which on intervals are over documents; with fewer, over questions."""
FEWEST_PAIRS = 30
"""Questions below which a difference has no interval worth showing: nearly all of them
hold the truth, because they leave nearly everything open."""
_DIGITS = 12
"""Digits kept of every figure, so that 0.3 - (0.1 + 0.2) is no difference."""
_FEWEST = 2
_KNOWN = 1e9
"""Degrees of freedom of a variance that is known."""
_ADDED = 0.5
"""Questions that are added at each end of the differences, see `Sampling`."""
_DIFFERENCES = (-1.0, 1.0)


@dataclass(frozen=True)
class Figure:
    """A mean over questions, its interval, and the number of the questions."""

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
    """Degrees of freedom; 0 if one group says nothing about others."""
    questions: int

    def reach(self, doubt: float) -> float:
        """Return how far the truth may be from the centre on one side.

        `doubt` is the chance that it is further.
        """
        return _quantile(self.freedom, doubt) * self.error


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
    """Chance of such a difference, or a larger one, if in truth there is none."""


def as_array(values: Sequence[float | None]) -> Values:
    """Return scores as an array, with NaN for each that is None."""
    return np.array([np.nan if v is None else float(v) for v in values])


@dataclass(frozen=True)
class Pairing:
    """Two arms on the same questions, as one-sided bounds need them."""

    mean: float
    """Mean of the differences, first minus second."""
    square: float
    """Mean of their squares."""
    most: float
    """The largest difference that was seen, up or down; 1 if there is none."""
    questions: int

    def below(self, doubt: float, times: float = 1.0, *, least: bool = False) -> float:
        """Return how far the first may be below the second, but for a doubt.

        One question is added at each end, and more of them for less doubt. If all
        differences are one way, the half question of an interval is too few.

        Args:
            doubt: Chance that it is further.
            times: With this many times the questions, answered like these.
            least: Say how far it is below at least, instead of at most.
        """
        t = _quantile(_KNOWN, doubt)
        added = max(1.0, t * t / 4)
        asked = self.questions * times
        total = asked + 2 * added
        centre = asked * self.mean / total
        square = (asked * self.square + 2 * added * self.most**2) / total
        reach = t * math.sqrt((square - centre**2) / total)
        return -centre - reach if least else reach - centre


def pair_questions(first: Values, second: Values) -> Pairing | None:
    """Pair the questions that two arms have; None if there are not two."""
    differences = np.round(first - second, _DIGITS)
    given = differences[~np.isnan(differences)]
    if len(given) < _FEWEST:
        return None
    square = float((given**2).mean())
    return Pairing(float(given.mean()), square, _most(given), len(given))


def clusters_of(questions: Sequence[Question]) -> list[int]:
    """Group questions that share a document, directly or through others.

    A question that is asked of all documents of a set is a separate group: the
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
    """The population behind the questions: other documents, or questions on these.

    A mean of scores from 0 to 1 has Wilson's interval, as if it were over fewer
    questions when those on one document are alike (the design effect; at least 1,
    at most the questions on a document). To a difference, half a question is added at
    each end, so that no interval has no width; the ends are the largest difference
    that was seen, up and down. Each added half stands alone, on no document: if two
    arms hardly differ, that is no sign that questions on one document are alike.

    Student's t allows for the design effect being measured on few documents. It has as
    many degrees of freedom as there are documents, and fewer if some have most of the
    questions. It has more, the fewer questions there are on one document (with one
    each, nothing is measured between documents).

    Args:
        clusters: Group of each question, from 0 without gaps.

    Raises:
        InvalidOptionError: There is no question.

    With fewer than `FEWEST_DOCUMENTS` groups nothing can be said about other documents;
    each question is then a group, and `unit` says so.

    Source:
        Wilson 1927. Agresti and Min 2005, the added halves. Cochran 1977, the variance
        of a ratio of cluster totals; Korn and Graubard 1998, its use in an interval of
        a proportion. How often the intervals hold the truth is measured in
        `benchmarks/sampling.md`.
    """

    unit: Literal["documents", "questions"]
    """The kind of groups."""
    groups: int
    """The number of them."""

    def __init__(self, clusters: Sequence[int]) -> None:
        if not clusters:
            message = "There is no question, and so no document."
            raise InvalidOptionError(message, option="clusters", value=clusters)
        of_documents = max(clusters) + 1 >= FEWEST_DOCUMENTS
        self.unit = "documents" if of_documents else "questions"
        self._group_of = np.array(clusters if of_documents else range(len(clusters)))
        self.groups = int(self._group_of.max()) + 1

    def estimate(self, values: Sequence[float | None]) -> Figure | None:
        """Return the mean over questions and its interval; None without a value."""
        given, groups = self._given(as_array(values))
        if not (questions := len(given)):
            return None
        mean = float(given.mean())
        design = _design(given, groups, self.groups)
        low, high = 0.0, 1.0
        if questions > 1:
            widest = mean * (1 - mean) * questions
            # Scores between the ends vary less than those at them.
            narrower = (float(given.var()) * questions + 1) / (widest + 1)
            alone = questions / (design.effect * narrower)
            t = _quantile(design.freedom, _TAIL)
            low, high = _wilson(mean, alone, t)
        ends = min(low, mean), max(high, mean)
        mean, low, high = (round(each, _DIGITS) for each in (mean, *ends))
        return Figure(mean, low, high, questions)

    def compare(
        self, first: Sequence[float | None], second: Sequence[float | None]
    ) -> Comparison | None:
        """Return the difference of two arms over the questions that both have."""
        differences = np.round(as_array(first) - as_array(second), _DIGITS)
        given, groups = self._given(differences)
        if not len(given):
            return None
        square = _most(given) ** 2
        design = _design(given, groups, self.groups, 2 * _ADDED * square)
        spread = _spread(given, design)
        return _comparison(spread, int((given > 0).sum()), int((given < 0).sum()))

    def _given(self, values: Values) -> tuple[Values, Groups]:
        """Leave out values that are NaN; return the others and their groups."""
        present = ~np.isnan(values)
        return values[present], self._group_of[present]


def sampling_of(questions: Sequence[Question]) -> Sampling:
    """Return the sampling of questions, by the documents that they are on."""
    sampling = Sampling(clusters_of(questions))
    if not any(question.doc_ids for question in questions):
        sampling.unit = "questions"
    return sampling


class _Design(NamedTuple):
    """How much less questions say because some are on one document."""

    effect: float
    """Times as many questions are needed; 1 if each says something new."""
    freedom: float
    """Degrees of freedom of the variance between documents."""
    shared: float
    """Share of the questions that are not the first on their document."""


def _design(given: Values, groups: Groups, count: int, added: float = 0.0) -> _Design:
    """Measure the design effect of values in groups.

    Args:
        given: The values.
        groups: Group of each.
        count: Number of groups.
        added: Sum of the squares of the added values, which stand alone.
    """
    questions = len(given)
    counts = np.bincount(groups, minlength=count)
    held = int(np.count_nonzero(counts))
    if held < _FEWEST:
        return _Design(1.0, 1.0, 0.0)
    alike = questions / held  # were all questions on a document one question
    parts = np.bincount(groups, given - given.mean(), minlength=count)
    between = float(parts @ parts) * held / (held - 1) + added
    squares = float(given.var()) * questions
    alone = squares * questions / max(questions - 1, 1) + added
    effect = min(max(between / alone, 1.0), alike) if alone else alike
    freedom = max(questions**2 / float(counts @ counts) - 1, 1.0)
    shared = 1 - held / questions
    return _Design(effect, min(freedom / shared, _KNOWN) if shared else _KNOWN, shared)


_TAIL = 0.025
_NORMAL = NormalDist()


def _quantile(freedom: float, doubt: float) -> float:
    if freedom >= _KNOWN:
        return -_NORMAL.inv_cdf(doubt)
    from scipy import special

    return float(special.stdtrit(freedom, 1 - doubt))


def _wilson(mean: float, questions: float, t: float) -> tuple[float, float]:
    """Return the ends of Wilson's interval of a mean over questions that are alone."""
    total = questions + t * t
    centre = (questions * mean + t * t / 2) / total
    variance = questions * mean * (1 - mean) + t * t / 4
    half = t * math.sqrt(variance) / total
    return max(0.0, centre - half), min(1.0, centre + half)


def _most(differences: Values) -> float:
    """Return the largest difference that was seen, up or down; 1 if there is none."""
    return float(np.abs(differences).max()) or 1.0


def _spread(given: Values, design: _Design) -> Spread:
    """Return the mean of differences and its error; half a question is added."""
    mean, questions = float(given.mean()), len(given)
    if questions < _FEWEST:
        return Spread(
            mean=mean, centre=mean, error=0.0, freedom=0.0, questions=questions
        )
    most = _most(given)
    alone = questions / design.effect
    total = alone + 2 * _ADDED
    centre = alone * mean / total
    squares = alone * float((given**2).mean()) + 2 * _ADDED * most**2
    # The parts that arms share with a document cancel. So the design effect of a
    # difference is near 1, and the less it is measured, the less it is in doubt.
    doubted = math.sqrt(design.shared * (1 - 1 / design.effect))
    freedom = design.freedom * design.shared
    return Spread(
        mean=mean,
        centre=centre,
        error=math.sqrt((squares / total - centre**2) / total),
        freedom=min(freedom / doubted, _KNOWN) if doubted else _KNOWN,
        questions=questions,
    )


def _within(spread: Spread) -> tuple[float, float, float]:
    """Return the mean and its interval, which stays on the scale and holds the mean."""
    low, high = _DIFFERENCES
    if spread.freedom:
        half = spread.reach(_TAIL)
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
    mean, low, high = _within(spread)
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
        The corrected p, in the same order. One below 0.05 is no accident
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
