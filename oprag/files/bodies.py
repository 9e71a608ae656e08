"""The texts that a file is read as, and the landmarks that name their places."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from oprag.files.text import NoTextError
from oprag.landmarks import Landmarks, as_metadata, join_times, name_units
from oprag.splitting import Heading, find_sections


class Landmark(NamedTuple):
    """A place in a text from which on a heading, a number or a time holds."""

    start: int
    heading: str | None = None
    """The path of headings; None if it does not change."""
    unit: tuple[str, int] | None = None
    """The kind of unit, and its number: `("row", 12)`."""
    time: tuple[float, float] | None = None
    """The seconds at which it is said, from the first to the last."""


class Body(NamedTuple):
    """One text of a file."""

    text: str
    name: str = ""
    """The usual name of this part: `slide 3`; empty for a file of one text."""
    landmarks: tuple[Landmark, ...] = ()
    notice: str = ""
    """Says which parts of the file were not read."""


Read = Callable[[bytes], "list[Body]"]


def with_headings(
    text: str,
    headings: Sequence[Heading] | None = None,
    *,
    name: str = "",
    notice: str = "",
) -> Body:
    """Return a text with its headings as landmarks.

    Args:
        text: The text.
        headings: Those that its reader knows, ascending; None to read it as Markdown.
        name: The usual name of this part.
        notice: Says which parts of the file were not read.
    """
    sections = find_sections(text, headings)
    landmarks = tuple(Landmark(start, heading=path) for start, path in sections)
    return Body(text, name, landmarks, notice)


def join_pieces(pieces: Iterable[tuple[str, Landmark]], gap: str = "\n") -> Body:
    """Join pieces of text; each with the landmark at its beginning."""
    texts: list[str] = []
    landmarks = []
    at = 0
    for text, landmark in pieces:
        if not text:
            continue
        at += len(gap) if texts else 0
        landmarks.append(landmark._replace(start=at))
        texts.append(text)
        at += len(text)
    return Body(gap.join(texts), landmarks=tuple(landmarks))


def as_row(cells: Sequence[str]) -> str:
    """Return the row of a table in one line, `| a | b |`."""
    shown = (" ".join(cell.split()).replace("|", "\\|") for cell in cells)
    return f"| {' | '.join(shown)} |"


def damaged(kind: str) -> NoTextError:
    """Return the error for a file that its library cannot read."""
    damage = "that is damaged, or locked by a password; save it anew without one"
    return NoTextError(f"is {kind} {damage}")


def landmarks_of(
    landmarks: Sequence[Landmark], start: int, end: int
) -> dict[str, str | float]:
    """Return the metadata that name the place of a chunk.

    Args:
        landmarks: Those of its text, ascending.
        start: Its first character.
        end: One past its last.
    """
    heading, first = "", True
    units: list[tuple[str, int]] = []
    times: list[tuple[float, float]] = []
    unit = time = None
    for each in landmarks:
        if each.start >= end:
            break
        begins = each.start <= start
        if each.heading is not None and (begins or (first and not heading)):
            heading, first = each.heading, begins
        if begins:
            unit, time = each.unit or unit, each.time or time
            continue
        units += [each.unit] if each.unit else []
        times += [each.time] if each.time else []
    units = [*([unit] if unit else []), *units]
    times = [*([time] if time else []), *times]
    shown = name_units(units[0][0], units[0][1], units[-1][1]) if units else ""
    return as_metadata(Landmarks(heading, shown, *join_times(times)))
