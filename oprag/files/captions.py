"""Subtitles (SRT, WebVTT) as text, with their times."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from oprag.files.bodies import Body, Landmark, join_pieces
from oprag.files.text import NoTextError, decode_or_guess, name_guess

_ARROW = "-->"
_TIME = re.compile(
    r"(?<!\d)(?:(\d{1,4}):)?(\d{1,4}):(\d{1,2})"
    r"(?:(?:[.,]|:(?=\d{3}))(\d+)|:\d+)?(?![\d:])"
)
"""A time such as 1:02:03.004; the last part may be left out, or number a frame."""
_VOICE = re.compile(r"<v(?:\.[^ >]*)?[ \t]+([^>]+)>")
_TAG = re.compile(r"</?[A-Za-z\d:.][^>]*>|\{\\[^}]*\}")
_FLASH = 0.1
"""Seconds of a subtitle that is shown only while lines scroll up, at most."""
_AT_ONCE = 0.5
"""Seconds between a subtitle and the next that repeats its last line, at most."""


class _Caption(NamedTuple):
    lines: list[str]
    start: float
    end: float


def read_captions(data: bytes) -> list[Body]:
    """Read subtitles; each is a landmark with its time.

    A line that is shown again, as it scrolls up, is read once.

    Raises:
        NoTextError: There are none in it.
    """
    pieces = []
    before = _Caption([], 0.0, 0.0)
    text = decode_or_guess(data)
    # Joined files have a byte order mark inside.
    lines = [line.strip().lstrip("\ufeff") for line in text.splitlines()]
    for caption in _captions(lines):
        new = caption.lines[1:] if _scrolls(before, caption) else caption.lines
        if caption.lines:
            before = caption
        times = caption.start, caption.end
        pieces.append(("\n".join(new), Landmark(0, time=times)))
    if not pieces:
        raise NoTextError("holds no subtitles; name it .txt if it is text")
    return [join_pieces(pieces)._replace(notice=name_guess(data))]


def _captions(lines: Sequence[str]) -> Iterator[_Caption]:
    starts = [number for number, line in enumerate(lines) if _says_when(line)]
    is_web = any(line.startswith("WEBVTT") for line in lines[:1])
    numbers = [lines[start - 1].isdecimal() for start in starts if start]
    are_numbered = 2 * sum(numbers) > len(starts)
    for at, start in enumerate(starts):
        end = starts[at + 1] if at + 1 < len(starts) else len(lines)
        inside = [*lines[start + 1 : end]]
        if are_numbered and end < len(lines) and inside and inside[-1].isdecimal():
            inside.pop()  # the number of the next subtitle
        found = [_seconds(match.groups()) for match in _TIME.finditer(lines[start])]
        # A place on the screen may follow in numbers.
        yield _Caption([*_said(inside, is_web=is_web)], found[0], found[:2][-1])


def _says_when(line: str) -> bool:
    """Tell whether a line has the times of a subtitle; in its text may be an arrow."""
    start, arrow, end = line.partition(_ARROW)
    if not arrow:
        return False
    if any(match[4] for match in _TIME.finditer(line)):
        return True
    is_start = _TIME.fullmatch(start.strip()) is not None
    return is_start and _TIME.match(end.strip()) is not None


def _said(lines: Sequence[str], *, is_web: bool) -> Iterator[str]:
    """Return the lines that are shown; in WebVTT they end with an empty one."""
    for line in lines:
        if is_web and not line:  # a note, or the name of the next, may follow
            return
        text = html.unescape(_TAG.sub("", _VOICE.sub(r"\1: ", line))).strip()
        if text:
            yield text


def _scrolls(before: _Caption, caption: _Caption) -> bool:
    """Tell whether a subtitle begins with the last line of the one before, moved up."""
    if not caption.lines or before.lines[-1:] != caption.lines[:1]:
        return False
    is_flash = caption.end - caption.start < _FLASH
    is_next = caption.start - before.end < _AT_ONCE
    return is_next and (is_flash or len(caption.lines) > 1)


def _seconds(parts: tuple[str | None, ...]) -> float:
    hours, minutes, seconds, fraction = parts
    whole = int(hours or 0) * 3600 + int(minutes or 0) * 60 + int(seconds or 0)
    return whole + float(f"0.{fraction or 0}")
