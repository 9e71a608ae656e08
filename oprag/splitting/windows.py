"""Uniform windows of the tokens of a text, and the count of each alone."""

from __future__ import annotations

from typing import NamedTuple

from oprag.splitting.part_counts import count_ends
from oprag.splitting.token_fit import (
    boundary_after,
    boundary_at_or_before,
    longest_prefix,
)
from oprag.tokens import NamedTokenCounter, TokenizedText, TokenStart, tokenize


class TextChunk(NamedTuple):
    """A chunk of a text: the characters `[start, end)`."""

    start: int
    end: int
    token_count: int
    """Tokens of `text[start:end]` counted alone, as budgets count it."""


class _Cut(NamedTuple):
    """A place where windows begin or end."""

    token: int
    """The token that begins there; the number of tokens at the text's end."""
    position: int
    """In characters."""
    exact: bool
    """Whether the token begins at this position."""


def token_windows(
    text: str, *, chunk_size: int, chunk_overlap: int, counter: NamedTokenCounter
) -> list[TextChunk]:
    """Cut a text every so many tokens of its one tokenisation.

    A window may count more alone than it has tokens, if a cut was moved to a boundary
    between graphemes, or if part of a word is tokenised differently alone. Then it ends
    earlier, and the next windows are counted from there.

    Returns:
        The windows in reading order; starts and ends both ascend strictly.
    """
    tokenized = tokenize(text, counter.tokenizer)
    if not tokenized.n_tokens:
        return [TextChunk(0, len(text), 0)]
    windows = _Windows(text, tokenized, counter, chunk_size, counter.counts_tokens)
    chunks: list[TextChunk] = []
    opening = ended = _Cut(0, 0, exact=True)
    while ended.position < len(text):
        before = ended
        closing = windows.cut(opening.token + chunk_size, opening.position)
        if closing.position > ended.position:
            closing, tokens = windows.fitting(opening, closing)
            if closing.position > ended.position:
                if chunks and chunks[-1].start == opening.position:
                    chunks.pop()
                chunks.append(TextChunk(opening.position, closing.position, tokens))
                ended = closing
        token = closing.token - chunk_overlap
        if token <= opening.token:
            token = opening.token + chunk_size - chunk_overlap
        following = windows.cut(token, opening.position, closing)
        passed = following.position > ended.position
        if passed or (ended is not before and token >= ended.token):
            following = ended
        opening = following
    return chunks


class _Windows(NamedTuple):
    """The places at which the windows of a text may begin and end."""

    text: str
    tokenized: TokenizedText
    counter: NamedTokenCounter
    size: int
    by_ends: bool
    """Whether the counter counts the tokens of this tokenisation."""

    def cut(self, token: int, reached: int, known: _Cut | None = None) -> _Cut:
        """Return the cut before a token, but not before the position reached."""
        if known and known.exact and known.token == token:
            return known
        n_tokens = self.tokenized.n_tokens
        if token >= n_tokens:
            return _Cut(n_tokens, len(self.text), exact=True)
        start = self.tokenized.start(token)
        place = _move_cut(self.text, start, reached)
        return _Cut(token, place, start.exact and place == start.position)

    def fitting(self, opening: _Cut, closing: _Cut) -> tuple[_Cut, int]:
        """Return the end of a window that fits, and the window's count alone."""
        start, limit = opening.position, closing.position
        while (tokens := self._count(opening, closing)) > self.size:
            earlier = closing.token - (tokens - self.size)
            if earlier <= opening.token:
                return self._inside_a_token(opening, limit)
            closing = self.cut(earlier, start)
            if closing.position <= start:
                return self._inside_a_token(opening, limit)
        return closing, tokens

    def _count(self, opening: _Cut, closing: _Cut) -> int:
        """Count a window alone: only its ends anew, if these are known to be apart."""
        ends = None
        if self.by_ends and opening.exact and closing.exact:
            ends = self.tokenized.ends(opening.token, closing.token)
        if ends is None:
            return self._count_span(opening.position, closing.position)
        return count_ends(ends, self.counter)

    def _count_span(self, start: int, end: int) -> int:
        return self.counter.count_again(self.text[start:end])

    def _inside_a_token(self, opening: _Cut, limit: int) -> tuple[_Cut, int]:
        """Fit a window if no token of the whole text begins at a place that fits."""
        start = opening.position
        place = longest_prefix(
            self.text, start, limit, chunk_size=self.size, count=self._count_span
        )
        stop = min(opening.token + self.size + 1, self.tokenized.n_tokens)
        after = self.tokenized.starts(range(opening.token + 1, stop))
        passed = sum(begin.position < place for begin in after)
        if passed < len(after) and after[passed].position == place:
            passed += 1
        closing = _Cut(opening.token + passed, place, exact=False)
        return closing, self._count(opening, closing)


def _move_cut(text: str, start: TokenStart, reached: int) -> int:
    """Move a cut to a boundary between graphemes, not after the cut before it."""
    position, exact = start
    if position < reached:
        return reached
    place = boundary_at_or_before(text, position, reached)
    if place == reached and (position > reached or not exact):
        return boundary_after(text, reached)
    return place
