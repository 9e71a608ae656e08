"""Chosen text within a token budget, counted as it is sent.

With `selection="recall"` text is chosen by rank and position, with `"budget"` in rank
order; either way it is taken while it fits. Counting
a long context again takes longer than everything else, so the counts of its parts are
added where that is exact, and only what stands around each joint is counted.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import islice, pairwise
from typing import NamedTuple, TypeAlias

from oprag.chunk import Chunk, Passage
from oprag.context.merging import merge_neighbours
from oprag.context.options import ContextOptions
from oprag.context.rendering import cited_text, gap_between, marked_texts, render
from oprag.context.results import single_passage
from oprag.context.selection import LONG_TOKEN, counted, fill_budget, too_small
from oprag.metadata import TOKEN_COUNT, TOKEN_COUNTER
from oprag.ordering import document_order, rank_order
from oprag.positions import as_number
from oprag.tokens import (
    NamedTokenCounter,
    added_by_joining,
    joint_counter,
    resolve_token_counter,
)

_UNUSED = 0.03
"""Share of a budget that may be left over before chunks are cut."""
_CUT = 16
"""How many of the next chunks are looked at for sentences that fit."""

_Cost = Callable[[Chunk], int]
SentText: TypeAlias = Callable[[Chunk, str], str]
"""The text that the application sends for a chunk: given a passage's first chunk
and the passage's text, that text with whatever the framework puts around it."""


class Finished(NamedTuple):
    """Chosen chunks in order."""

    ordered: list[Chunk]
    """The chunks."""
    joined: list[Passage] | None
    """Their passages; None where each chunk is sent by itself and as it is, so that
    none has to be made."""

    def passages(self) -> list[Passage]:
        """Return the passages."""
        if self.joined is None:
            return list(map(single_passage, self.ordered))
        return self.joined

    def ranked(self, brought: Mapping[int, int]) -> Finished:
        """Return the same with other ranks, by those that chunks have."""
        if not brought:
            return self

        def ranked(chunk: Chunk) -> Chunk:
            return chunk._replace(rank=brought.get(chunk.rank, chunk.rank))

        ordered = [*map(ranked, self.ordered)]
        if self.joined is None:
            return Finished(ordered, None)
        joined = [replace(p, chunks=(*map(ranked, p.chunks),)) for p in self.joined]
        return Finished(ordered, joined)


def finish(chunks: Sequence[Chunk], options: ContextOptions) -> Finished:
    """Put the chosen chunks in order and join them, as the options say.

    Raises:
        InvalidSpanError: A full text is read to join chunks, and has something else
            where a chunk says that it stands.
    """
    # Some selections take text in another order than that of the ranks.
    best_first = rank_order(chunks)
    ordered = document_order(best_first, document_order=options.document_order)
    if options.merges:
        texts = options.source_text()
        passages = merge_neighbours(ordered, source_text=texts)
        if texts is not None:
            texts.check()
        if options.order == "score":
            passages.sort(key=lambda passage: passage.rank)
        return Finished(ordered, passages)
    if options.order == "score":
        ordered = rank_order(ordered)
    written = options.gap_mark is not None or options.citations
    return Finished(ordered, list(map(single_passage, ordered)) if written else None)


class BudgetFiller:
    """Fills budgets with chunks, counting them as they are sent.

    Args:
        options: See `ContextOptions`; its `token_budget` is not read.
        sent_text: What the framework sends for a chunk, if not just its text.
    """

    def __init__(
        self, options: ContextOptions, sent_text: SentText | None = None
    ) -> None:
        counter = resolve_token_counter(options.token_counter)
        joint = options.separator
        if options.gap_mark is not None:
            joint += options.gap_mark + options.separator
        self._options = options
        self._last: tuple[Sequence[Chunk], Finished] | None = None
        self._last_needed: tuple[Sequence[Chunk], int] | None = None
        self._join_cost = joint_counter(counter, joint).tokens
        self._cost = _cost_function(counter, sent_text)
        self._counter = counter
        # What a framework sends by itself, and what rendering writes: both have to
        # fit. The latter is counted as it is, whatever counts are stored.
        self._rendered = options.citations or options.gap_mark is not None
        self._count = ContextCounter(
            counter,
            separator=options.separator,
            gap_mark=options.gap_mark,
            sent_text=sent_text,
        )

    def listed(
        self, chunks: Sequence[Chunk], budget: int, hits: float = math.inf
    ) -> Sequence[Chunk]:
        """Put what may be read into the order in which it is taken.

        Args:
            chunks: Best first, checked, without duplicates.
            budget: Tokens to fill. With full texts `"recall"` lists more for more,
                and where not all may fit it judges long chunks in another way.
            hits: Chunks from this rank on stand beside hits: `"recall"` judges them
                by these, else they come behind them.

        Returns:
            The chunks themselves, or with `"recall"` pieces of them.

        Raises:
            InvalidSpanError: See `cut_into_lines`.
        """
        if self._options.selection == "budget":
            return list(chunks)
        # Imported here: most contexts do not need it.
        from oprag.context.expanding import expanded_order

        texts = self._options.source_text()
        room = LONG_TOKEN * budget
        return expanded_order(
            chunks, source_text=texts, room=room, hits=hits, budget=budget
        )

    def taken(self, listed: Sequence[Chunk], budget: int) -> list[Chunk]:
        """Take what fits.

        Args:
            listed: As `listed` gives it.
            budget: Tokens that the chosen chunks take at most, put in order, joined
                and sent.

        Returns:
            The chosen ones in the given order, with `token_count` set.

        Raises:
            BudgetTooSmallError: See `fill_budget`.
            InvalidSpanError: See `merge_neighbours`.
        """
        kept = fill_budget(
            listed,
            budget,
            cost=self._cost,
            reserve=self._cited if self._options.citations else None,
            join_cost=self._join_cost,
        )
        kept = self._shrunk(kept, budget)
        by_position = self._options.selection == "recall"
        if by_position or (self._options.merges and self._options.citations):
            rest = listed[len(kept) :]
            kept, left = self._topped_up(kept, rest, budget)
            if by_position:
                kept = self._with_parts(kept, left, budget)
        return kept

    def finished(self, chunks: Sequence[Chunk]) -> Finished:
        """Do the same as `finish`; what was counted last is not made again."""
        if self._last is None or self._last[0] is not chunks:
            self._last = chunks, finish(chunks, self._options)
        return self._last[1]

    def _needed(self, chunks: Sequence[Chunk]) -> int:
        if self._last_needed is None or self._last_needed[0] is not chunks:
            self._last_needed = chunks, self._tokens_of(chunks)
        return self._last_needed[1]

    def _tokens_of(self, chunks: Sequence[Chunk]) -> int:
        ordered, joined = self.finished(chunks)
        if joined is None:
            return self._count.count_apart(ordered)
        needed = self._count.count(joined)
        if not self._rendered:
            return needed
        options = self._options
        text = render(
            joined,
            separator=options.separator,
            gap_mark=options.gap_mark,
            citations=options.citations,
        )
        return max(needed, self._counter(text))

    def _cited(self, chunk: Chunk) -> int:
        """Tokens of a chunk's number and place, as far as one chunk can tell."""
        alone = single_passage(chunk._replace(text=""))
        return self._counter(cited_text(chunk.rank + 1, alone))

    def _shrunk(self, kept: list[Chunk], budget: int) -> list[Chunk]:
        """Leave out the worst until the finished context fits.

        Joined, the parts may take a few tokens more than apart.
        """
        while (needed := self._needed(kept)) > budget:
            if len(kept) == 1:
                raise too_small(budget, needed)
            kept = kept[:-1]
        return kept

    def _topped_up(
        self, kept: list[Chunk], rest: Sequence[Chunk], budget: int
    ) -> tuple[list[Chunk], Sequence[Chunk]]:
        """Take more where merging made room: text that touches needs no separator.

        Returns:
            What is kept now, and the rest.
        """
        room = budget - self._needed(kept)
        while rest and room > 0:
            more: list[Chunk] = []
            for chunk in rest:
                tokens = self._cost(chunk)
                room -= tokens
                if room < 0:
                    break
                more.append(counted(chunk, tokens))
            larger = [*kept, *more]
            while more and self._needed(larger) > budget:
                more = more[: len(more) // 2]
                larger = [*kept, *more]
            if not more:
                break
            kept, rest = larger, rest[len(more) :]
            room = budget - self._needed(kept)
        return kept, rest

    def _with_parts(
        self, kept: list[Chunk], rest: Sequence[Chunk], budget: int
    ) -> list[Chunk]:
        """Take whole sentences of the next chunks where much of the budget is left."""
        from oprag.context.pieces import Parts

        for chunk in islice(rest, _CUT):
            room = budget - self._needed(kept)
            if room <= _UNUSED * budget:
                break
            parts = Parts(chunk, kept)
            fitting = bisect_right(
                range(len(parts)), room, key=lambda n: self._cost(parts[n])
            )
            for number in reversed(range(fitting)):
                more = [*kept, counted(parts[number], self._cost(parts[number]))]
                if self._needed(more) <= budget:
                    kept = more
                    break
        return kept


def _cost_function(counter: NamedTokenCounter, sent_text: SentText | None) -> _Cost:
    """Tokens of a chunk as it is sent, from its stored count where it can be."""
    headers: dict[str, int] = {}
    joined = joint_counter(counter, "")

    def cost(chunk: Chunk) -> int:
        text, metadata = chunk.text, chunk.metadata
        sent = text if sent_text is None else sent_text(chunk, text)
        stored = None
        if counter.name and metadata.get(TOKEN_COUNTER) == counter.name:
            stored = as_number(metadata.get(TOKEN_COUNT))
        if stored is None or not chunk.exact:
            return counter(sent)
        if sent == text:
            return stored
        # LlamaIndex strips the text that it puts behind a header.
        if not sent.endswith(text):
            return counter(sent)
        header = sent.removesuffix(text)
        known = counter.additive_at or counter.subadditive
        if not known or not header[-1].isspace():
            return counter(sent)
        if header not in headers:
            headers[header] = counter(header)
        return headers[header] + stored + joined(header, text)

    return cost


class ContextCounter:
    """Counts the tokens of passages as they are sent.

    Args:
        counter: The token counter.
        separator: What is put between the texts.
        gap_mark: What is put between passages of one document with a gap.
        sent_text: What is sent for a passage, if not just its text.
    """

    def __init__(
        self,
        counter: NamedTokenCounter,
        *,
        separator: str,
        gap_mark: str | None = None,
        sent_text: SentText | None = None,
    ) -> None:
        self._counter = counter
        self._separator = separator
        self._gap_mark = gap_mark
        self._sent_text = sent_text
        known = counter.additive_at or counter.subadditive
        # What a framework puts around a text stands before the mark, not behind it.
        self._known = bool(known) and (gap_mark is None or sent_text is None)
        self._joint = joint_counter(counter, separator)
        marked = separator if gap_mark is None else separator + gap_mark + separator
        self._marked = joint_counter(counter, marked)
        self._glued = joint_counter(counter, "")
        # While a budget is being filled, most passages are counted again as they were.
        self._counted: dict[str, int] = {}

    def count(self, passages: Sequence[Passage]) -> int:
        """Count the tokens of passages, whose chunks have their `token_count` as sent.

        Returns:
            Exactly as many as there are, or, for a counter that is `subadditive`, at
            least as many.
        """
        if not self._known:
            return self._counted_whole(passages)
        texts = [passage.text for passage in passages]
        if self._sent_text is not None:
            texts = list(map(self._sent_text, [p.chunks[0] for p in passages], texts))
        total = sum(map(self._tokens, passages, texts))
        if self._gap_mark is None:
            return total + self._joint.between(texts)
        following = texts[1:]
        gaps = [gap_between(a, b) for a, b in pairwise(passages)]
        joints = [self._marked if gap else self._joint for gap in gaps]
        known = [
            marked if gap else joined
            for gap, marked, joined in zip(
                gaps,
                self._marked.known(texts, following),
                self._joint.known(texts, following),
                strict=True,
            )
        ]
        return total + added_by_joining(texts, joints, known)

    def count_apart(self, chunks: Sequence[Chunk]) -> int:
        """Do the same as `count` for chunks that are sent each by itself, unmarked."""
        texts = [chunk.text for chunk in chunks]
        if self._sent_text is not None:
            texts = list(map(self._sent_text, chunks, texts))
        if not self._known:
            return self._counter(self._separator.join(texts))
        total = sum([chunk.token_count or 0 for chunk in chunks])
        return total + self._joint.between(texts)

    def _counted_whole(self, passages: Sequence[Passage]) -> int:
        texts = marked_texts(
            passages, gap_mark=self._gap_mark, separator=self._separator
        )
        if self._sent_text is not None:
            texts = list(map(self._sent_text, [p.chunks[0] for p in passages], texts))
        return self._counter(self._separator.join(texts))

    def _tokens(self, passage: Passage, text: str) -> int:
        chunks = passage.chunks
        if len(chunks) == 1 and chunks[0].token_count is not None:
            return chunks[0].token_count
        if text not in self._counted:
            tokens = self._summed(passage)
            self._counted[text] = self._counter(text) if tokens is None else tokens
        return self._counted[text]

    def _summed(self, passage: Passage) -> int | None:
        """Tokens of a passage from those of its chunks, where these just touch."""
        chunks = passage.chunks
        counts = [chunk.token_count for chunk in chunks]
        if (
            self._sent_text is not None  # then the counts hold what is put around
            or self._counter.additive_at is None
            or not passage.exact
            or any(not _touch(before, after) for before, after in pairwise(chunks))
        ):
            return None
        texts = [chunk.text for chunk in chunks]
        known = [count for count in counts if count is not None]
        glued = self._glued.between(texts)
        return sum(known) + glued if len(known) == len(counts) else None


def _touch(before: Chunk, after: Chunk) -> bool:
    if before.span is None or after.span is None:
        return False
    return before.span[1] == after.span[0]
