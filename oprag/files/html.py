"""The visible text of an HTML page."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from typing import NamedTuple

from oprag.files.text import decode
from oprag.tokens import encodable

_UNSEEN = frozenset(("head", "noscript", "script", "style", "svg", "template", "title"))
_IN_HEAD = _UNSEEN - {"svg"} | {"base", "html", "link", "meta"}
"""Tags that do not end a head that is not closed."""
_PARAGRAPHS = frozenset(
    (
        *("address", "article", "aside", "blockquote", "details", "div", "dl"),
        *("figure", "footer", "form", "h1", "h2", "h3", "h4", "h5", "h6", "header"),
        *("hr", "main", "nav", "ol", "p", "pre", "section", "summary", "table", "ul"),
    )
)
_LINES = frozenset(("br", "dd", "dt", "figcaption", "li", "option", "tr"))
_CELLS = frozenset(("td", "th"))
_HEADING = re.compile("h[1-6]")
_EMPTY_HEADING = re.compile(r"^#+ *$\n*", re.MULTILINE)

_DECLARED = (
    re.compile(rb"^\s*<\?[^>]*?encoding\s*=\s*['\"]([\w.:+-]{1,40})"),
    re.compile(rb"<\s*meta[^>]+charset\s*=\s*[\"']?([\w.:+-]{1,40})", re.IGNORECASE),
)
_HEAD_BYTES = 4096
"""Bytes that may declare a page's encoding; in a long one, its first twentieth."""

# Stand for white space that stays, while that of the source text is thrown out. Pages
# do not hold such characters; if one does, it becomes white space.
_PARAGRAPH, _LINE, _KEPT_SPACE = "\x00", "\x1f", "\x1e"
_BREAKS = re.compile(f" *[{_PARAGRAPH}{_LINE}][ {_PARAGRAPH}{_LINE}]*")
_SPACE = re.compile(f"[ \\t\\n\\r\\f{_LINE}{_KEPT_SPACE}]+")


class Shown(NamedTuple):
    """The visible text of a page."""

    title: str
    """The title in the window's bar; empty where it has none."""
    body: str
    """The text on the page itself."""


def html_text(data: bytes) -> str:
    """Read the text of a page: its title, unless the text begins with it, and the text.

    Headings are as in Markdown. Navigation is left out; so is what is around the main
    text, where the page says which that is.

    Args:
        data: The page, in the encoding that it declares, else in UTF-8.

    Raises:
        NoTextError: The page is not in the encoding that it should be in.
    """
    page = encodable(decode(data, _declared(data)))
    title, body = shown_text(page, document=True)
    # Most pages repeat their title as the first heading.
    repeated = body.partition("\n")[0].lstrip("# ") == title
    return body if repeated or not title else f"{title}\n\n{body}".strip()


def shown_text(page: str, *, document: bool = False) -> Shown:
    """Return what a page shows: no tags, scripts or styles; entities resolved.

    Blocks are separated by an empty line, lines and table rows by a line break. White
    space is one space, as browsers show it, but unchanged in `<pre>`.

    Args:
        page: The page.
        document: Read it as a document: see `html_text`.
    """
    parser = _Parser(document=document)
    parser.feed(page)
    parser.close()
    body = re.sub(" +", " ", "".join(parser.body))
    body = _BREAKS.sub(
        lambda found: "\n\n" if _PARAGRAPH in found.group() else "\n", body
    )
    body = _EMPTY_HEADING.sub("", body) if document else body
    body = body.strip().replace(_KEPT_SPACE, " ")
    return Shown(_SPACE.sub(" ", "".join(parser.title)).strip(), body)


def _declared(data: bytes) -> str | None:
    head = data[: max(_HEAD_BYTES, len(data) // 20)]
    found = (pattern.search(head) for pattern in _DECLARED)
    return next((match[1].decode("ascii") for match in found if match), None)


class _Parser(HTMLParser):
    """Collects what is seen, with marks where blocks and lines begin and end."""

    def __init__(self, *, document: bool) -> None:
        super().__init__(convert_charrefs=True)
        self._document = document
        self._hidden = _UNSEEN | {"nav"} if document else _UNSEEN
        self._mains = 0
        self._around = False
        self.title: list[str] = []
        self.body: list[str] = []
        self._titles = 0
        self._unseen: list[str] = []
        self._preformatted = 0
        self._in_title = False

    @property
    def _unread(self) -> bool:
        return bool(self._unseen) or self._around

    def parse_marked_section(self, i: int, report: bool = True) -> int:  # noqa: ARG002, FBT001, FBT002 -- overrides
        return self.parse_bogus_comment(i)  # as browsers do; unknown ones are errors

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        del attrs
        if tag == "body" or (self._unseen == ["head"] and tag not in _IN_HEAD):
            self._unseen.clear()  # a head that is not closed ends here
        self._unseen += [tag] if tag in self._hidden else []
        if tag == "main" and self._document and not self._unseen:
            self._mains += 1
            self._around = False
            if self._mains == 1:
                self.body.clear()
        self._preformatted += tag == "pre"
        self._titles += tag == "title"
        self._in_title = tag == "title" and self._titles == 1
        self._mark(tag)
        if self._document and _HEADING.fullmatch(tag) and not self._unread:
            self.body.append(f"{'#' * int(tag[1])} ")

    def handle_endtag(self, tag: str) -> None:
        if tag in self._hidden:
            del self._unseen[-1:]
        self._around |= tag == "main" and self._mains > 0
        self._preformatted -= tag == "pre" and self._preformatted > 0
        self._in_title = False
        self._mark(tag)

    def handle_data(self, data: str) -> None:
        if self._unseen == ["head"] and data.strip():
            self._unseen.clear()
        if self._in_title:
            self.title.append(data)
        elif not self._unread and self._preformatted:
            self.body.append(data.replace(" ", _KEPT_SPACE))
        elif not self._unread:
            self.body.append(_SPACE.sub(" ", data))

    def _mark(self, tag: str) -> None:
        if self._unread:
            return
        if tag in _PARAGRAPHS:
            self.body.append(_PARAGRAPH)
        elif tag in _LINES:
            self.body.append(_LINE)
        elif tag in _CELLS:
            self.body.append(" ")
