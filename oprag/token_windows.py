"""Uniform windows of the tokens of a text, and what each counts alone."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from oprag.fitting import last_joint
from oprag.graphemes import boundary_after, boundary_at_or_before
from oprag.tokenizing import TokenStart, tokenize
from oprag.tokens import NamedTokenCounter

__all__ = ["token_windows"]

_JOINT = re.compile("[!-~] ")  # as in last_joint
_REACH = 200
"""Characters to look for a joint on each side of a cut; beyond, counting the whole
window again is as cheap."""


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
) -> Iterator[tuple[int, int, int]]:
    """Cut a text every so many tokens of its one tokenisation.

    Args:
        text: Not empty.
        chunk_size: Tokens of a window, at least 1.
        chunk_overlap: Tokens shared with the window before, below `chunk_size`.
        counter: One whose tokenizer gives offsets.

    Yields:
        `(start, end, tokens)` of each window: its characters, and the count of its
        own text. Starts and ends ascend strictly.
    """
    tokenized = tokenize(text, counter.tokenizer)
    n_tokens = tokenized.n_tokens
    windows = _windows_of_tokens(n_tokens, chunk_size, chunk_overlap)
    inner = sorted({token for window in windows for token in window} - {0, n_tokens})
    cuts = _cuts(text, inner, tokenized.starts(inner), counter)
    first = _Cut(0, 0, 0, 0)
    last = _Cut(n_tokens, len(text), len(text), len(text))
    kept: list[tuple[_Cut, _Cut]] = []
    for begin, end in windows:
        opening, closing = cuts.get(begin, first), cuts.get(end, last)
        if kept and closing.position == kept[-1][1].position:
            continue  # moved cuts left nothing new in it
        if kept and opening.position == kept[-1][0].position:
            kept.pop()
        kept.append((opening, closing))
    for opening, closing in kept:
        yield (
            opening.position,
            closing.position,
            _own_count(text, opening, closing, counter),
        )


def _windows_of_tokens(
    n_tokens: int, chunk_size: int, chunk_overlap: int
) -> list[tuple[int, int]]:
    starts = range(0, max(n_tokens - chunk_overlap, 1), chunk_size - chunk_overlap)
    return [(start, min(start + chunk_size, n_tokens)) for start in starts]


def _own_count(
    text: str, opening: _Cut, closing: _Cut, counter: NamedTokenCounter
) -> int:
    """Count a window's own text.

    From the tokens of the whole text where those at the window's two edges can be
    told apart from the others, else anew.
    """
    if opening.right > closing.left:
        return counter(text[opening.position : closing.position])
    return closing.token - opening.token + opening.beginning + closing.ending


def _cuts(
    text: str,
    tokens: Sequence[int],
    starts: Sequence[TokenStart],
    counter: NamedTokenCounter,
) -> dict[int, _Cut]:
    """Make the cuts before tokens, by token; positions never descend."""
    joints = counter.additive_at
    cuts = {}
    reached = 0
    for token, (position, exact) in zip(tokens, starts, strict=True):
        place = reached
        if position >= reached:
            place = boundary_at_or_before(text, position, reached)
            if place == reached and (position > reached or not exact):
                place = boundary_after(text, reached)
        if joints is None or not exact or place != position:
            cuts[token] = _Cut(token, place, -1, len(text) + 1)
        elif joints.match(text, place - 1):
            cuts[token] = _Cut(token, place, place, place)
        else:
            cuts[token] = _measured(text, token, place, counter)
        reached = place
    return cuts


def _measured(text: str, token: int, place: int, counter: NamedTokenCounter) -> _Cut:
    """Make a cut just before a token, and see what it does to counts."""
    floor = max(place - _REACH, 0)
    left = last_joint(text, floor, place)
    found = _JOINT.search(text, place, place + _REACH)
    if left == floor > 0 or (found is None and place + _REACH < len(text)):
        return _Cut(token, place, -1, len(text) + 1)
    right = len(text) if found is None else found.start() + 1
    # Both ends are joints, so the tokens between are those of the whole text.
    between = tokenize(text[left:right], counter.tokenizer)
    before = between.begun_before(place - left)
    ending = counter(text[left:place]) - before
    beginning = counter(text[place:right]) - (between.n_tokens - before)
    return _Cut(token, place, left, right, ending, beginning)
