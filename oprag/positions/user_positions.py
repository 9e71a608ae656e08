"""Read positions by the user's keys and functions (`position_keys=`)."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from datetime import date, datetime, time
from decimal import Decimal
from numbers import Real
from typing import Any

from oprag.chunk import Hit
from oprag.metadata import as_number
from oprag.positions.keys import look_up

_DECIMAL = re.compile(r"\d{1,15}\.\d{1,15}$", re.ASCII)
_DATE = re.compile(r"\d{4}-\d\d-\d\d")


def read_user_position(hit: Hit, keys: Sequence[Any]) -> tuple[Any, ...]:
    """Return the position of a hit by the user's keys, empty if a key gives none.

    Args:
        hit: A chunk.
        keys: Metadata keys, attribute names or functions, the most significant first.
            The values of a key are numbers, texts of numbers or dates, or a list of
            these. A function returns anything that can be compared, or a tuple of it.
    """
    position: list[Any] = []
    for key in keys:
        found = _flatten(look_up(hit.metadata, hit.subject, key))
        read = [_read_value(each) for each in found]
        if callable(key):
            pairs = zip(read, found, strict=True)
            read = [each if number is None else number for number, each in pairs]
        if not read or any(_is_nothing(each) for each in read):
            return ()
        position += read
    return tuple(position)


def _flatten(value: Any) -> list[Any]:
    if not isinstance(value, (tuple, list)):
        return [value]
    return [each for item in value for each in _flatten(item)]


def _is_nothing(value: Any) -> bool:
    return value is None or (isinstance(value, Real) and math.isnan(value))


def _read_value(value: Any) -> Any:
    """Return a metadata value as one that can be compared; None for others.

    A number below 0 means that there is none. A text that is neither a number nor a
    date has no place in an order: sorted as a text, `"ix"` comes before `"v"`.
    """
    number = as_number(value)
    if number is not None or isinstance(value, bool):
        return number
    if isinstance(value, str):
        value = _read_text(value.strip())
    if isinstance(value, date) and not isinstance(value, datetime):
        value = datetime.combine(value, time())
    if isinstance(value, datetime):
        return value
    if not isinstance(value, (Real, Decimal)) or not math.isfinite(float(value)):
        return None
    return value if float(value) >= 0 else None


def _read_text(text: str) -> Decimal | datetime | None:
    if _DECIMAL.match(text):
        return Decimal(text)
    if not _DATE.match(text):
        return None
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        return None
