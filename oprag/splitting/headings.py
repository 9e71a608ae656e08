"""Headings of a text in Markdown, and the path of headings to each of its places."""

from __future__ import annotations

import re
from collections.abc import Iterator
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


def find_headings(text: str) -> list[Heading]:
    """Return the headings of a text in Markdown."""
    return [*filter(None, map(_read_heading, _HEADING.finditer(text)))]


def _read_heading(match: re.Match[str]) -> Heading | None:
    """Return the heading that was found; None for anything else."""
    if match["title"]:
        return Heading(match.start("title"), match["title"], len(match["marks"]))
    if match["underlined"]:
        level = 1 if match["top"] else 2
        return Heading(match.start(), match["underlined"].strip(), level)
    return None


def find_sections(text: str) -> list[Section]:
    """Return where in a text in Markdown the path of headings changes."""
    return [*_sections(text)]


def _sections(text: str) -> Iterator[Section]:
    titles: dict[int, str] = {}
    path = ""
    for match in _HEADING.finditer(text):
        heading = _read_heading(match)
        if heading is not None:
            level = heading.level
            titles = {at: title for at, title in titles.items() if at < level}
            titles[level] = _shorten(heading.title)
            path = BETWEEN.join(titles[at] for at in sorted(titles))
            yield Section(match.start(), path)
        elif match["table"]:
            first = match["table"].partition("\n")[0]
            if sum(map(bool, _cells(first))) > 1:  # one alone is a title
                named = name_columns(path, first)
                yield Section(match.start() + len(first) + 1, named)
                yield Section(match.end(), path)


def name_columns(path: str, row: str) -> str:
    """Return a path with the first row of a table added to it."""
    return ": ".join(filter(None, (path, _shorten(" | ".join(_cells(row))))))


def _cells(row: str) -> list[str]:
    return [cell.strip() for cell in _CELLS.split(row.strip().strip("|"))]


def _shorten(title: str) -> str:
    title = " ".join(title.split())
    return title if len(title) <= _LONGEST else f"{title[: _LONGEST - 1]}…"
