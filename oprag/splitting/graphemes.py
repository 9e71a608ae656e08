"""Where a text may be cut without splitting what a reader sees as one character."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from oprag.errors import MissingDependencyError
from oprag.optional import require

__all__ = ["boundary_after", "boundary_at_or_before"]


def boundary_at_or_before(text: str, position: int, known: int = 0) -> int:
    r"""Round a place in a text down to a boundary between graphemes.

    Graphemes are those of `\X` in the package `regex` (Unicode's extended
    grapheme clusters): a letter with its accents, an emoji with its joiners, a
    flag, `\r\n`. Without that package every code point is one.

    Args:
        text: The text.
        position: In characters, `known <= position <= len(text)`.
        known: A place that is a boundary, to search back to at most.

    Returns:
        The last boundary at or before `position`; `known` at least.
    """
    patterns = _patterns()
    if patterns is None or position >= len(text) or _is_apart(text, position):
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
    """Find the end of the grapheme that begins at a boundary before the text's end."""
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
    """Patterns of one grapheme, and of two characters with a boundary between.

    Neither of the two attaches to a neighbour (Unicode annex 29, rule GB999).
    """
    try:
        regex = require("regex", extra="langchain", purpose="Finding graphemes")
    except MissingDependencyError:
        return None
    return regex.compile(r"\X"), regex.compile(r"\p{GCB=Other}{2}")
