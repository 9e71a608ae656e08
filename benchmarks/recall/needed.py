"""How many tokens each way of choosing reads until it has a question's evidence.

A sketch of the product's steps on arrays, for trying many settings. It leaves out what
merging rounds; the product's own steps are measured by `arms.py`.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import tiktoken
from numpy.typing import NDArray

from benchmarks.recall.books import Book
from benchmarks.recall.rankings import Ranked, fused
from oprag.context.budget import count_seeds

Numbers = NDArray[Any]
_MAX_GAP = 8


@dataclass(frozen=True)
class Settings:
    """What `oprag.context.recall` has fixed."""

    head: float = 2
    lent: float = 0.5
    half: float = 1200
    to_rank: float = 2
    """Infinite: nothing is read by rank."""


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
        self._first, self._last = number[first], number[last]
        self._steps = np.diff((self._start + self._end) / 2)
        self._held = np.repeat(np.arange(len(first)), self._last - self._first)
        runs = zip(self._first, self._last, strict=True)
        self._holds = np.concatenate([np.arange(a, b) for a, b in runs])

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
        last = self._last_needed(question, self._best(order))
        if not np.isfinite(last):
            return np.inf
        return float((self._chunk_tokens[order] + 1).cumsum()[int(last)])

    def by_worth(
        self, question: int, order: Numbers, settings: Settings, budget: int
    ) -> float:
        """Tokens when pieces are read by rank and by their worth, merged."""
        n = len(self._start)
        worth = np.zeros(len(self._spans))
        lenders = order[: count_seeds(budget)]
        worth[lenders] = 1 / (settings.head + np.arange(len(lenders)))
        left = 2.0 ** (-self._steps / settings.half)
        before = _carried(np.bincount(self._last - 1, worth, n), left)
        behind = _carried(np.bincount(self._first, worth, n)[::-1], left[::-1])[::-1]
        total = np.bincount(self._holds, worth[self._held], n)
        total += settings.lent * (before + behind)
        best = self._best(order)
        found = np.flatnonzero(np.isfinite(best))
        by_worth = found[np.lexsort((best[found], -total[found]))]
        by_rank = by_worth[np.argsort(best[by_worth], kind="stable")]
        listed = self._woven(by_rank, by_worth, settings.to_rank)
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

    def _best(self, order: Numbers) -> Numbers:
        """The rank of the best chunk that each piece is in."""
        best = np.full(len(self._start), np.inf)
        rank = _ranks(order, len(self._spans) - 1)
        np.minimum.at(best, self._holds, rank[self._held])
        return best

    def _woven(self, by_rank: Numbers, by_worth: Numbers, to_rank: float) -> Numbers:
        """Pieces in the order in which they are due in one of two orders."""
        due = np.full((2, len(self._start)), np.inf)
        for row, order, weight in ((0, by_rank, to_rank), (1, by_worth, 1.0)):
            tokens = self._tokens[order]
            before = tokens.cumsum() - tokens
            due[row, order] = np.where(before > 0, weight * before, 0.0)
        return by_rank[np.argsort(due.min(0)[by_rank], kind="stable")]

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


def _carried(worths: Numbers, left: Numbers) -> Numbers:
    """What is left at each place of all worth before it."""
    carried = [0.0]
    for worth, share in zip(worths.tolist(), left.tolist(), strict=False):
        carried.append((carried[-1] + worth) * share)
    return np.array(carried)
