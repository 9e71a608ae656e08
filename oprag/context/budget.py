"""Choose the chunks that a token budget holds, counted as sent.

Chunks arrive best first (with `selection="recall"` by rank and position) and are chosen
in that order, so the least relevant chunk is dropped, not the end of the document. They
are taken while the sum of their counts fits; then the finished context is counted, and
the worst chunk dropped until it fits.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from itertools import islice
from math import ceil
from operator import add
from typing import TypeAlias

from oprag.chunk import Chunk, Passage
from oprag.context.numbers import CitationNumbers
from oprag.context.options import ContextOptions
from oprag.context.passages import build_passages, single_passage
from oprag.context.pieces import list_parts
from oprag.context.results import best_chunk, merge_metadata
from oprag.context.text import cite_text, headers
from oprag.errors import BudgetTooSmallError
from oprag.marks import GAP_MARK, escape_marks
from oprag.metadata import TOKEN_COUNT, TOKEN_COUNTER, as_number
from oprag.tokens import resolve_token_counter

SHORT_CHUNK = 64
"""Tokens that a short chunk has: half of OP-RAG's 128."""
_MIN_SEEDS = 48
_MAX_UNUSED_SHARE = 0.03
"""Share of a budget that may be left over before chunks are cut."""
_IN_COMMON = 4
"""The most tokens that joining two texts saves over counting each alone."""
_MAX_CUT_CHUNKS = 16
"""How many of the next chunks are looked at for sentences that fit."""

SentText: TypeAlias = Callable[[Chunk, str], str]
"""The text that the application sends for a chunk: given a passage's best chunk
and the passage's text, that text with whatever the framework puts around it."""


def fill_budget(
    chunks: Sequence[Chunk],
    token_budget: int,
    *,
    cost: Callable[[Chunk], int],
    join_cost: int = 0,
) -> list[Chunk]:
    """Take chunks in the given order while they fit the budget.

    Returns:
        The chosen chunks in the given order: all before the first that does not fit,
        so that the choice for a small budget is a subset of that for a larger one.
        Empty only if `chunks` is.

    Raises:
        BudgetTooSmallError: The best chunk alone takes more than the budget.

    Source:
        DOS RAG (arXiv:2506.03989), section 3, stops at the first overflow. It
        does not count separators; here they count, so that the text that is
        sent keeps within the budget.
    """
    kept: list[Chunk] = []
    used = 0
    for chunk in chunks:
        needed = used + cost(chunk) + (join_cost if kept else 0)
        if needed > token_budget:
            if not kept:
                raise too_small(token_budget, needed)
            break
        kept.append(chunk)
        used = needed
    return kept


def too_small(token_budget: int, needed: int) -> BudgetTooSmallError:
    """Return the error for a budget that not even one chunk fits."""
    message = (
        f"token_budget={token_budget} holds no chunk: the best takes {needed} tokens "
        "as it is sent. Give a larger budget, or split into smaller chunks."
    )
    return BudgetTooSmallError(message, token_budget=token_budget, needed=needed)


def count_seeds(token_budget: int) -> int:
    """Return how many of the best chunks lend worth to the text around them.

    As many short chunks as fill the budget, and at least 48; see `recall.py`.
    """
    return max(_MIN_SEEDS, ceil(token_budget / SHORT_CHUNK))


class BudgetFiller:
    """Fills budgets with chunks, counting them as sent.

    Args:
        options: See `ContextOptions`; its `token_budget` is not read.
        sent_text: Gives the text that the framework sends for a chunk, if not just the
            chunk's own.
        numbers: The passage numbers of the conversation; None if there are none.
    """

    def __init__(
        self,
        options: ContextOptions,
        sent_text: SentText | None = None,
        numbers: CitationNumbers | None = None,
    ) -> None:
        self._options, self._numbers = options, numbers
        self._sent_text = sent_text
        self._counter = resolve_token_counter(options.token_counter)
        joint = options.separator
        if options.citations:
            joint += GAP_MARK + options.separator
        self._join_cost = self._counter(joint)
        self._last: tuple[list[Chunk], list[Passage], int] | None = None
        self._sent: dict[int, tuple[Chunk, str]] = {}
        """The text that a framework sends for a chunk, by the identity of the chunk."""

    def fill(
        self, listed: Sequence[Chunk], budget: int
    ) -> tuple[list[Chunk], list[Passage], int]:
        """Take the chunks that fit, in the given order.

        Returns:
            The chosen chunks in the given order, the last ones perhaps parts; their
            passages; and the tokens.
        """
        try:
            kept = fill_budget(
                listed,
                budget,
                cost=lambda chunk: (
                    self._count_chunk(chunk) + self._count_citation(chunk)
                ),
                join_cost=self._join_cost,
            )
        except BudgetTooSmallError:
            # The sum is too large, but once joined its parts may take fewer tokens.
            kept = [*listed[:1]]
        kept = self._drop_until_fits(kept, budget)
        if kept and (needed := self._count_needed(kept)) > budget:
            raise too_small(budget, needed)
        options = self._options
        recalls = options.selection == "recall"
        if recalls or options.citations or options.merge:
            kept = self._top_up(kept, listed, budget)
        if recalls:
            kept = self._add_parts(kept, listed[len(kept) :], budget)
        return self._render(kept)

    def _count_chunk(self, chunk: Chunk) -> int:
        """Count a chunk as sent, or return its stored count if that is of this text."""
        sent, name = self._write_as_sent(chunk), self._counter.name
        has_our_count = name and chunk.metadata.get(TOKEN_COUNTER) == name
        if has_our_count and chunk.exact and sent == chunk.text:
            stored = as_number(chunk.metadata.get(TOKEN_COUNT))
            if stored is not None:
                return stored
        return self._counter(sent)

    def _write_as_sent(self, chunk: Chunk) -> str:
        if self._sent_text is None:
            return self._write_as_rendered(chunk.text)
        if id(chunk) not in self._sent:
            self._sent[id(chunk)] = chunk, self._sent_text(chunk, chunk.text)
        return self._sent[id(chunk)][1]

    def _write_as_rendered(self, text: str) -> str:
        """Return a text as `render` writes it."""
        options = self._options
        return escape_marks(text, options.separator) if options.citations else text

    def _write_passage(self, passage: Passage, sent_text: SentText) -> str:
        """Return a passage as sent: as its best chunk, with all metadata."""
        best, *others = chunks = passage.chunks
        if not others and passage.text == best.text:
            return self._write_as_sent(best)
        if others:
            keys = self._options.position_keys
            metadata = merge_metadata(chunks, keys)
            best = best_chunk(chunks)._replace(metadata=metadata)
        return sent_text(best, passage.text)

    def _count_citation(self, chunk: Chunk) -> int:
        """Count the tokens of a number and place, as far as one chunk can tell."""
        if not self._options.citations:
            return 0
        alone = single_passage(chunk._replace(text=""))
        return self._counter(cite_text(chunk.rank + 1, alone))

    def _count_needed(self, chunks: list[Chunk]) -> int:
        return self._render(chunks)[2]

    def _render(self, chunks: list[Chunk]) -> tuple[list[Chunk], list[Passage], int]:
        """Return the chosen chunks, their passages, and their tokens as sent.

        The text that a framework sends by itself and the text that `render` writes must
        both fit. The last result is not made again for the same list, which nobody
        changes once it is made.
        """
        if self._last is not None and self._last[0] is chunks:
            return self._last
        options, separator = self._options, self._options.separator
        passages = build_passages(chunks, options)
        if self._numbers is not None:
            passages = self._numbers.assign(passages)
        written = [[self._write_as_rendered(passage.text) for passage in passages]]
        if self._sent_text is not None:
            written.append(
                [self._write_passage(each, self._sent_text) for each in passages]
            )
        if options.citations:
            heads = headers(passages, separator=separator)
            written = [list(map(add, heads, texts)) for texts in written]
        tokens = max(self._counter(separator.join(texts)) for texts in written)
        self._last = chunks, passages, tokens
        return self._last

    def _drop_until_fits(
        self, kept: list[Chunk], budget: int, least: int = 1
    ) -> list[Chunk]:
        """Leave out the worst until the finished context fits, or `least` are left."""
        # Counting the whole context is slow: drop by estimate first, then count again.
        while (excess := self._count_needed(kept) - budget) > 0 and len(kept) > least:
            while excess > 0 and len(kept) > least:
                *kept, worst = kept
                excess -= self._join_cost + self._count_citation(worst)
                excess -= self._counter(self._write_as_sent(worst))
        return kept

    def _top_up(
        self, kept: list[Chunk], listed: Sequence[Chunk], budget: int
    ) -> list[Chunk]:
        """Take more chunks if there is room after all, counted as sent.

        Text that touches needs no separator, what overlaps is sent once, and a place
        and its text may have tokens in common.
        """
        in_common = _IN_COMMON if self._options.citations else 0
        while True:
            room = budget - self._count_needed(kept) + in_common
            larger = [*kept]
            for chunk in listed[len(kept) :]:
                room -= self._count_chunk(chunk)
                if room < 0:
                    break
                larger.append(chunk)
            if len(larger) > len(kept):
                larger = self._drop_until_fits(larger, budget, len(kept))
            if len(larger) == len(kept):
                return kept
            kept = larger

    def _add_parts(
        self, kept: list[Chunk], rest: Sequence[Chunk], budget: int
    ) -> list[Chunk]:
        """Take whole sentences of the next chunks if much of the budget is left."""
        for chunk in islice(rest, _MAX_CUT_CHUNKS):
            room = budget - self._count_needed(kept)
            if room <= _MAX_UNUSED_SHARE * budget:
                break
            kept = self._fit_part(chunk, kept, budget, room)
        return kept

    def _fit_part(
        self, chunk: Chunk, kept: list[Chunk], budget: int, room: int
    ) -> list[Chunk]:
        """Return `kept` and as long a part of the chunk as fits, if any does."""
        parts = list_parts(chunk, kept)
        while fitting := bisect_right(parts, room, key=self._count_chunk):
            part = parts[fitting - 1]
            more = [*kept, part]
            excess = self._count_needed(more) - budget
            if excess <= 0:
                return more
            # Too long once joined: try a part shorter by the excess.
            room = self._count_chunk(part) - excess
        return kept
