"""Rows of tables in a text: a chunk holds whole ones."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

_FEWEST = 3
"""Consecutive lines of one form that are a table, at least; in Markdown two."""
_SURE = 5
"""Lines with as many commas each that are no prose, though blanks follow them."""
_LONGEST_CELL = 50
"""Lines that one value in quotes may have."""
_QUOTE_OPENS = re.compile(r'(?:^|[,;\t])"')
_QUOTED = re.compile(r'"[^"]*"')
_NUMBER = re.compile(r"[-+(−–]?[€$£]?\d[\d.,:/%)]*[%€*)]*|[-–—]")
_IN_NUMBERS = re.compile(r"[-–—\d]")
"""Characters of which every number has at least one."""
_NUMBERS_BESIDE = re.compile(
    r"(?<!\S)[-+(–−]?[€$£]?\d[\d.,%)]*[^\S\n]+[-+(–−]?[€$£]?\d[\d.,%)]*(?!\S)"
)
_WITH_NUMBERS = ("1", 0)
"""The form of a line that has two numbers side by side, whatever else it has."""
_OF_MARKDOWN = frozenset({("", 0)})
_NO_FORMS = frozenset[tuple[str, int]]()
_FEWEST_NUMBERS = 2
_DELIMITERS = ("\t", ";", ",", "|")
_BEFORE_BLANK = re.compile(r"[,;](?=[ \n]|\Z)")
_MOST_BLANKS = 0.2
"""Share of the commas or semicolons of a table that a blank may follow."""


class _Row(NamedTuple):
    """A line that may be a row, or the lines of one with a value in quotes."""

    start: int
    end: int
    forms: frozenset[tuple[str, int]]
    """Each way in which it is like a row; lines of a table have one in common."""
    line: str
    """Its text, its values in quotes without what they hold."""


def find_rows(text: str) -> list[tuple[int, int]]:
    """Find the rows of tables: in Markdown, as CSV, or lines of numbers.

    Returns:
        The span of each row with the line break after it, ascending, apart from one
        another.
    """
    found: list[tuple[int, int]] = []
    run: list[_Row] = []
    shared: frozenset[tuple[str, int]] = frozenset()
    for row in _lines(text):
        if run:
            if both := shared & row.forms:
                run.append(row)
                shared = both
                continue
            found += _rows_of(run, shared)
        run, shared = ([row], row.forms) if row.forms else ([], _NO_FORMS)
    return found + _rows_of(run, shared)


def _rows_of(
    run: Sequence[_Row], shared: frozenset[tuple[str, int]]
) -> list[tuple[int, int]]:
    """Return the spans of lines that are a table; none if they are not."""
    of_markdown = ("", 0) in shared
    if _WITH_NUMBERS in shared and len(run) >= _SURE:
        return [(row.start, row.end) for row in run]
    shared = shared - {_WITH_NUMBERS}
    if not shared or len(run) < (2 if of_markdown else _FEWEST):
        return []
    kinds = {kind for kind, _ in shared}
    fewest = min(count for _, count in shared)
    if kinds <= {",", ";"} and (len(run) < _SURE or fewest < _FEWEST_NUMBERS):
        marks = sum(count for _, count in shared) * len(run)
        blanks = sum(len(_BEFORE_BLANK.findall(row.line)) for row in run)
        if blanks > _MOST_BLANKS * marks:
            return []  # lines of prose
    return [(row.start, row.end) for row in run]


def _lines(text: str) -> Iterator[_Row]:
    start = end = open_lines = 0
    for single in text.split("\n"):
        end = min(end + len(single) + 1, len(text))
        if end == start:
            break
        line = text[start:end]
        if '"' in line:
            if open_lines < _LONGEST_CELL and end < len(text) and _is_open(line):
                open_lines += 1
                continue
            line = _QUOTED.sub('""', line)
        yield _Row(start, end, _forms(line.strip()), line)
        start, open_lines = end, 0


def _is_open(line: str) -> bool:
    """Tell whether a value in quotes goes on in the next line."""
    return line.count('"') % 2 == 1 and _QUOTE_OPENS.search(line) is not None


def _forms(line: str) -> frozenset[tuple[str, int]]:
    if line[:1] == line[-1:] == "|" and len(line) > 1:
        return _OF_MARKDOWN
    forms = [(mark, line.count(mark)) for mark in _DELIMITERS if mark in line]
    # At most this many words are numbers: in prose that says enough.
    most = len(_IN_NUMBERS.findall(line))
    if most >= _FEWEST_NUMBERS:
        forms += _forms_by_numbers(line, most)
    return frozenset(forms) if forms else _NO_FORMS


def _forms_by_numbers(line: str, most: int) -> Iterator[tuple[str, int]]:
    """Yield the forms of a line that has at most so many numbers."""
    if _NUMBERS_BESIDE.search(line) is not None:
        yield _WITH_NUMBERS
    words = line.split()
    if 2 * most < len(words):
        return
    numbers = sum(_NUMBER.fullmatch(word) is not None for word in words)
    if numbers >= _FEWEST_NUMBERS and 2 * numbers >= len(words):
        yield "0", 0
