"""Headings of a text, and the path of headings to each of its places."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from oprag.splitting.markdown import Heading, Table, find_tables, read_markdown

_CELLS = re.compile(r"(?<!\\)\|")
_LONGEST = 120
"""Characters of a heading in a path."""
BETWEEN = " > "
"""Between the headings of a path."""


class Section(NamedTuple):
    """A place of a text from which on a path of headings holds."""

    start: int
    path: str
    """The headings from the top down, with ` > ` between; empty for none. In a table
    its first row follows: `Prices: Year | Coal`."""


def find_headings(text: str) -> list[Heading]:
    """Return the headings of a text in Markdown."""
    return [each for each in read_markdown(text) if isinstance(each, Heading)]


def find_sections(
    text: str, headings: Sequence[Heading] | None = None
) -> list[Section]:
    """Return where in a text the path of headings changes.

    Args:
        text: The text. Its tables have rows like `| a | b |`.
        headings: Its headings, ascending; None to read it as Markdown.
    """
    if headings is None:
        return [*_sections(text, read_markdown(text))]
    marks: list[Heading | Table] = [*headings]
    marks += find_tables(text)
    return [*_sections(text, sorted(marks, key=lambda each: each.start))]


def _sections(text: str, marks: Iterable[Heading | Table]) -> Iterator[Section]:
    titles: dict[int, str] = {}
    path = ""
    line = 0
    for mark in marks:
        if isinstance(mark, Heading):
            titles = {at: title for at, title in titles.items() if at < mark.level}
            titles[mark.level] = _shorten(mark.title)
            path = BETWEEN.join(titles[at] for at in sorted(titles))
            ends = (text.rfind(end, line, mark.start) for end in "\r\n")
            line = max(line, max(ends) + 1)
            yield Section(line, path)
            continue
        first = text[mark.start : mark.second]
        if sum(map(bool, _cells(first))) > 1:  # one alone is a title
            yield Section(mark.second, name_columns(path, first))
            yield Section(mark.end, path)


def name_columns(path: str, row: str) -> str:
    """Return a path with the first row of a table added to it."""
    return ": ".join(filter(None, (path, _shorten(" | ".join(_cells(row))))))


def _cells(row: str) -> list[str]:
    return [cell.strip() for cell in _CELLS.split(row.strip().strip("|"))]


def _shorten(title: str) -> str:
    title = " ".join(title.split())
    return title if len(title) <= _LONGEST else f"{title[: _LONGEST - 1]}…"
