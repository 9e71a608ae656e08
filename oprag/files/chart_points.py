"""The points of a series of a chart, as text."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Sequence
from typing import Any

_C = "{http://schemas.openxmlformats.org/drawingml/2006/chart}"
_MOST_POINTS = 10_000
"""Points of a series that are read, at most, as files name any number."""
_LITERAL = re.compile(r'"[^"]*"|\\.|_.|\[(?![hms])[^]]*\]', re.IGNORECASE)
"""In the format of a number: text, blanks, colours and languages."""
_DATE = re.compile(r"[^a-z[\]]*[ymdhs](?:[ymdhsegb]|am/pm|a/p|[^a-z[\]])*")
_OF_DAYS = re.compile("[yd]|^[^hs]*$")
_FIRST_DAY = dt.datetime(1899, 12, 30)  # noqa: DTZ001 -- files say no time zone
_FIRST_DAY_1904 = dt.datetime(1904, 1, 1)  # noqa: DTZ001 -- as above


def read_points(series: Any, tags: Sequence[str]) -> list[str]:
    """Return the text of each point of a series; empty for a point without one.

    A number whose format is one of dates is written as its date, or its time of day.
    """
    found = next(series.iterchildren(*(f"{_C}{tag}" for tag in tags)), None)
    if found is None:
        return []
    count = next((each.get("val") for each in found.iter(f"{_C}ptCount")), None)
    are_numbers = next(found.iter(f"{_C}numCache", f"{_C}numLit"), None) is not None
    code = next((each.text for each in found.iter(f"{_C}formatCode")), None)
    first_day = _first_day(series)
    # Of several levels of names the first is the innermost.
    level = next(found.iter(f"{_C}lvl"), found)
    points = {
        each.get("idx"): (
            each.findtext(f"{_C}v") or "",
            each.get("formatCode") or code or "",
        )
        for each in level.iter(f"{_C}pt")
    }
    numbers = range(min(int(count or len(points)), _MOST_POINTS))
    given = [points.get(str(number), ("", "")) for number in numbers]
    if not are_numbers:
        return [text for text, _ in given]
    return [_write(text, form, first_day) for text, form in given]


def _first_day(series: Any) -> dt.datetime:
    """Return the day from which the dates of a chart count."""
    found = series.getroottree().getroot().find(f"{_C}date1904")
    is_1904 = found is not None and (found.get("val") or "1") in {"1", "true"}
    return _FIRST_DAY_1904 if is_1904 else _FIRST_DAY


def _write(value: str, form: str, first_day: dt.datetime) -> str:
    try:
        number = float(value)
        shape = _LITERAL.sub("", form.partition(";")[0]).lower()
        if _DATE.fullmatch(shape) is not None:
            seconds = round(number * 24 * 60 * 60)
            return _write_date(first_day + dt.timedelta(seconds=seconds), shape)
    except (ValueError, OverflowError):
        return value
    return str(int(number)) if number.is_integer() else str(number)


def _write_date(moment: dt.datetime, shape: str) -> str:
    if _OF_DAYS.search(shape) is None:
        return moment.time().isoformat()
    has_time = moment.time() != dt.time()
    return str(moment) if has_time else moment.date().isoformat()
