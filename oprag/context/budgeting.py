"""Chosen text within a token budget, counted as it is sent.

With `selection="segments"` and `"expand"` text is chosen by rank and position, with
`"budget"` and `"top_k"` in rank order; either way it is taken while it fits.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from oprag.chunk import Chunk, Passage
from oprag.context.counting import ContextCounter, SentText
from oprag.context.merging import merge_neighbours, single_passage
from oprag.context.options import ContextOptions
from oprag.context.selection import BY_POSITION, EXPANDING, fill_budget, too_small
from oprag.metadata import TOKEN_COUNT, TOKEN_COUNTER
from oprag.ordering import document_order, rank_order
from oprag.positions import as_number
from oprag.tokens import NamedTokenCounter, joint_counter, resolve_token_counter

_Cost = Callable[[Chunk], int]


def finish(chunks: Sequence[Chunk], options: ContextOptions) -> list[Passage]:
    """Put the chosen chunks in order and join them, as the options say."""
    ordered = document_order(chunks, document_order=options.document_order)
    if options.merges:
        passages = merge_neighbours(
            ordered, max_gap=options.max_gap, source_text=options.source_text()
        )
        if options.order == "score":
            passages.sort(key=lambda passage: passage.rank)
        return passages
    if options.order == "score":
        ordered = rank_order(chunks)
    return [single_passage(chunk) for chunk in ordered]


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
        self._last: tuple[Sequence[Chunk], list[Passage]] | None = None
        self._join_cost = counter(joint)
        self._cost = _cost_function(counter, sent_text)
        self._count = ContextCounter(
            counter,
            separator=options.separator,
            gap_mark=options.gap_mark,
            sent_text=sent_text,
        ).count

    def listed(self, chunks: Sequence[Chunk], budget: int) -> list[Chunk]:
        """Put what may be read into the order in which it is taken.

        Args:
            chunks: Best first, checked, without duplicates.
            budget: Tokens to fill. Only `"segments"` lists other text for another.

        Returns:
            The chunks themselves, or with `"segments"` and `"expand"` pieces of them.

        Raises:
            InvalidSpanError: See `cut_into_lines`.
        """
        source_text = self._options.source_text()
        # Imported here: most contexts need neither.
        if self._options.selection in EXPANDING:
            from oprag.context.expanding import expanded_order

            return expanded_order(chunks, source_text=source_text)
        if self._options.selection == "segments":
            from oprag.context.segments import segment_order

            return segment_order(
                chunks,
                budget,
                cost=self._cost,
                max_gap=self._options.max_gap,
                source_text=source_text,
            )
        return list(chunks)

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
            join_cost=self._join_cost,
            overflow=self._options.overflow,
        )
        kept = self._shrunk(kept, budget)
        if self._options.selection in BY_POSITION:
            ranks = {chunk.rank for chunk in kept}
            rest = [chunk for chunk in listed if chunk.rank not in ranks]
            kept = self._topped_up(kept, rest, budget)
        return kept

    def finished(self, chunks: Sequence[Chunk]) -> list[Passage]:
        """Do the same as `finish`; what was counted last is not made again."""
        if self._last is None or self._last[0] is not chunks:
            self._last = chunks, finish(chunks, self._options)
        return self._last[1]

    def _needed(self, chunks: Sequence[Chunk]) -> int:
        return self._count(self.finished(chunks))

    def _shrunk(self, kept: list[Chunk], budget: int) -> list[Chunk]:
        """Leave out the worst until the finished context fits.

        Joined, the parts may take a few tokens more than apart.
        """
        while (needed := self._needed(kept)) > budget:
            if len(kept) == 1:
                raise too_small(budget, needed)
            worst = max(kept, key=lambda chunk: chunk.rank)
            kept = [chunk for chunk in kept if chunk is not worst]
        return kept

    def _topped_up(
        self, kept: list[Chunk], rest: Sequence[Chunk], budget: int
    ) -> list[Chunk]:
        """Take more where merging made room: text that touches needs no separator."""
        room = budget - self._needed(kept)
        while rest and room > 0:
            more: list[Chunk] = []
            for chunk in rest:
                tokens = self._cost(chunk)
                room -= tokens
                if room < 0:
                    break
                more.append(chunk.with_tokens(tokens))
            while more and self._needed([*kept, *more]) > budget:
                more = more[: len(more) // 2]
            if not more:
                break
            kept, rest = [*kept, *more], rest[len(more) :]
            room = budget - self._needed(kept)
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
        known = counter.additive_at_spaces or counter.subadditive
        if not known or not header[-1].isspace():
            return counter(sent)
        if header not in headers:
            headers[header] = counter(header)
        return headers[header] + stored + joined(header, text)

    return cost
