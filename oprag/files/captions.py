"""Subtitles (SRT, WebVTT): what is said, and when."""

from __future__ import annotations

import html
import re

from oprag.files.bodies import Body, Landmark, join_pieces
from oprag.files.text import NoTextError, decode

_TIMES = re.compile(
    r"(?:(\d+):)?(\d{1,2}):(\d{2})[.,](\d{1,3})[ \t]*-->[ \t]*"
    r"(?:(\d+):)?(\d{1,2}):(\d{2})[.,](\d{1,3})"
)
_BLOCK = re.compile(r"(?:\r?\n[ \t]*){2,}")
_VOICE = re.compile(r"<v(?:\.[^ >]*)?[ \t]+([^>]+)>")
_TAG = re.compile(r"</?[A-Za-z\d:.][^>]*>|\{\\[^}]*\}")


def read_captions(data: bytes) -> list[Body]:
    """Read subtitles; each is a landmark with its time.

    A line that is shown again, as it scrolls up, is read once.

    Raises:
        NoTextError: None are in it.
    """
    pieces = []
    last = ""
    for block in _BLOCK.split(decode(data)):
        found = _TIMES.search(block)
        if found is None:
            continue
        lines = [_clean(line) for line in block[found.end() :].splitlines()[1:]]
        new = [line for at, line in enumerate(lines) if line and (at or line != last)]
        last = next((line for line in reversed(lines) if line), last)
        times = _seconds(found.groups()[:4]), _seconds(found.groups()[4:])
        pieces.append(("\n".join(new), Landmark(0, time=times)))
    if not pieces:
        raise NoTextError("holds no subtitles; name it .txt if it is text")
    return [join_pieces(pieces)]


def _clean(line: str) -> str:
    line = _VOICE.sub(r"\1: ", line)
    return html.unescape(_TAG.sub("", line)).strip()


def _seconds(parts: tuple[str | None, ...]) -> float:
    hours, minutes, seconds, thousandths = parts
    whole = int(hours or 0) * 3600 + int(minutes or 0) * 60 + int(seconds or 0)
    return whole + int((thousandths or "0").ljust(3, "0")) / 1000
