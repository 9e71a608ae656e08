"""The lines that an HTML page shows, each with its place on the page."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any

from oprag.files.html_grids import make_tables
from oprag.files.html_lists import ListNumbers
from oprag.files.html_pieces import LINES, PARAGRAPHS, Pieces
from oprag.files.html_styles import Styles
from oprag.files.html_tables import read_rows

_HEADING = re.compile("h[1-6]")
_AROUND = frozenset(("aside", "dialog", "footer", "header", "nav", "menu"))
"""Elements around the text of a page."""
_ROLES = frozenset(
    (
        *("alert", "alertdialog", "banner", "complementary", "contentinfo", "dialog"),
        *("menu", "menubar", "navigation", "search", "tablist", "toolbar"),
    )
)
_CALLED = re.compile(
    r"(?:^|[\s_-])(?:ad|ads|advert\w*|author-?box|banner|bread-?crumbs?|byline|comments?"
    r"|consent|cookies?|copyright|disqus|foot|footer|gdpr|header|imprint|legal|login"
    r"|masthead|menus?|meta|modal|nav|navbar|navi|navigation|newsletter|pager"
    r"|pagination|popular|popup|post-?meta|promo\w*|rating|read-?more|recommend\w*"
    r"|related\w*|reply|respond|search|share\w*|sharing|side|sidebar\w*|signup|skip"
    r"|social\w*|sponsor\w*|subscri\w*|tags?|tag-?cloud|teaser\w*|toolbar|tools|trend\w*"
    r"|widget\w*)(?:$|[\s_-])",
    re.IGNORECASE,
)
"""Names that pages give to elements around the text."""
_KEPT_SPACE, _KEPT_LINE = "\ue000", "\ue001"
"""Stand for the white space of preformatted text while the rest is removed."""
_SPACE = re.compile(r"[ \t\n\r\f]+")
_INVISIBLE = re.compile("[\u00ad\u200b\u2060\ufeff]")
"""Places at which words may be divided; most are not."""


@dataclass
class Line:
    """A line of a page."""

    gap: str
    """The line breaks before it."""
    around: bool
    """Whether it is in an element that stands around the text of a page."""
    text: str = ""
    linked: int = 0
    """Characters of it that are links."""
    prefix: str = ""
    """The marks of a heading, or the number of an item."""
    level: int = 0
    """The level of a heading; 0 if it is none."""
    parts: list[str] = field(default_factory=list)

    @property
    def whole(self) -> str:
        """The whole line, with its marks or its number."""
        return self.prefix + self.text


def read_lines(
    root: Any, *, document: bool, hidden: bool = False, unclosed: Collection[str] = ()
) -> list[Line]:
    """Return the lines of a page that hold text.

    Args:
        root: The page's element.
        document: Read it as a document: headings, numbers of lists, tables and
            equations are marked, fields have their values, and struck text and controls
            that can only be pressed are left out.
        hidden: Whether to read hidden text, too, and text that is shown in the place
            of something else.
        unclosed: Tags that the page does not close.
    """
    if document:
        make_tables(root)
    styles = Styles(root)
    pieces = Pieces(styles, unclosed, document=document, hidden=hidden)
    reader = _Reader(pieces, ListNumbers(styles), document=document)
    reader.read_lines(root)
    return [line for line in map(_finish, reader.lines) if line.text]


def _finish(line: Line) -> Line:
    text = _INVISIBLE.sub("", "".join(line.parts))
    text = re.sub(" +", " ", text).strip(" ")
    line.text = text.replace(_KEPT_SPACE, " ").replace(_KEPT_LINE, "\n").strip("\n")
    if not line.text.strip():
        line.text = ""
    return line


class _Reader:
    """Goes through a page once."""

    def __init__(self, pieces: Pieces, numbers: ListNumbers, *, document: bool) -> None:
        self.lines: list[Line] = [Line("", around=False)]
        self._pieces = pieces
        self._numbers = numbers
        self._document = document
        self._skipped: Any = None
        self._links = self._preformatted = 0
        self._around: list[Any] = []
        self._gap = ""

    def read_lines(self, root: Any) -> None:
        from lxml import etree

        walker = etree.iterwalk(root, events=("start", "end"))
        for event, element in walker:
            if not isinstance(element.tag, str):  # a comment
                self._add(element.tail if event == "end" else None)
            elif event == "end":
                self._end(element)
                self._add(element.tail if element is not root else None)
            elif self._pieces.is_unseen(element) or self._read_whole(element):
                self._skipped = element
                walker.skip_subtree()
            else:
                self._start(element)
                self._add(element.text)

    def _read_whole(self, element: Any) -> bool:
        """Read an element that is one piece of text; return whether it is."""
        if self._document and element.tag == "table":
            rows = read_rows(element, self._pieces)
            for number, row in enumerate(rows):
                self._break("\n" if number else "\n\n")
                self._add(row)
            self._break("\n\n" if rows else "")
            return bool(rows)
        text = self._pieces.read_piece(element, "".join(self.lines[-1].parts[-1:]))
        self._add(text)
        return text is not None

    def _start(self, element: Any) -> None:
        tag = element.tag
        self._break_at(tag)
        if self._document:
            if self._is_around(element):
                self._around.append(element)
            if _HEADING.fullmatch(tag):
                line = self._open_line()
                line.level = int(tag[1])
                line.prefix += "#" * line.level + " "
            elif tag == "li" and (number := self._numbers.of(element)):
                self._open_line().prefix += f"{number} "
        self._links += tag == "a"
        self._preformatted += tag == "pre"

    def _end(self, element: Any) -> None:
        if element is self._skipped:
            return
        tag = element.tag
        if self._around and self._around[-1] is element:
            self._around.pop()
        line = self.lines[-1]
        is_empty = not any(part.strip() for part in line.parts)
        if is_empty and (tag == "li" or _HEADING.fullmatch(tag)):
            line.prefix, line.level = "", 0
        self._links -= tag == "a" and self._links > 0
        self._preformatted -= tag == "pre" and self._preformatted > 0
        if tag != "br":
            self._break_at(tag)

    def _is_around(self, element: Any) -> bool:
        get = element.get
        named = f"{get('class') or ''} {get('id') or ''}"
        return (
            element.tag in _AROUND
            or (get("role") or "").lower() in _ROLES
            or (element.tag not in {"body", "html"} and bool(_CALLED.search(named)))
        )

    def _break_at(self, tag: str) -> None:
        if tag in PARAGRAPHS:
            self._break("\n\n")
        elif tag in LINES:
            self._break("\n")

    def _break(self, gap: str) -> None:
        self._gap = max(self._gap, gap, key=len)

    def _open_line(self) -> Line:
        """Return the line that text is added to, a new one if one has to begin."""
        line = self.lines[-1]
        if self._gap:
            if any(part.strip() for part in line.parts):
                line = Line(self._gap, around=False)
                self.lines.append(line)
            else:
                line.gap = max(self._gap, line.gap, key=len)
            self._gap = ""
        line.around = bool(self._around)
        return line

    def _add(self, text: str | None) -> None:
        if not text:
            return
        if self._preformatted:
            text = text.replace(" ", _KEPT_SPACE).replace("\n", _KEPT_LINE)
        else:
            text = _SPACE.sub(" ", text)
        if text == " " and self._gap:
            return
        line = self._open_line()
        line.parts.append(text)
        if self._links:
            line.linked += len(text.strip())
