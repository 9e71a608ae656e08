"""Uniform windows of the tokens of a text, and what each counts alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from oprag.splitting.fitting import boundary_after, boundary_at_or_before
from oprag.tokens import (
    SPACE_JOINT,
    NamedTokenCounter,
    TokenizedText,
    TokenStart,
    last_joint,
    tokenize,
)

_REACH = 200
"""Characters to look for a joint on each side of a cut; beyond, counting the whole
window again is as cheap."""


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
    n_tokens = tokenized.n_tokens
    if not n_tokens:
        return [TextChunk(0, len(text), 0)]
    begins = range(0, max(n_tokens - chunk_overlap, 1), chunk_size - chunk_overlap)
    ends = [*(begin + chunk_size for begin in begins[:-1]), n_tokens]
    inner = sorted({*begins, *ends} - {0, n_tokens})
    cuts = _cuts(text, tokenized, inner, counter)
    cuts[0] = _Cut(0, 0, 0, 0)
    cuts[n_tokens] = _Cut(n_tokens, len(text), len(text), len(text))
    chunks: list[TextChunk] = []
    started = ended = -1
    for opening, closing in zip(begins, ends, strict=True):
        first, start, _, right, _, beginning = cuts[opening]
        last, end, left, _, ending, _ = cuts[closing]
        if end == ended:
            continue  # moved cuts left nothing new in it
        if start == started:
            chunks.pop()
        if right <= left:
            tokens = last - first + beginning + ending
        else:  # what is at one edge cannot be told apart from what is at the other
            tokens = counter(text[start:end])
        chunks.append(TextChunk(start, end, tokens))
        started, ended = start, end
    return chunks


def _cuts(
    text: str,
    tokenized: TokenizedText,
    tokens: Sequence[int],
    counter: NamedTokenCounter,
) -> dict[int, _Cut]:
    """Make the cuts before tokens, by token; positions never descend."""
    joints = counter.additive_at
    cuts = {}
    reached = 0
    for token, start in zip(tokens, tokenized.starts(tokens), strict=True):
        place, exact = start
        if joints and exact and place > reached and joints.match(text, place - 1):
            # Most cuts in prose. No grapheme goes across a joint either.
            cut = _Cut(token, place, place, place)
        else:
            place = _moved(text, start, reached)
            if joints and exact and place == start.position:
                cut = _measured(text, token, place, tokenized, counter)
            else:
                cut = _Cut(token, place, -1, len(text) + 1)
        cuts[token] = cut
        reached = place
    return cuts


def _moved(text: str, start: TokenStart, reached: int) -> int:
    """Move a cut to a boundary between graphemes, not behind the cut before it."""
    if start.position < reached:
        return reached
    place = boundary_at_or_before(text, start.position, reached)
    if place == reached and (start.position > reached or not start.exact):
        return boundary_after(text, reached)
    return place


def _measured(
    text: str,
    token: int,
    place: int,
    tokenized: TokenizedText,
    counter: NamedTokenCounter,
) -> _Cut:
    """Make a cut just before a token, and see what it does to counts."""
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
        counter(text[left:place]) - tokenized.steps(token, place, left),
        counter(text[place:right]) - tokenized.steps(token, place, right),
    )
