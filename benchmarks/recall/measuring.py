"""Whether the evidence of a question stands in a context, and how much of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from benchmarks.recall.books import Book, Question
from oprag.chunk import Passage


class Kept(NamedTuple):
    """What one context holds."""

    full: bool
    """Whether all of the evidence is there."""
    characters: float
    """The share of its characters that is."""
    filled: float
    """The share of the budget that the text takes."""

    @classmethod
    def of(
        cls, book: Book, question: Question, passages: Sequence[Passage], filled: float
    ) -> Kept:
        """Measure the passages of one context."""
        spans = [(s.start, s.end) for passage in passages for s in passage.spans]
        return cls(*evidence_kept(question, spans, book.text), filled)


def joined(spans: Sequence[tuple[int, int]], text: str) -> list[tuple[int, int]]:
    """Spans in order, as one where they overlap or nothing but white space is between.

    Many splitters strip it from the ends of chunks.
    """
    found: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if found and not text[found[-1][1] : start].strip():
            found[-1] = (found[-1][0], max(end, found[-1][1]))
        else:
            found.append((start, end))
    return found


def evidence_kept(
    question: Question, spans: Sequence[tuple[int, int]], text: str
) -> tuple[bool, float]:
    """Measure one context.

    Args:
        question: Its evidence may be several spans: all needed, or any one.
        spans: What the context holds of the book, in any order.
        text: The book's.

    Returns:
        Of evidence of which one span suffices, the best span counts.
    """
    kept = joined(spans, text)
    shares = []
    for start, end in question.evidence:
        inside = sum(max(0, min(end, e) - max(start, s)) for s, e in kept)
        shares.append((inside, end - start))
    if question.all_needed:
        inside, total = (sum(column) for column in zip(*shares, strict=True))
        return inside == total, inside / total
    best = max(inside / total for inside, total in shares)
    return best == 1, best
