"""Names of a place beside characters: a heading, counted rows, a time, an address.

Read from the metadata of any framework's splitters and readers.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

HEADING = "heading"
"""The headings over the beginning of a chunk, from the top down: `Lease > Rent`."""
UNIT = "unit"
"""The counted units of its text in a chunk: `rows 12-25`, `cell 3`."""
START_TIME = "start_time"
"""The second at which its text begins to be said."""
END_TIME = "end_time"
"""The second at which its text has been said."""
PART_NAME = "part_name"
"""The name for people of a part of a file that is no page: `slide 3`."""
LANDMARK_KEYS = (HEADING, UNIT, START_TIME, END_TIME)
OF_THE_TEXT = (HEADING, UNIT)
"""Keys that follow from the text, so that no id is made of them."""

BETWEEN = " > "
"""The separator between the headings of a path."""
_LEVELS = (
    tuple(f"Header {level}" for level in range(1, 7)),
    tuple(f"h{level}" for level in range(1, 7)),
)
"""Keys of LangChain's splitters by headings, in the names that its pages use."""
HEADING_KEYS = (
    *(HEADING, *_LEVELS[0], *_LEVELS[1], "header_path", "tag", "headings", "dl_meta"),
    "doc_items",
)
_STARTS, _ENDS = (START_TIME, "start_seconds"), (END_TIME, "end_seconds")
LANDMARKS_READ = frozenset((*HEADING_KEYS, UNIT, *_STARTS, *_ENDS))
_UNIT = re.compile(r"(\w+?)s? (\d+)(?:-(\d+))?")
_ADDRESS_KEYS = ("url", "source_url", "URL", "link", "source", "file_path")
_ADDRESS = re.compile(r"https?://\S+")
_PDF = re.compile(r"\.pdf(?=\?|$)", re.IGNORECASE)
_VIDEO = re.compile(r"https?://(?:[\w-]+\.)*(?:youtube\.com|youtu\.be)/")
_TIMED = re.compile(
    r"https?://(?:[\w-]+\.)*vimeo\.com/|\.(?:mp[34]|m4a|ogg|wav|webm)(?=\?|$)",
    re.IGNORECASE,
)
_TIME_IN_LINK = re.compile(r"([?&])t=[^&#]*&?")
_TITLE = re.compile(r"(#{1,6})[ \t]+(.+?)[ \t]*#*[ \t\r]*(?:\n|\Z)")
_LONGEST = 10_000_000
"""Seconds of the longest recording."""


class Landmarks(NamedTuple):
    """The names of a text's place."""

    heading: str = ""
    """The path of headings; empty for none."""
    unit: str = ""
    start_time: float | None = None
    end_time: float | None = None


_NO_LANDMARKS = Landmarks()


def read_landmarks(metadata: Mapping[str, Any], text: str = "") -> Landmarks:
    """Read the names of a chunk's place.

    Args:
        metadata: Its metadata.
        text: Its text. LlamaIndex's parsers leave the last heading in it alone.
    """
    if LANDMARKS_READ.isdisjoint(metadata):  # as most
        return _NO_LANDMARKS
    return Landmarks(
        _read_heading(metadata, text),
        _read_unit(metadata),
        _read_time(metadata, _STARTS),
        _read_time(metadata, _ENDS),
    )


def join_landmarks(metadatas: Sequence[Mapping[str, Any]], text: str = "") -> Landmarks:
    """Return the names of the place of joined chunks.

    They are the heading of the first chunk, rows from the first chunk's to the last
    one's, and the time from the first of them to the last, as subtitles may overlap.

    Args:
        metadatas: Those of the chunks, in reading order.
        text: The text of the first one.
    """
    first = read_landmarks(metadatas[0], text)
    all_ = [first, *map(read_landmarks, metadatas[1:])]
    last = all_[-1]
    if all(each is first for each in all_):
        return first
    unit = first.unit
    a, b = _UNIT.fullmatch(first.unit), _UNIT.fullmatch(last.unit)
    if a and b and a[1] == b[1]:
        unit = name_units(a[1], int(a[2]), int(b[3] or b[2]))
    start, end = join_times((each.start_time, each.end_time) for each in all_)
    return Landmarks(first.heading, unit, start, end)


def join_times(
    times: Iterable[tuple[float | None, float | None]],
) -> tuple[float | None, float | None]:
    """Return the time from the first second to the last.

    Args:
        times: The beginning and the end of each text, in reading order. If the first
            one's beginning is unknown, that of all is, and so with the last one's end.
    """
    starts, ends = [*zip(*times, strict=True)] or [(None,), (None,)]
    known = [each for each in starts if each is not None]
    reached = [each for each in ends if each is not None]
    return (
        None if starts[0] is None else min(known),
        None if ends[-1] is None else max(reached),
    )


def as_metadata(landmarks: Landmarks) -> dict[str, str | float]:
    """Return the known ones as metadata that every store keeps."""
    pairs = zip(LANDMARK_KEYS, landmarks, strict=True)
    return {key: value for key, value in pairs if value not in ("", None)}


def landmarks_beyond(
    metadata: Mapping[str, Any], landmarks: Landmarks
) -> dict[str, str | float]:
    """Return as metadata those landmarks that the metadata do not already have."""
    if landmarks is _NO_LANDMARKS:
        return {}
    said = as_metadata(read_landmarks(metadata))
    return {
        key: value
        for key, value in as_metadata(landmarks).items()
        if said.get(key) != value
    }


def name_units(noun: str, first: int, last: int) -> str:
    """Name counted units for people: `row 12`, `rows 12-25`."""
    return f"{noun} {first}" if first >= last else f"{noun}s {first}-{last}"


def name_heading(path: str) -> str:
    """Return the last heading of a path."""
    return path.rpartition(BETWEEN)[2].replace('"', "'")


def name_times(landmarks: Landmarks) -> str:
    """Name a time for people: `12:30-13:05`; empty for none."""
    if landmarks.start_time is None:
        return ""
    start = _name_time(landmarks.start_time)
    if landmarks.end_time is None or landmarks.end_time <= landmarks.start_time:
        return start
    return f"{start}-{_name_time(landmarks.end_time)}"


def find_address(metadata: Mapping[str, Any]) -> str | None:
    """Return the address of a chunk, at its page or its second, or None."""
    for key in _ADDRESS_KEYS:
        value = metadata.get(key)
        if isinstance(value, str) and _ADDRESS.fullmatch(value):
            return _at_place(value, metadata)
    return None


def _at_place(address: str, metadata: Mapping[str, Any]) -> str:
    """Return an address at the chunk's own place, whatever place is named in it."""
    bare = address.partition("#")[0]
    page = _page_number(metadata)
    if page is not None and _PDF.search(bare):
        return f"{bare}#page={page}"
    start = _read_time(metadata, _STARTS)
    if start is None:
        return address
    if _VIDEO.match(bare):
        bare = _TIME_IN_LINK.sub(r"\1", bare).rstrip("?&")
        return f"{bare}{'&' if '?' in bare else '?'}t={int(start)}s"
    return f"{bare}#t={int(start)}" if _TIMED.search(bare) else address


def _page_number(metadata: Mapping[str, Any]) -> int | None:
    """Return the number of a page in the count of viewers, from 1."""
    for key, first in (("page_number", 1), ("page", 0)):
        value = metadata.get(key)
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if type(value) is int and value >= first:
            return value - first + 1
    return min(_docling_pages(metadata), default=None)


def _read_heading(metadata: Mapping[str, Any], text: str) -> str:
    own = metadata.get(HEADING)
    if isinstance(own, str):
        return own
    for keys in _LEVELS:
        found = [metadata[key] for key in keys if key in metadata]
        if found:
            return _join_titles(found)
    path = metadata.get("header_path")
    if isinstance(path, str):  # LlamaIndex: `/Lease/`, and the text begins `## Rent`
        title = _TITLE.match(text)
        above = path.strip("/")
        # One level is above the second: a slash is a part of that title.
        titles = [above] if title and title[1] == "##" else above.split("/")
        return _join_titles([*titles, title[2] if title else ""])
    if metadata.get("tag") in _LEVELS[1]:  # LlamaIndex: the text is the heading
        return " ".join(text.split())
    listed = _of_docling(metadata).get("headings")
    return _join_titles(listed) if isinstance(listed, (list, tuple)) else ""


def _of_docling(metadata: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the facts of Docling on a chunk, which LangChain has under one key."""
    facts = metadata.get("dl_meta")
    return facts if isinstance(facts, Mapping) else metadata


def _read_unit(metadata: Mapping[str, Any]) -> str:
    unit = metadata.get(UNIT)
    if isinstance(unit, str) and _UNIT.fullmatch(unit):
        return unit
    pages = [*_docling_pages(metadata)]
    return name_units("page", min(pages), max(pages)) if pages else ""


def _docling_pages(metadata: Mapping[str, Any]) -> Iterator[int]:
    items = _of_docling(metadata).get("doc_items")
    for item in items if isinstance(items, (list, tuple)) else ():
        places = item.get("prov") if isinstance(item, Mapping) else None
        for place in places if isinstance(places, (list, tuple)) else ():
            page = place.get("page_no") if isinstance(place, Mapping) else None
            if type(page) is int and page > 0:
                yield page


def _join_titles(titles: Sequence[Any]) -> str:
    return BETWEEN.join(title for title in titles if isinstance(title, str) and title)


def _read_time(metadata: Mapping[str, Any], keys: Sequence[str]) -> float | None:
    for key in keys:
        value: Any = metadata.get(key)
        is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
        if is_number and 0 <= value < _LONGEST:
            return float(value)
    return None


def _name_time(seconds: float) -> str:
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
