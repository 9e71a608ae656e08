"""Read positions by the user's keys and functions (`position_keys=`)."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from datetime import date, datetime, time
from decimal import Decimal
from numbers import Real
from typing import Any

from oprag.chunk import Hit, Span
from oprag.metadata import as_number
from oprag.positions.errors import report_not_comparable, report_not_hashable
from oprag.positions.keys import PositionKeys, list_keys, look_up
from oprag.positions.position import NO_PLACE, Position, read_position
from oprag.positions.schemes import CHARACTER_STARTS
from oprag.result_key import read_written

_DECIMAL = re.compile(r"\d{1,15}\.\d{1,15}$", re.ASCII)
_DATE = re.compile(r"\d{4}-\d\d-\d\d")


def read_user_positions(
    hits: Sequence[Hit], position_keys: PositionKeys, document_key: str
) -> list[Position]:
    """Read the position of each hit by the user's keys; no place if a key gives none.

    Args:
        hits: Chunks of one document.
        position_keys: The option.
        document_key: The key of the document.

    Raises:
        PositionError: The values cannot be compared with one another, or not hashed.
    """
    keys = list_keys(position_keys)
    positions = [_read_user_position(hit, keys) for hit in hits]
    values = [position.key for position in positions]
    try:
        sorted(value for value in values if value is not None)
    except TypeError:
        raise report_not_comparable(document_key, values, position_keys) from None
    try:
        set(values)
    except TypeError:
        raise report_not_hashable(document_key, values, position_keys) from None
    return positions


def _read_user_position(hit: Hit, keys: Sequence[Any]) -> Position:
    """Read one position by the user's keys.

    If the last key counts characters, a number before it is the part of these.
    """
    counts_characters = keys[-1] in CHARACTER_STARTS
    written = read_written(hit.metadata)
    if counts_characters and written is not None and written.has_characters:
        return read_position(written, hit.text)
    values = _read_values(hit, keys)
    if not values:
        return NO_PLACE
    *scope, start = values
    are_whole = all(type(value) is int for value in values)
    if not counts_characters or not are_whole or len(scope) > 1 or start < 0:
        return Position(values)
    part = scope[0] if scope else None
    return Position((*values, start), Span(start, start), part)


def _read_values(hit: Hit, keys: Sequence[Any]) -> tuple[Any, ...]:
    """Return the values of a hit under the user's keys, empty if a key gives none.

    Args:
        hit: A chunk.
        keys: Metadata keys, attribute names or functions, the most significant first.
            The values of a key are numbers, texts of numbers or dates, or a list of
            these. A function returns anything that can be compared and hashed, or a
            tuple of it.
    """
    values: list[Any] = []
    for key in keys:
        found = _flatten(look_up(hit.metadata, hit.subject, key))
        if not found:
            return ()
        for given in found:
            value = _read_value(given)
            if value is None and callable(key):
                value = given
            if _is_nothing(value):
                return ()
            values.append(value)
    return tuple(values)


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
