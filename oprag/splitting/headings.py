"""Headings of a text, and the path of headings to each of its places."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

_HEADING = re.compile(
    # A fenced block to its end: a line in it that looks like a heading is none.
    r"^ {0,3}(`{3,}(?=[^`\n]*$)|~{3,})(?s:.*?)(?:^ {0,3}\1[`~]*[ \t\r]*$|\Z)"
    # Facts on a file, in YAML, are its first lines; a heading after an empty one is no
    # remark in them.
    r"|\A---[ \t\r]*\n[\w-]+:.*\n(?:(?![ \t\r]*\n#).*\n)*?---[ \t\r]*$"
    r"|^(?P<marks>#{1,6})[ \t]+(?P<title>.+?)(?:[ \t]+#+)?[ \t\r]*$"
    r"|(?:\A|(?<=\n\n)|(?<=\n\r\n))(?P<underlined>[^\s#>|*+-].*)\n(?:(?P<top>=+)|-{2,})"
    r"[ \t\r]*$"
    r"|(?P<table>(?:^\|.*\|[ \t\r]*(?:\n|\Z)){2,})",
    re.MULTILINE,
)
_TABLE = re.compile(r"(?:^\|.*\|[ \t\r]*(?:\n|\Z)){2,}", re.MULTILINE)
_CELLS = re.compile(r"(?<!\\)\|")
_LONGEST = 120
"""Characters of a heading in a path."""
BETWEEN = " > "
"""Between the headings of a path."""


class Heading(NamedTuple):
    """A heading of a text."""

    start: int
    """Where its words begin."""
    title: str
    level: int


class Section(NamedTuple):
    """A place of a text from which on a path of headings holds."""

    start: int
    path: str
    """The headings from the top down, with ` > ` between; empty for none. In a table
    its first row follows: `Prices: Year | Coal`."""


class _Table(NamedTuple):
    """Lines of a text that are the rows of a table."""

    start: int
    second: int
    """Where its second row begins."""
    end: int
    """Where the line after it begins."""


def find_headings(text: str) -> list[Heading]:
    """Return the headings of a text in Markdown."""
    return [each for each in _read_markdown(text) if isinstance(each, Heading)]


def _read_markdown(text: str) -> Iterator[Heading | _Table]:
    for match in _HEADING.finditer(text):
        if match["title"]:
            yield Heading(match.start("title"), match["title"], len(match["marks"]))
        elif match["underlined"]:
            level = 1 if match["top"] else 2
            yield Heading(match.start(), match["underlined"].strip(), level)
        elif match["table"]:
            yield _read_table(match)


def _read_table(match: re.Match[str]) -> _Table:
    start, end = match.span()
    return _Table(start, match.string.index("\n", start) + 1, end)


def find_sections(
    text: str, headings: Sequence[Heading] | None = None
) -> list[Section]:
    """Return where in a text the path of headings changes.

    Args:
        text: The text. Its tables have rows like `| a | b |`.
        headings: Its headings, ascending; None to read it as Markdown.
    """
    if headings is None:
        return [*_sections(text, _read_markdown(text))]
    marks: list[Heading | _Table] = [*headings]
    marks += map(_read_table, _TABLE.finditer(text))
    return [*_sections(text, sorted(marks, key=lambda each: each.start))]


def _sections(text: str, marks: Iterable[Heading | _Table]) -> Iterator[Section]:
    titles: dict[int, str] = {}
    path = ""
    line = 0
    for mark in marks:
        if isinstance(mark, Heading):
            titles = {at: title for at, title in titles.items() if at < mark.level}
            titles[mark.level] = _shorten(mark.title)
            path = BETWEEN.join(titles[at] for at in sorted(titles))
            line = max(line, text.rfind("\n", line, mark.start) + 1)
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
