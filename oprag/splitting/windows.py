"""Uniform windows of the tokens of a text, and what each counts alone."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from oprag.splitting.fitting import (
    boundary_after,
    boundary_at_or_before,
    longest_prefix,
)
from oprag.splitting.joints import SPACE_JOINT, last_joint
from oprag.tokens import (
    NamedTokenCounter,
    TokenizedText,
    TokenStart,
    joints_of,
    tokenize,
)

_REACH = 200
"""Characters to look for a joint on each side of a cut; beyond, counting the whole
window again is as cheap."""
_FEW = 16
"""Windows that are planned together at first, and after one that did not fit; twice as
many each time that all did."""


class TextChunk(NamedTuple):
    """A chunk of a text: the characters `[start, end)`."""

    start: int
    end: int
    token_count: int
    """Tokens of `text[start:end]` counted alone, as budgets count it."""


class _Cut(NamedTuple):
    """A place where windows begin or end, and what it does to their counts."""

    token: int
    """The token that begins there; the number of tokens at the text's end."""
    position: int
    """In characters."""
    left: int
    """Up to here the tokens are those of the whole text, whatever follows the cut;
    -1 when that is not known."""
    right: int
    """From here on they are, whatever goes before the cut; past the text's end when
    that is not known."""
    ending: int = 0
    """Tokens that a window ending at the cut counts alone above those it has."""
    beginning: int = 0
    """The same for a window that begins there."""


def token_windows(
    text: str, *, chunk_size: int, chunk_overlap: int, counter: NamedTokenCounter
) -> list[TextChunk]:
    """Cut a text every so many tokens of its one tokenisation.

    Args:
        text: Not empty.
        chunk_size: Tokens of a window, at least 1.
        chunk_overlap: Tokens shared with the window before, below `chunk_size`.
        counter: One whose tokenizer gives offsets.

    Returns:
        The windows in reading order; starts and ends both ascend strictly.
    """
    tokenized = tokenize(text, counter.tokenizer)
    if not tokenized.n_tokens:
        return [TextChunk(0, len(text), 0)]
    joints = joints_of(counter)
    return _Windows(
        text, tokenized, counter, joints, chunk_size, chunk_overlap
    ).chunks()


class _Windows(NamedTuple):
    """The windows of one text: on a grid of its tokens as long as they fit.

    A window may count more alone than it has tokens: where a cut was moved to a
    boundary between graphemes, or where part of a word is tokenised otherwise alone.
    Then it ends earlier, and the grid begins anew there.
    """

    text: str
    tokenized: TokenizedText
    counter: NamedTokenCounter
    joints: re.Pattern[str] | None
    size: int
    overlap: int

    def chunks(self) -> list[TextChunk]:
        """All windows in reading order."""
        chunks: list[TextChunk] = []
        opening = closing = ended = _Cut(0, 0, 0, 0)
        most = _FEW
        while ended.position < len(self.text):
            for planned in self._grid(opening, most):
                opening, closing = planned
                if closing.position <= ended.position:
                    continue  # moved cuts left nothing new in it
                tokens = self._count(opening, closing)
                if tokens > self.size:
                    closing, tokens = self._shortened(opening, closing, tokens)
                if closing.position > ended.position:
                    if chunks and chunks[-1].start == opening.position:
                        chunks.pop()
                    place = opening.position, closing.position
                    chunks.append(TextChunk(*place, tokens))
                    ended = closing
                if closing is not planned[1]:
                    break
            most = 2 * most if closing is planned[1] else _FEW
            opening = self._next(opening, closing, ended)
        return chunks

    def _grid(self, opening: _Cut, most: int) -> Iterator[tuple[_Cut, _Cut]]:
        """Where the windows from a cut on begin and end, by their tokens alone."""
        n_tokens = self.tokenized.n_tokens
        first, step = opening.token, self.size - self.overlap
        begins = range(first, max(n_tokens - self.overlap, first + 1), step)[:most]
        ends = [min(begin + self.size, n_tokens) for begin in begins]
        inner = sorted({*begins, *ends} - {first, n_tokens})
        cuts = self._cuts(inner, opening.position)
        length = len(self.text)
        cuts[n_tokens] = _Cut(n_tokens, length, length, length)
        cuts[first] = opening
        return ((cuts[a], cuts[b]) for a, b in zip(begins, ends, strict=True))

    def _count(self, opening: _Cut, closing: _Cut) -> int:
        """Tokens that a window counts alone."""
        if opening.right <= closing.left:
            inside = closing.token - opening.token
            return inside + opening.beginning + closing.ending
        # What is at one edge cannot be told apart from what is at the other.
        return self.counter.count(self.text[opening.position : closing.position])

    def _shortened(self, opening: _Cut, closing: _Cut, tokens: int) -> tuple[_Cut, int]:
        """Find an earlier end for a window that is too long, and count up to there."""
        start = opening.position
        limit = closing.position
        while tokens > self.size:
            earlier = closing.token - (tokens - self.size)
            if earlier <= opening.token:
                return self._inside_a_token(opening, limit)
            closing = self._cuts([earlier], start)[earlier]
            if closing.position <= start:
                return self._inside_a_token(opening, limit)
            tokens = self._count(opening, closing)
        return closing, tokens

    def _inside_a_token(self, opening: _Cut, limit: int) -> tuple[_Cut, int]:
        """The same where no token of the whole text begins at a place that fits."""
        text, counter = self.text, self.counter
        start = opening.position
        place = longest_prefix(
            text, start, limit, chunk_size=self.size, counter=counter
        )
        stop = min(opening.token + self.size + 1, self.tokenized.n_tokens)
        after = self.tokenized.starts(range(opening.token + 1, stop))
        passed = sum(begin.position < place for begin in after)
        if passed < len(after) and after[passed].position == place:
            passed += 1
        cut = _Cut(opening.token + passed, place, -1, len(text) + 1)
        return cut, counter.count(text[start:place])

    def _cuts(self, tokens: Sequence[int], reached: int) -> dict[int, _Cut]:
        """Make the cuts before tokens, by token; positions never descend."""
        text, joints = self.text, self.joints
        cuts = {}
        for token, start in zip(tokens, self.tokenized.starts(tokens), strict=True):
            place, exact = start
            if joints and exact and place > reached and joints.match(text, place - 1):
                # Most cuts in prose. No grapheme goes across a joint either.
                cut = _Cut(token, place, place, place)
            else:
                place = _moved(text, start, reached)
                if joints and exact and place == start.position:
                    cut = self._measured(token, place)
                else:
                    cut = _Cut(token, place, -1, len(text) + 1)
            cuts[token] = cut
            reached = place
        return cuts

    def _measured(self, token: int, place: int) -> _Cut:
        """Make a cut just before a token, and see what it does to counts."""
        text, count, steps = self.text, self.counter.count, self.tokenized.steps
        floor = max(place - _REACH, 0)
        left = last_joint(text, floor, place)
        found = SPACE_JOINT.search(text, place, place + _REACH)
        if left == floor > 0 or (found is None and place + _REACH < len(text)):
            return _Cut(token, place, -1, len(text) + 1)
        right = len(text) if found is None else found.start() + 1
        return _Cut(
            token,
            place,
            left,
            right,
            count(text[left:place]) - steps(token, place, left),
            count(text[place:right]) - steps(token, place, right),
        )

    def _next(self, opening: _Cut, closing: _Cut, ended: _Cut) -> _Cut:
        """Where the window after one begins; what has ended is behind it."""
        token = closing.token - self.overlap
        if token <= opening.token:
            token = opening.token + self.size - self.overlap
        if token >= ended.token:
            return ended
        return self._cuts([token], opening.position)[token]


def _moved(text: str, start: TokenStart, reached: int) -> int:
    """Move a cut to a boundary between graphemes, not behind the cut before it."""
    if start.position < reached:
        return reached
    place = boundary_at_or_before(text, start.position, reached)
    if place == reached and (start.position > reached or not start.exact):
        return boundary_after(text, reached)
    return place
