"""The texts that a file is read as, and what their places are named by."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from oprag.files.text import NoTextError
from oprag.splitting import find_sections


class Landmark(NamedTuple):
    """A place of a text from which on something holds."""

    start: int
    heading: str | None = None
    """The path of headings; None where it does not change."""
    unit: tuple[str, int] | None = None
    """What is counted, and its number: `("row", 12)`."""
    time: tuple[float, float] | None = None
    """The seconds at which it is said, from the first to the last."""


class Body(NamedTuple):
    """One text of a file."""

    text: str
    name: str = ""
    """What people call this part: `slide 3`; empty for a file of one text."""
    landmarks: tuple[Landmark, ...] = ()
    notice: str = ""
    """What of the file was not read."""


Read = Callable[[bytes], "list[Body]"]


def with_headings(text: str, name: str = "", notice: str = "") -> Body:
    """Return a text in Markdown with its headings as landmarks."""
    return Body(text, name, tuple(_landmarks(text)), notice)


def _landmarks(text: str) -> Iterable[Landmark]:
    return (Landmark(start, heading=path) for start, path in find_sections(text))


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


def damaged(kind: str, error: Exception) -> NoTextError:
    """Return the error for a file that its library cannot read."""
    del error
    return NoTextError(f"is {kind} that is damaged, or locked by a password")
