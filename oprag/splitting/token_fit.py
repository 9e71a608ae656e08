"""The longest beginning of a text that fits a number of tokens, counted alone."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

from oprag.errors import MissingDependencyError
from oprag.optional import require

_CHARACTERS_PER_TOKEN = 4


def longest_prefix(
    text: str,
    start: int,
    end: int,
    *,
    chunk_size: int,
    count: Callable[[int, int], int],
    guess: int = 0,
) -> int:
    """Return how far a part of a text can reach and count at most `chunk_size` alone.

    Args:
        text: The text.
        start: Where the part begins.
        end: Where it ends at the latest, after `start`.
        chunk_size: Tokens that the part may count alone.
        count: Counts the part by its start and end. Its end is found by bisection: one
            grapheme more would not fit. (If a longer text can count less, a much longer
            part might.)
        guess: Characters to try first; 0 when unknown.

    Returns:
        The part's end: `end`, or a grapheme boundary after at least one grapheme.
        A single one that counts more than `chunk_size` stays whole.
    """
    step = guess or _CHARACTERS_PER_TOKEN * chunk_size
    reached, too_far = start, end + 1
    while reached < end and reached + 1 < too_far:
        if too_far > end:  # nothing was too far yet: reach twice as far each time
            aim = min(reached + step, end)
            step *= 2
        else:
            aim = (reached + too_far) // 2
        place = aim if aim == end else boundary_at_or_before(text, aim, reached)
        if place == reached:
            place = _next_boundary(text, reached, end)
            if place >= too_far:
                break
        if count(start, place) <= chunk_size:
            reached = place
        else:
            too_far = place
    return reached if reached > start else _next_boundary(text, start, end)


def _next_boundary(text: str, boundary: int, end: int) -> int:
    return min(boundary_after(text, boundary), end)


def boundary_at_or_before(text: str, position: int, known: int = 0) -> int:
    r"""Round a place in a text down to a boundary between graphemes.

    Graphemes are those of `\X` in the package `regex` (Unicode's extended
    grapheme clusters): a letter with its accents, an emoji with its joiners, a
    flag, `\r\n`. Without that package every code point is one.

    Args:
        text: The text.
        position: In characters, `known <= position <= len(text)`.
        known: A place that is a boundary, to search back to at most.
    """
    if position >= len(text) or _is_apart(text, position):
        return position
    patterns = _patterns()
    if patterns is None:
        return position
    grapheme, standalone_pair = patterns
    boundary = position
    while boundary > known and not (
        _is_apart(text, boundary) or standalone_pair.match(text, boundary - 1)
    ):
        boundary -= 1
    while (end := grapheme.match(text, boundary).end()) <= position:
        boundary = end
    return boundary


def boundary_after(text: str, boundary: int) -> int:
    """Return the end of the grapheme that begins at a boundary."""
    patterns = _patterns()
    if patterns is None:
        return boundary + 1
    end: int = patterns[0].match(text, boundary).end()
    return end


def _is_apart(text: str, position: int) -> bool:
    """Tell a boundary by its ASCII neighbours alone, which decides most of prose.

    In ASCII only a carriage return joins the line feed after it.
    """
    pair = text[max(position - 1, 0) : position + 1]
    return position == 0 or (pair.isascii() and pair != "\r\n")


@lru_cache(maxsize=1)
def _patterns() -> tuple[Any, Any] | None:
    r"""Return patterns of one grapheme, and of two characters with a boundary between.

    Flags have a separate pattern: for each of them `\X` would count back to
    the first of a row of flags. In the second pattern neither character attaches to
    a neighbour (Unicode annex 29, rule GB999).
    """
    try:
        regex = require("regex", extra="langchain", purpose="Finding graphemes")
    except MissingDependencyError:
        return None
    flag = r"\p{GCB=RI}{2}[\p{GCB=Extend}\p{GCB=ZWJ}\p{GCB=SpacingMark}]*"
    return regex.compile(rf"{flag}|\X"), regex.compile(r"\p{GCB=Other}{2}")
