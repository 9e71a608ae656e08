"""Sweeps: which budgets to ask, by which measure, and where the sweet spot is."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from typing import NamedTuple

from oprag.errors import InvalidOptionError
from oprag.tokens import TokenCounter
from oprag_eval.data import Dataset
from oprag_eval.standing import Behind, behind
from oprag_eval.statistics import Comparison, Sampling

_LADDER = (250, 500, 1000, 2000, 4000, 8000, 16000, 32000, 64000)


def budgets_for(dataset: Dataset, token_counter: TokenCounter) -> list[int]:
    """Choose budgets that make a difference: those that the documents exceed.

    Returns:
        250, 500, 1,000 and so on, doubling up to 64,000, as far as they are less than
        the tokens that some question is asked of; at least the first.
    """
    tokens: dict[str, int] = {}
    largest = 0
    for doc_ids in dict.fromkeys(question.doc_ids for question in dataset.questions):
        total = 0
        for name in doc_ids or tuple(dataset.documents):
            if name not in tokens:
                tokens[name] = token_counter(dataset.document(name).text)
            total += tokens[name]
        largest = max(largest, total)
    return [budget for budget in _LADDER if budget < largest] or [_LADDER[0]]


def with_answer_recall(dataset: Dataset) -> Dataset:
    """Add the measure of whether contexts hold an answer, where no evidence is known.

    It comes with LongRAG's match, whose rule it is. Only for open questions: the text
    of an option need not stand in the document.
    """
    questions = dataset.questions
    wanted = all(q.answers and not q.options and not q.evidence for q in questions)
    if not wanted or "longrag_match" in dataset.metrics:
        return dataset
    return dataclasses.replace(dataset, metrics=(*dataset.metrics, "longrag_match"))


def sweep_measure(dataset: Dataset, *, offline: bool) -> str:
    """Name the measure that systems and budgets are compared by.

    Args:
        dataset: What is asked; in a sweep after `with_answer_recall`.
        offline: Whether no language model answers. Then answers say little, and what
            the contexts hold is measured: the evidence, else the answer's text.

    Returns:
        Empty for the set's own, by which a model's answers are measured.
    """
    if not offline:
        return ""
    if any(question.evidence for question in dataset.questions):
        return "evidence_recall"
    return "answer_recall" if "longrag_match" in dataset.metrics else ""


AS_CHEAP = 1.05
"""Up to so many times the tokens count as no more tokens."""
MARGIN = 0.02
"""What an arm may be worse than the best and still be advised: 2 points of 100."""
CONFIDENCE = 0.9
"""That it is no worse than that."""
_ENOUGH = 0.5
"""Of the questions that some arm has a value for, an arm needs more than so many."""


class Candidate(NamedTuple):
    """One arm: a system at a budget, and how it did."""

    name: str
    """For people; not looked at."""
    tokens: float
    """What it takes: mean tokens of the context, or of the prompts."""
    values: Sequence[float | None]
    """Its measure, one per question in one order for all arms; None where a question
    has none."""


class SweetSpot(NamedTuple):
    """Which arm to use, and the evidence for it."""

    chosen: int | None
    """Index of the sweet spot among the candidates; None: it cannot be told."""
    best: int
    """Index of the arm with the highest mean."""
    behind: Behind
    """How far the chosen arm may be below the best one; where none is, this one."""
    comparison: Comparison | None
    """Chosen minus best, paired by question; None where they are the same, or none is
    chosen."""
    more_questions: int | None
    """About so many more would show that the best so far is within `MARGIN` of all
    others, if the means stay as they are; 0 where an arm is chosen, None where not even
    that can be told."""


def sweet_spot(
    candidates: Sequence[Candidate],
    sampling: Sampling,
    *,
    draws: int = 2000,
    seed: int = 42,
) -> SweetSpot | None:
    """Find the cheapest arm that is shown to be as good as the best.

    As good: with `CONFIDENCE` at most `MARGIN` worse than whichever is the best. That
    no difference is seen does not show it, so with few questions nothing is chosen.

    Arms are passed over where another has a higher mean for no more tokens; a
    twentieth more tokens count as no more, because systems do not fill a budget
    equally. Arms where half of the questions failed are left out altogether. The
    best so far has the highest mean; of equal means the one with fewer tokens, then
    the first.

    Args:
        candidates: The arms.
        sampling: Of the questions.
        draws: See `behind`.
        seed: The same.

    Returns:
        None where no arm has a value.

    Raises:
        InvalidOptionError: There is no candidate, or one has not one value per
            question.
    """
    if not candidates:
        message = "There is no arm to choose from."
        raise InvalidOptionError(message, option="candidates", value=candidates)
    means = {
        place: estimate.mean
        for place, candidate in enumerate(candidates)
        if (estimate := sampling.estimate(candidate.values)) is not None
    }
    counts = {
        place: sum(value is not None for value in candidates[place].values)
        for place in means
    }
    places = [n for n in means if counts[n] > _ENOUGH * max(counts.values())]
    if not places:
        return None
    best = min(places, key=lambda n: (-means[n], candidates[n].tokens, n))
    held = [candidates[place].values for place in places]
    standing = behind(
        sampling, held, margin=MARGIN, confidence=CONFIDENCE, draws=draws, seed=seed
    )
    found = dict(zip(places, standing, strict=True))

    def outdone(place: int) -> bool:
        most = candidates[place].tokens * AS_CHEAP
        return any(
            means[n] > means[place] and candidates[n].tokens <= most for n in places
        )

    good = [n for n in places if found[n].most <= MARGIN and not outdone(n)]
    if not good:
        wanted = counts[best] * (found[best].times - 1)
        more = math.ceil(wanted) if math.isfinite(wanted) else None
        return SweetSpot(None, best, found[best], None, more)
    chosen = min(good, key=lambda n: (candidates[n].tokens, n))
    compared = (
        None
        if chosen == best
        else sampling.compare(candidates[chosen].values, candidates[best].values)
    )
    return SweetSpot(chosen, best, found[chosen], compared, 0)
