"""All the ways to lay pieces over a text so that they cover it without a gap.

A splitter that loses nothing leaves no gap: each piece begins inside the one
before it or right after it, and none ends earlier than the one before it. That,
from the first character to the last, usually leaves a single way even if the text
repeats itself. Text and pieces are without white space here.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

Range = tuple[int, int]
"""The first and the last of the starts that a piece may have, both included."""

STEP = 1 << 10
"""Largest step back of splitters applied one after another. Steps up to it are
expected if not all pieces show them, and tried if no piece shows one."""

_LIMIT = 64
"""Starts of one piece that are kept apart; of more, only the first and the last."""


def cover(
    text: str,
    pieces: Sequence[str],
    first: int,
    last: int,
    back: int = 0,
    *,
    gaps: Sequence[int] = (),
) -> list[Range] | None:
    """Find the possible places of pieces that cover the text without a gap.

    How much any two pieces overlap is not known, but the sum of all overlaps is: the
    lengths of the pieces less the length of the text that they cover. So if nothing
    overlaps there is one way only, however often the text repeats.

    Args:
        text: The text, without white space.
        pieces: The pieces in order, at least one, none empty.
        first: Where the first piece starts, in characters of `text`.
        last: Where the last piece starts, if it is there or the text ends with it.
        back: How much earlier than the piece before it a piece may end.
        gaps: How many characters may be missing after each piece; empty for none.

    Returns:
        For each piece the first and the last of its starts in all the ways; if they
        are equal, its place is proved. In text so periodic that a piece has more
        than 64 starts they may lie further apart than that, never closer. None if
        there is no way at all.
    """
    gaps = gaps or [0] * len(pieces)
    length = sum(map(len, pieces)) + sum(gaps[: len(pieces) - 1])
    overlap = length - (last + len(pieces[-1]) - first)
    latest = first
    windows = [(first, first)]
    ways: list[list[Range]] = []
    for i, piece in enumerate(pieces):
        limit = 1 if ways and _is_open(ways[-1]) else _LIMIT
        window = _common(windows, [(latest - overlap, latest)])
        starts = _starts(text, piece, window, limit)
        if not starts:
            return None
        ways.append(starts)
        size = len(piece) + gaps[i]
        latest += size
        longer = len(pieces[i + 1]) - len(piece) if i + 1 < len(pieces) else 0
        windows = merge_ranges([(lo - longer - back, hi + size) for lo, hi in starts])
    ways[-1] = [(last, last)]
    return _narrowed(text, pieces, ways, back, gaps)


def _narrowed(
    text: str,
    pieces: Sequence[str],
    ways: list[list[Range]],
    back: int,
    gaps: Sequence[int],
) -> list[Range] | None:
    """Drop, from the end backwards, the starts that do not lead to it."""
    for i in range(len(pieces) - 2, -1, -1):
        is_open = _is_open(ways[i])
        # A single start led to all the starts of the next piece.
        if is_open or len(ways[i]) > 1:
            size = len(pieces[i])
            longer = len(pieces[i + 1]) - size
            windows = merge_ranges(
                [(lo - size - gaps[i], hi + longer + back) for lo, hi in ways[i + 1]]
            )
            ways[i] = _common(ways[i], windows)
            if is_open:
                ways[i] = _starts(text, pieces[i], ways[i], 1)
            if not ways[i]:
                return None
    return [(starts[0][0], starts[-1][1]) for starts in ways]


def _starts(text: str, piece: str, windows: Sequence[Range], limit: int) -> list[Range]:
    """Find the starts of a piece in the windows: each alone, or all as one range."""
    starts: list[Range] = []
    for lo, hi in windows:
        end = hi + len(piece)
        start = text.find(piece, max(lo, 0), end)
        while start >= 0:
            starts.append((start, start))
            if len(starts) > limit:
                end = windows[-1][1] + len(piece)
                return [(starts[0][0], text.rfind(piece, start, end))]
            start = text.find(piece, start + 1, end)
    return starts


def _is_open(starts: Sequence[Range]) -> bool:
    """Tell whether there may be more starts between the first and the last."""
    return starts[0][0] != starts[0][1]


def _common(ranges: Sequence[Range], others: Sequence[Range]) -> list[Range]:
    """Cut two ascending lists of ranges down to their common parts."""
    cuts = [(max(a, c), min(b, d)) for a, b in ranges for c, d in others]
    return [(lo, hi) for lo, hi in cuts if lo <= hi]


def merge_ranges(ranges: Iterable[Range]) -> list[Range]:
    """Join ranges that overlap or touch, in ascending order."""
    apart: list[Range] = []
    for lo, hi in sorted(ranges):
        if apart and lo <= apart[-1][1]:
            apart[-1] = (apart[-1][0], max(hi, apart[-1][1]))
        else:
            apart.append((lo, hi))
    return apart
