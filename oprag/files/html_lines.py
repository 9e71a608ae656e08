"""The lines that an HTML page shows, each with where it stands on the page."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from oprag.files.html_lists import ListNumbers, name_power
from oprag.files.html_tables import (
    CONTROLS,
    LINES,
    PARAGRAPHS,
    STRUCK,
    UNSEEN,
    read_rows,
)

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
"""What elements around the text are called."""
_HIDDEN = re.compile(
    r"display\s*:\s*none|visibility\s*:\s*hidden|font-size\s*:\s*0(?![.\d])",
    re.IGNORECASE,
)
_AT_RULE = re.compile(r"@[^{;]*(?:;|\{(?:[^{}]*\{[^{}]*\})*[^{}]*\})")
_RULE = re.compile(r"([^{}]*)\{([^{}]*)\}")
_SIMPLE = re.compile(r"[.#][\w-]+\Z")
_KEPT_SPACE, _KEPT_LINE = "\ue000", "\ue001"
"""Stand for the white space of preformatted text while other is thrown out."""
_SPACE = re.compile(r"[ \t\n\r\f]+")


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
    parts: list[str] = field(default_factory=list)

    @property
    def whole(self) -> str:
        """The line as it is read."""
        return self.prefix + self.text


def read_lines(root: Any, *, document: bool, hidden: bool = False) -> list[Line]:
    """Return the lines of a page that hold text.

    Args:
        root: The page's element.
        document: Read it as a document: headings, numbers of lists and tables are
            marked, what was struck and what can be pressed is left out.
        hidden: Whether to read what is hidden, too.
    """
    reader = _Reader(document=document, styles=set() if hidden else _hiding_rules(root))
    reader.hidden = hidden
    reader.read(root)
    return [line for line in map(_finish, reader.lines) if line.text]


def _finish(line: Line) -> Line:
    text = re.sub(" +", " ", "".join(line.parts)).strip(" ")
    line.text = text.replace(_KEPT_SPACE, " ").replace(_KEPT_LINE, "\n").strip("\n")
    if not line.text.strip():
        line.text = ""
    return line


def _hiding_rules(root: Any) -> set[str]:
    """Return the classes and ids that the page's own styles hide, always."""
    found: set[str] = set()
    for style in root.iter("style"):
        for selectors, rules in _RULE.findall(_AT_RULE.sub("", style.text or "")):
            if _HIDDEN.search(rules):
                names = map(str.strip, selectors.split(","))
                found.update(name for name in names if _SIMPLE.match(name))
    return found


class _Reader:
    """Goes through a page once."""

    def __init__(self, *, document: bool, styles: set[str]) -> None:
        self.lines: list[Line] = [Line("", around=False)]
        self.hidden = False
        self._document = document
        self._styles = styles
        self._numbers = ListNumbers()
        self._links = self._preformatted = 0
        self._around: list[Any] = []
        self._gap = ""

    def read(self, root: Any) -> None:
        from lxml import etree

        walker = etree.iterwalk(root, events=("start", "end"))
        for event, element in walker:
            if not isinstance(element.tag, str):  # a comment
                self._add(element.tail if event == "end" else None)
            elif event == "end":
                self._end(element)
                self._add(element.tail if element is not root else None)
            elif self._is_unseen(element) or self._read_whole(element):
                walker.skip_subtree()
            else:
                self._start(element)
                self._add(element.text)

    def _is_unseen(self, element: Any) -> bool:
        tag = element.tag
        if tag in UNSEEN or (self._document and tag in STRUCK | CONTROLS):
            return True
        if self.hidden:
            return False
        get = element.get
        if get("hidden") is not None or _HIDDEN.search(get("style") or ""):
            return True
        names = {f".{name}" for name in (get("class") or "").split()}
        return not self._styles.isdisjoint(names | {f"#{get('id')}"})

    def _read_whole(self, element: Any) -> bool:
        """Read an element that is one piece of text; return whether it is."""
        if not self._document:
            return False
        if element.tag == "table":
            rows = read_rows(element)
            for number, row in enumerate(rows):
                self._break("\n" if number else "\n\n")
                self._add(row)
            self._break("\n\n" if rows else "")
            return bool(rows)
        if element.tag in {"sup", "sub"}:
            last = "".join(self.lines[-1].parts[-1:])
            self._add(name_power(element, last))
            return True
        return False

    def _start(self, element: Any) -> None:
        tag = element.tag
        self._break_at(tag)
        if self._document:
            if self._is_around(element):
                self._around.append(element)
            if _HEADING.fullmatch(tag):
                self._open_line().prefix = "#" * int(tag[1]) + " "
            elif tag == "li" and (number := self._numbers.of(element)):
                self._open_line().prefix = f"{number} "
        self._links += tag == "a"
        self._preformatted += tag == "pre"

    def _end(self, element: Any) -> None:
        tag = element.tag
        if self._around and self._around[-1] is element:
            self._around.pop()
        self._links -= tag == "a" and self._links > 0
        self._preformatted -= tag == "pre" and self._preformatted > 0
        if tag != "br" and not self._is_unseen(element):
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
        """Return the line that text is added to; a new one where one has to begin."""
        line = self.lines[-1]
        if self._gap:
            if line.parts or line.prefix:
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
