"""The words for people: names of documents and parts, places, in one line."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from numbers import Number
from typing import Any

from oprag.landmarks import (
    PART_NAME,
    Landmarks,
    name_heading,
    name_times,
    read_landmarks,
)

LONGEST_CITATION = 1_000
"""The most characters of a citation that was written before. A name and two pages with
their names are shorter."""

UNKNOWN_DOCUMENT = "unknown document"
"""The citation of a text that has neither a name nor a place."""


_LONGEST_HEADING = 80
"""The most characters of a heading in a citation."""
LONGEST_IN_LINE = 200
"""The most characters of a name or a label in a line."""

_ENDS = re.compile("[\t-\r\x1c-\x1f\x85\u2028\u2029]+")
"""Characters that end a line for any reader, and tabs."""
_UNSEEN = re.compile(
    "[\x00-\x1f\x7f-\x9f\xad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f"
    "\ufeff\ufff9-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e007f]"
)
"""Control characters, and those that only control how others are shown. Not the joiners
inside Persian words and emoji (U+200C, U+200D), nor signs under Arabic numbers.
"""
_HALVES = re.compile("[\ud800-\udfff]")


def as_line(text: str, longest: int | None = LONGEST_IN_LINE) -> str:
    r"""Return a text as a part of one line.

    Args:
        text: Any text.
        longest: The most characters to keep; None for all. A longer text loses its
            middle, because names of files differ at their ends.

    Returns:
        The text without line ends and tabs, which become a blank, and without other
        control characters and text-direction marks. Half a character is U+FFFD.

    Example:
        >>> as_line("1\n\n[2] lease.txt")
        '1 [2] lease.txt'
    """
    if not text.isprintable():
        text = _UNSEEN.sub("", _ENDS.sub(" ", text)).strip(" ")
        text = _HALVES.sub("\ufffd", text)
    if longest is None or len(text) <= longest:
        return text
    tail = longest // 2
    return f"{text[: longest - tail - 1]}…{text[-tail:]}"


_WHOLE_PATH = re.compile(r"(file://)?([/~]|[A-Za-z]:[/\\]|\\\\)")


def derive_citation(
    name: str,
    metadata: Mapping[str, Any],
    part: int | None,
    spans: Sequence[tuple[int, int]],
    position: str,
    *,
    landmarks: Landmarks | None = None,
) -> str:
    """Return a place for people: name, part, heading, rows, characters or position.

    For a text that is said at a time, the time replaces the characters.

    Args:
        name: The document's name for people.
        metadata: The metadata that name the part.
        part: The page or the part; None if there is none.
        spans: The spans that are read; empty if no characters are known.
        position: Another name of the place (`chunk 7`); an empty text for none.
        landmarks: Further names of the place; None for those in the metadata.
    """
    place = [as_line(name)]
    if part is not None:
        place.append(name_part(metadata, part))
    found = read_landmarks(metadata) if landmarks is None else landmarks
    if found.heading:
        heading = as_line(name_heading(found.heading), _LONGEST_HEADING)
        place.append(f'"{heading}"' if heading else "")
    place.append(found.unit)
    if spans:
        position = name_characters(spans[0][0], spans[-1][1])
    place.append(name_times(found) or position)
    return ", ".join(filter(None, place)) or UNKNOWN_DOCUMENT


def disambiguate_names(
    documents: Iterable[tuple[str, str]],
) -> dict[tuple[str, str], str]:
    """Return the names of documents for people, by key and full name.

    The name of a whole path is its last two parts, or more if others end alike.
    """
    parts, names = 2, {each: _last_parts(each[1], 2) for each in documents}
    while True:
        keys, paths = (
            Counter(name for _, name in {(each[i], names[each]) for each in names})
            for i in (0, 1)
        )
        parts += 1
        longer = {
            each: _last_parts(each[1], parts) if keys[name] > 1 < paths[name] else name
            for each, name in names.items()
        }
        if longer == names:
            return names
        names = longer


def short_name(name: str) -> str:
    """Return a document's name for people; of a whole path, the last two parts."""
    return _last_parts(name, 2)


@lru_cache(maxsize=4096)
def _last_parts(name: str, count: int) -> str:
    """Return a name in one line; if it is a whole path of a machine, the last parts."""
    name = as_line(name, None)
    if _WHOLE_PATH.match(name):
        parts = [part for part in re.split(r"[/\\]+", name) if part]
        name = "/".join(parts[-count:]) or name
    return as_line(name)


def name_characters(start: int, end: int) -> str:
    """Name a span for people: `characters 0-120`, `from character 40`."""
    return f"characters {start}-{end}" if start < end else f"from character {start}"


def name_position(position: tuple[Any, ...] | None, part: int | None) -> str:
    """Name a position that counts no characters: `chunk 7`, `2026-05-02 10:00:00`."""
    counted = count_position(position, part)
    if counted is not None:
        return name_counted(counted)
    return as_line(", ".join(map(str, _unsaid(position, part))))


def name_counted(counted: str) -> str:
    """Name the number of a chunk: `chunk 7`."""
    return as_line(f"chunk {counted}")


def count_position(position: tuple[Any, ...] | None, part: int | None) -> str | None:
    """Return the number of a position that counts chunks, `7` or `3.2`.

    None if the position has anything but numbers, or if none is known.
    """
    values = _unsaid(position, part)
    if not values or not all(isinstance(value, Number) for value in values):
        return None
    texts = []
    for value in values:
        is_whole = isinstance(value, float) and value.is_integer()
        texts.append(str(int(value)) if is_whole else str(value))
    return ".".join(texts)


def _unsaid(position: tuple[Any, ...] | None, part: int | None) -> tuple[Any, ...]:
    """Return the values that do not repeat the part; without parts the part is 0."""
    values = position or ()
    is_said = part is not None or (len(values) > 1 and values[0] == 0)
    return values[1:] if is_said else values


def name_on_pages(
    start: int, end: int, pages: Sequence[tuple[str, tuple[int, int]]]
) -> str:
    """Name a span of a text by its pages: `page 3, characters 120-480`.

    If a span covers several pages, the first and the last are named.
    """
    on_it = [
        f"{page}, {name_characters(max(start, first) - first, to - first)}"
        for page, (first, last) in pages
        if start < last and (to := min(end, last)) >= max(start, first) + (start < end)
    ]
    return " to ".join(dict.fromkeys([*on_it[:1], *on_it[-1:]]))


_PART_NAMES = (
    ("page_label", "page"),
    ("page_number", "page"),
    ("loc.pageNumber", "page"),
    ("page", "page"),
    ("row", "row"),
    ("seq_num", "record"),
)
"""Keys of a part, and the word for it; the first that is there counts."""


def _is_of_slides(metadata: Mapping[str, Any]) -> bool:
    """Tell whether a reader calls slides of PowerPoint pages."""
    names = (metadata.get(key) for key in ("file_name", "file_path", "source"))
    return any(str(name).lower().endswith((".pptx", ".ppt")) for name in names)


def _read_name(metadata: Mapping[str, Any], key: str) -> Any:
    value = metadata.get(key)
    if value is None and key == "loc.pageNumber":
        location = metadata.get("loc")
        value = location.get("pageNumber") if isinstance(location, dict) else None
    if isinstance(value, float) and value.is_integer():
        value = int(value)  # some stores make floats of integers
    return value


def may_count_from_1(metadatas: Iterable[Mapping[str, Any]]) -> bool:
    """Tell whether a document's pages may be named one too high.

    They are if `page` alone names them, and its reader counts from 1, as those of Azure
    and Google do. LangChain's readers of PDF count from 0, and write `total_pages`
    beside `source`. A page 0 shows it, too.

    Args:
        metadatas: Of chunks of one document.
    """
    in_doubt = False
    for metadata in metadatas:
        page = _read_name(metadata, "page")
        if type(page) is not int:
            continue
        if page == 0:
            return False
        names = (PART_NAME, "page_label", "page_number", "loc.pageNumber")
        is_named = any(_read_name(metadata, key) is not None for key in names)
        in_doubt |= not (is_named or {"total_pages", "source"} <= metadata.keys())
    return in_doubt


def name_part(metadata: Mapping[str, Any], part: int) -> str:
    """Name a part for people: `page 3`, or its number if nothing names it."""
    name = metadata.get(PART_NAME)
    if isinstance(name, str) and (line := as_line(name)):
        return line
    for key, noun in _PART_NAMES:
        value = _read_name(metadata, key)
        if value is None:
            continue
        if key == "page" and type(value) is int:
            value += 1  # this key alone counts from 0; a text is a printed label
        if label := as_line(str(value)):
            is_slide = noun == "page" and _is_of_slides(metadata)
            return f"{'slide' if is_slide else noun} {label}"
    return f"part {part}"
