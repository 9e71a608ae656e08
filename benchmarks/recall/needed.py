"""How many tokens each way of choosing reads until it has a question's evidence.

A sketch of the product's steps on arrays, for trying many settings: one number for each
question answers for every budget. It leaves out only what merging rounds; the product's
own steps are measured by `arms.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import tiktoken
from numpy.typing import NDArray

from benchmarks.recall.books import Book
from benchmarks.recall.rankings import Ranked, fused

Numbers = NDArray[Any]
_FURTHEST = 8
"""Lengths of a chunk within which it may lend worth."""
_MAX_GAP = 8


@dataclass(frozen=True)
class Settings:
    """What text is worth: `oprag.context.recall` has the first four fixed."""

    head: float = 5
    reach: float = 3
    lent: float = 0.5
    half: float = 2
    """Lengths after which half as much is lent."""
    lenders: int = 1
    """How many of the best chunks near lend."""
    own: str = "sum"
    """Of the chunks that text is in: their sum, or the best (`"max"`)."""
    around: bool = False
    """Whether text that was not retrieved is read, as far as worth is lent."""


class Pieces:
    """A book cut wherever a chunk begins or ends.

    Args:
        book: The book.
        ranked: Its chunks, maybe of several sizes, with their scores.
    """

    def __init__(self, book: Book, ranked: Ranked) -> None:
        self._book, self._ranked = book, ranked
        places: dict[tuple[int, int], int] = {}
        self._place = np.array(
            [places.setdefault((c.start, c.end), len(places)) for c in ranked.chunks]
        )
        self._spans = np.array(list(places))
        cuts = np.unique(self._spans)
        encoding = tiktoken.get_encoding("cl100k_base")
        tokens = encoding.encode_ordinary(book.text)
        begins = np.array(encoding.decode_with_offsets(tokens)[1])
        before = np.searchsorted(begins, cuts)
        ends = np.searchsorted(begins, self._spans)
        self._chunk_tokens = ends[:, 1] - ends[:, 0]
        first, last = (np.searchsorted(cuts, column) for column in self._spans.T)
        covered = np.zeros(len(cuts) - 1, bool)
        for a, b in zip(first, last, strict=True):
            covered[a:b] = True
        written = [bool(book.text[a:b].strip()) for a, b in pairwise(cuts)]
        keep = covered & np.array(written)
        self._start, self._end = cuts[:-1][keep], cuts[1:][keep]
        self._tokens = (before[1:] - before[:-1])[keep]
        gaps = self._start[1:] - self._end[:-1]
        self._touches = np.append(False, gaps <= _MAX_GAP)
        number = np.append(0, np.cumsum(keep))
        self._inside, self._near, self._distance = self._lenders(
            number[first], number[last]
        )

    def _lenders(self, first: Numbers, last: Numbers) -> tuple[Numbers, ...]:
        """For each piece the chunks it is in, those near, and how far these are."""
        middle = (self._start + self._end) / 2
        inside: list[list[float]] = [[] for _ in middle]
        near: list[list[float]] = [[] for _ in middle]
        distance: list[list[float]] = [[] for _ in middle]
        for chunk, (start, end) in enumerate(self._spans):
            far = _FURTHEST * (end - start)
            begin, stop = np.searchsorted(middle, (start - far, end + far))
            for piece in range(begin, stop):
                if first[chunk] <= piece < last[chunk]:
                    inside[piece].append(chunk)
                    continue
                near[piece].append(chunk)
                beyond = max(start - middle[piece], middle[piece] - end)
                distance[piece].append(beyond / (end - start))
        nothing = len(self._spans)
        return (
            _padded(inside, nothing).astype(int),
            _padded(near, nothing).astype(int),
            _padded(distance, np.inf),
        )

    def fused(self, question: int, retrievers: str, depth: int | None) -> Numbers:
        """Numbers of places best first, as `rankings.fused` orders chunks.

        Args:
            question: Its number.
            retrievers: `"hybrid"`, `"dense"` or `"bm25"`.
            depth: Chunks of each retriever; None for all.
        """
        return self._place[fused(self._ranked, question, retrievers, depth)]

    def by_rank(self, question: int, order: Numbers) -> float:
        """Tokens when whole chunks are read in rank order, each with a separator."""
        rank = _ranks(order, len(self._spans))
        last = self._last_needed(question, rank[self._inside].min(1))
        if not np.isfinite(last):
            return np.inf
        return float((self._chunk_tokens[order] + 1).cumsum()[int(last)])

    def by_worth(self, question: int, order: Numbers, settings: Settings) -> float:
        """Tokens when pieces are read by their worth, merged."""
        worth = np.zeros(len(self._spans) + 1)
        worth[order] = 1 / (settings.head + np.arange(len(order)))
        covering = worth[self._inside]
        own = covering.max(1) if settings.own == "max" else covering.sum(1)
        share = settings.lent * 2.0 ** (-(self._distance - 0.5) / settings.half)
        share[self._distance > settings.reach] = 0
        offered = worth[self._near] * share
        lent = np.sort(offered, 1)[:, -settings.lenders :].sum(1)
        best = _ranks(order, len(self._spans))[self._inside].min(1)
        may = np.isfinite(best) | ((lent > 0) & settings.around)
        listed = np.lexsort((best, -np.where(may, own + lent, -np.inf)))[: may.sum()]
        turn = _ranks(listed, len(self._start) - 1)
        last = self._last_needed(question, turn)
        if not np.isfinite(last):
            return np.inf
        # A separator before each piece, less one where two that touch are both read.
        joined = np.maximum(turn[1:], turn[:-1])
        joined = joined[self._touches[1:] & np.isfinite(joined)].astype(int)
        separators = np.ones(len(listed))
        np.subtract.at(separators, joined, 1)
        used = (self._tokens[listed] + separators).cumsum()
        return float(np.maximum.accumulate(used)[int(last)])

    def _last_needed(self, question: int, turn: Numbers) -> float:
        asked = self._book.questions[question]
        turns = []
        for start, end in asked.evidence:
            a = np.searchsorted(self._end, start, side="right")
            b = np.searchsorted(self._start, end, side="left")
            turns.append(turn[a:b].max() if a < b else np.inf)
        return float(max(turns) if asked.all_needed else min(turns))


def _ranks(order: Numbers, last: int) -> Numbers:
    rank = np.full(last + 1, np.inf)
    rank[order] = np.arange(len(order))
    return rank


def _padded(rows: Sequence[Sequence[float]], filling: float) -> Numbers:
    width = max(1, *map(len, rows))
    return np.array([[*row, *[filling] * (width - len(row))] for row in rows])
