"""Headings and tables of a text in Markdown, found line by line.

Source:
    CommonMark 0.31.2, chapters 4 and 5. We differ: headings in quotes and in items of
    lists are none of the document. One dash underlines nothing, as it may be an empty
    item, and dashes only one line: below more of them people mean a rule. Facts on a
    file may stand before its text.
"""

from __future__ import annotations

import io
import re
from bisect import bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import inf
from typing import ClassVar, NamedTuple

_END, _LINE = r"[ \t]*+(?>\r\n?|\n)", r"[^\r\n]*+(?>\r\n?|\n)"
_FACTS = re.compile(
    # In YAML; a heading after an empty line is no remark in them.
    rf"---{_END}[\w-]+:{_LINE}(?:(?!{_END}#){_LINE})*?---[ \t]*(?=[\r\n]|\Z)"
    # In TOML.
    rf"|\+\+\+{_END}(?:{_LINE})*?\+\+\+[ \t]*(?=[\r\n]|\Z)"
)
_FENCE = re.compile(r"`{3,}+(?!.*`)|~{3,}+")
_MARKS = re.compile(r"#{1,6}(?=[ \t]|\Z)")
_UNDERLINE = re.compile(r"(?:=+|-+)[ \t]*\Z")
_RULE = re.compile(r"([-*_])(?:[ \t]*+\1){2,}+[ \t]*\Z")
_ITEM = re.compile(r"(?:[-+*]|(?P<number>\d{1,9})[.)])(?=[ \t]|\Z)")
_CODE = 4
"""Columns by which a line of code is indented, at least."""
_DEEPEST = 100
"""Levels of lists that are read, at most."""
_NAMES = (
    *("address", "article", "aside", "base", "basefont", "blockquote", "body"),
    *("caption", "center", "col", "colgroup", "dd", "details", "dialog", "dir", "div"),
    *("dl", "dt", "fieldset", "figcaption", "figure", "footer", "form", "frame"),
    *("frameset", "h[1-6]", "head", "header", "hr", "html", "iframe", "legend", "li"),
    *("link", "main", "menu", "menuitem", "nav", "noframes", "ol", "optgroup"),
    *("option", "p", "param", "search", "section", "summary", "table", "tbody", "td"),
    *("tfoot", "th", "thead", "title", "tr", "track", "ul"),
)
"""Elements that begin a block of HTML wherever they begin a line."""
_AS_WRITTEN = "pre|script|style|textarea"
_BLOCKS = tuple(
    (re.compile(begins, re.IGNORECASE), re.compile(end, re.IGNORECASE) if end else None)
    for begins, end in (
        (rf"<(?:{_AS_WRITTEN})(?=[\s>]|\Z)", rf"</(?:{_AS_WRITTEN})>"),
        ("<!--", "-->"),
        (r"<\?", r"\?>"),
        (r"<!\[CDATA\[", r"\]\]>"),
        ("<![a-z]", ">"),
        (rf"</?(?:{'|'.join(_NAMES)})(?=[\s>]|/>|\Z)", None),
    )
)
"""Blocks of HTML: how they begin, and how they end if not at an empty line."""
_TAG = re.compile(
    r"<(?:/[a-z][a-z\d-]*+\s*"
    r"|[a-z][a-z\d-]*+(?:\s++[a-z_:][\w.:-]*+(?:\s*=\s*"
    r"(?:[^\s\"'=<>`]++|'[^']*+'|\"[^\"]*+\"))?)*+\s*/?)>\s*\Z",
    re.IGNORECASE,
)
"""A line that is one tag begins a block of HTML, too, unless text is before it."""


class Heading(NamedTuple):
    """A heading of a text."""

    start: int
    """Where its words begin."""
    title: str
    level: int


class Table(NamedTuple):
    """Lines of a text that are the rows of a table."""

    start: int
    second: int
    """Where its second row begins."""
    end: int
    """Where the line after it begins."""


@dataclass
class _Verbatim:
    """An open block in which a line that looks like a heading is none."""

    depth: int
    """The number of items of lists that it is inside."""
    fence: str = ""
    """The fence of a block of code; empty for a block of HTML."""
    end: re.Pattern[str] | None = None
    """How a block of HTML ends; None for an empty line."""


@dataclass
class _Paragraph:
    start: int
    depth: float
    """The number of items of lists that it is inside; infinite in a quote."""
    lines: int = 1


class _Line(NamedTuple):
    """A line behind its blanks, or behind the mark of an item of a list."""

    start: int
    """Its first character."""
    text: str
    """What follows the blanks, without the end of the line."""
    column: int
    """The column at which the text begins."""
    depth: int
    """The number of items of lists that it is inside."""


def read_markdown(text: str) -> Iterator[Heading | Table]:
    """Return the headings of the document and its tables, in their order."""
    facts = _FACTS.match(text)
    reader = _Reader(text)
    rows: list[int] = []
    at = facts.end() if facts else 0
    for line in io.StringIO(text[at:], newline=""):
        if is_row(line) and reader.verbatim is None:
            rows.append(at)
        elif rows:
            yield from _make_table(rows, at)
            rows = []
        if (heading := reader.read(at, line.rstrip("\r\n"))) is not None:
            yield heading
        at += len(line)
    yield from _make_table(rows, at)


def find_tables(text: str) -> Iterator[Table]:
    """Return the tables of a text that has rows as in Markdown, and nothing else."""
    at = 0
    rows: list[int] = []
    for line in io.StringIO(text, newline=""):
        if is_row(line):
            rows.append(at)
        elif rows:
            yield from _make_table(rows, at)
            rows = []
        at += len(line)
    yield from _make_table(rows, at)


def is_row(line: str) -> bool:
    """Tell whether a line is like the row of a table."""
    return line.startswith("|") and line.rstrip().endswith("|", 1)


def _make_table(rows: list[int], end: int) -> Iterator[Table]:
    if len(rows) > 1:
        yield Table(rows[0], rows[1], end)


class _Reader:
    """Reads a text once; keeps the blocks that are open."""

    def __init__(self, text: str) -> None:
        self.verbatim: _Verbatim | None = None
        self._text = text
        self._items: list[int] = []
        """The columns at which the contents of open items of lists begin."""
        self._paragraph: _Paragraph | None = None
        self._found: Heading | None = None

    def read(self, start: int, line: str) -> Heading | None:
        """Read a line, and return the heading that it is, or that it underlines.

        Args:
            start: Its first character.
            line: Its text, without what ends it.
        """
        self._found = None
        text = line.lstrip(" \t")
        if not text:
            self._read_empty()
            return None
        blanks = line[: len(line) - len(text)]
        column = len(blanks.expandtabs(_CODE))
        depth = bisect_right(self._items, column)
        read = _Line(start + len(blanks), text, column, depth)
        if self.verbatim is not None and self.verbatim.depth <= depth:
            self._read_verbatim(read, self.verbatim)
        else:
            self.verbatim = None
            self._open(read)
        return self._found

    def _read_empty(self) -> None:
        self._paragraph = None
        block = self.verbatim
        if block is not None and not block.fence and block.end is None:
            self.verbatim = None

    def _read_verbatim(self, line: _Line, block: _Verbatim) -> None:
        if block.fence:
            text = line.text.rstrip(" \t")
            is_fence = text == block.fence[0] * max(len(text), len(block.fence))
            if is_fence and not self._is_indented(line.column, block.depth):
                self.verbatim = None
        elif block.end is not None and block.end.search(line.text):
            self.verbatim = None

    def _open(self, line: _Line) -> None:
        """Read a line that begins a block, or add it to a paragraph."""
        readers = self._readers.get(line.text[0], ())
        if self._is_indented(line.column, line.depth):
            readers = ()
        if any(read(self, line) for read in readers):
            return
        if self._paragraph is not None:
            self._paragraph.lines += 1
            return
        self._close(line.depth)
        if not self._is_indented(line.column, line.depth):
            self._paragraph = _Paragraph(line.start, line.depth)

    def _is_indented(self, column: int, depth: int) -> bool:
        return column - (self._items[depth - 1] if depth else 0) >= _CODE

    def _close(self, depth: int) -> None:
        """Close the paragraph, and what is deeper than a line."""
        self._paragraph = None
        del self._items[depth:]

    def _find_above(self, line: _Line) -> _Paragraph | None:
        """Return the paragraph that is open right above a line, in the same item."""
        above = self._paragraph
        return above if above is not None and above.depth <= line.depth else None

    def _read_quote(self, line: _Line) -> bool:
        self._close(line.depth)
        if line.text.strip("> \t"):
            self._paragraph = _Paragraph(line.start, inf)
        return True

    def _read_fence(self, line: _Line) -> bool:
        fence = _FENCE.match(line.text)
        if fence is not None:
            self._close(line.depth)
            self.verbatim = _Verbatim(line.depth, fence[0])
        return fence is not None

    def _read_marked(self, line: _Line) -> bool:
        """Read a heading behind marks; one without words is none."""
        marks = _MARKS.match(line.text)
        if marks is None:
            return False
        self._close(line.depth)
        words = line.text[marks.end() :].strip(" \t")
        bare = words.rstrip("#")
        if not bare or bare[-1] in " \t":  # marks at the end repeat the first ones
            words = bare.rstrip(" \t")
        if words and line.depth == 0:
            start = line.start + line.text.index(words[0], marks.end())
            self._found = Heading(start, words, marks.end())
        return True

    def _read_underline(self, line: _Line) -> bool:
        above = self._find_above(line)
        if above is None or not _UNDERLINE.match(line.text):
            return False
        self._close(line.depth)
        is_top = line.text[0] == "="
        is_title = is_top or (above.lines == 1 and line.text.startswith("--"))
        if is_title and line.depth == 0 and self._text[above.start] != "|":
            title = " ".join(self._text[above.start : line.start].split())
            self._found = Heading(above.start, title, 1 if is_top else 2)
        return True

    def _read_rule(self, line: _Line) -> bool:
        is_rule = _RULE.match(line.text) is not None
        if is_rule:
            self._close(line.depth)
        return is_rule

    def _read_item(self, line: _Line) -> bool:
        """Open an item of a list, and read what is in it."""
        mark = _ITEM.match(line.text)
        if mark is None or line.depth >= _DEEPEST:
            return False
        behind = line.text[mark.end() :]
        text = behind.lstrip(" \t")
        begins_list = bool(text) and mark["number"] in {None, "1"}
        if not begins_list and self._find_above(line) is not None:
            return False
        self._close(line.depth)
        first = line.column + mark.end()
        blanks = behind[: len(behind) - len(text)]
        column = len((" " * first + blanks).expandtabs(_CODE))
        is_code = not text or column - first > _CODE
        self._items.append(first + 1 if is_code else column)
        if text:
            start = line.start + len(line.text) - len(text)
            self._open(_Line(start, text, column, line.depth + 1))
        return True

    def _read_html(self, line: _Line) -> bool:
        """Open a block of HTML."""
        ends = (
            (found.end(), end)
            for begins, end in _BLOCKS
            if (found := begins.match(line.text))
        )
        at, end = next(ends, (None, None))
        if at is None and (self._paragraph or not _TAG.match(line.text)):
            return False
        self._close(line.depth)
        if end is None or not end.search(line.text, at or 0):
            self.verbatim = _Verbatim(line.depth, end=end)
        return True

    _readers: ClassVar[dict[str, tuple[Callable[[_Reader, _Line], bool], ...]]] = {
        ">": (_read_quote,),
        "#": (_read_marked,),
        "=": (_read_underline,),
        "-": (_read_underline, _read_rule, _read_item),
        "*": (_read_rule, _read_item),
        "_": (_read_rule,),
        "<": (_read_html,),
        **dict.fromkeys("`~", (_read_fence,)),
        **dict.fromkeys("+0123456789", (_read_item,)),
    }
    """Methods that read a line by its first character, as they are tried in order."""
