"""The known ways of writing a position into metadata, and what a position is."""

from __future__ import annotations

import operator
from typing import Any, NamedTuple

from oprag.metadata import CHAR_END, CHAR_START, CHUNK_INDEX, PART_INDEX
from oprag.positions.identity import PART_KEYS

_LONGEST_NUMBER = 15
"""Digits a string may have and be a position; longer ones are hashes or ids."""


class Scheme(NamedTuple):
    """One way to write positions into metadata."""

    start: str
    """Key of the position; empty for the framework's own offsets (`Hit.offsets`)."""
    end: str | None
    """Key of the end, if the scheme writes one."""
    parts: tuple[str, ...]
    """Keys of the part that the position may be relative to."""
    characters: bool
    """Whether the position counts characters, so that it gives a span."""


SCHEMES = (
    Scheme(CHAR_START, CHAR_END, (PART_INDEX,), characters=True),
    Scheme("start_index", None, PART_KEYS, characters=True),
    Scheme("", None, PART_KEYS, characters=True),
    Scheme("start_char_idx", "end_char_idx", PART_KEYS, characters=True),
    Scheme("split_idx_start", None, PART_KEYS, characters=True),
    Scheme(CHUNK_INDEX, None, PART_KEYS, characters=False),
    Scheme("split_id", None, PART_KEYS, characters=False),
    Scheme("loc.lines.from", None, PART_KEYS, characters=False),
)
"""Known schemes in order of precedence: oprag; LangChain's splitters; LlamaIndex's
attributes, then its keys; Haystack; counted chunks; LangChain.js lines. Where none
fits, the part alone (page, row, record) orders the chunks."""


def as_number(value: Any) -> int | None:
    """The position that a metadata value gives, or None when it is not one.

    Non-negative integers, floats without a fraction (stores turn integers into
    floats) and strings of up to 15 ASCII digits are positions. Booleans, -1,
    NaN, roman numerals and hashes are not.
    """
    if type(value) is int:
        return value if value >= 0 else None
    if isinstance(value, float):
        return int(value) if value.is_integer() and value >= 0 else None
    if isinstance(value, str):
        digits = value.strip()
        fits = len(digits) <= _LONGEST_NUMBER and digits.isascii()
        return int(digits) if fits and digits.isdigit() else None
    if isinstance(value, bool):
        return None
    try:
        number = operator.index(value)
    except TypeError:
        return None
    return number if number >= 0 else None
