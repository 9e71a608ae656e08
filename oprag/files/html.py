"""The visible text of an HTML page."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from typing import NamedTuple

from oprag.files.text import decode
from oprag.tokens import encodable

_UNSEEN = frozenset(("head", "noscript", "script", "style", "svg", "template", "title"))
_PARAGRAPHS = frozenset(
    (
        *("address", "article", "aside", "blockquote", "details", "div", "dl"),
        *("figure", "footer", "form", "h1", "h2", "h3", "h4", "h5", "h6", "header"),
        *("hr", "main", "nav", "ol", "p", "pre", "section", "summary", "table", "ul"),
    )
)
_LINES = frozenset(("br", "dd", "dt", "figcaption", "li", "option", "tr"))
_CELLS = frozenset(("td", "th"))

_DECLARED = (
    re.compile(rb"^\s*<\?[^>]*?encoding\s*=\s*['\"](.*?)['\"]"),
    re.compile(rb"<\s*meta[^>]+charset\s*=\s*[\"']?([^>]*?)[ /;'\">]", re.IGNORECASE),
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

    Args:
        data: The page, in the encoding that it declares, else in UTF-8.

    Raises:
        NoTextError: The page is not in the encoding that it should be in.
    """
    title, body = shown_text(encodable(decode(data, _declared(data))))
    # Most pages repeat their title as the first heading.
    return body if body.startswith(title) else f"{title}\n\n{body}".strip()


def shown_text(page: str) -> Shown:
    """Return what a page shows: no tags, scripts or styles; entities resolved.

    Blocks are separated by an empty line, lines and table rows by a line break. White
    space is one space, as browsers show it, but unchanged in `<pre>`.
    """
    parser = _Parser()
    parser.feed(page)
    parser.close()
    body = re.sub(" +", " ", "".join(parser.body))
    body = _BREAKS.sub(
        lambda found: "\n\n" if _PARAGRAPH in found.group() else "\n", body
    )
    body = body.strip().replace(_KEPT_SPACE, " ")
    return Shown(_SPACE.sub(" ", "".join(parser.title)).strip(), body)


def _declared(data: bytes) -> str | None:
    head = data[: max(_HEAD_BYTES, len(data) // 20)]
    found = (pattern.search(head) for pattern in _DECLARED)
    return next((match[1].decode("ascii", "replace") for match in found if match), None)


class _Parser(HTMLParser):
    """Collects what is seen, with marks where blocks and lines begin and end."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.title: list[str] = []
        self.body: list[str] = []
        self._titles = 0
        self._unseen = 0
        self._preformatted = 0
        self._in_title = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        del attrs
        if tag == "body":  # a head that is not closed ends here
            self._unseen = 0
        self._unseen += tag in _UNSEEN
        self._preformatted += tag == "pre"
        self._titles += tag == "title"
        self._in_title = tag == "title" and self._titles == 1
        self._mark(tag)

    def handle_endtag(self, tag: str) -> None:
        self._unseen -= tag in _UNSEEN and self._unseen > 0
        self._preformatted -= tag == "pre" and self._preformatted > 0
        self._in_title = False
        self._mark(tag)

    def handle_data(self, data: str) -> None:
        if self._in_title:
            self.title.append(data)
        elif not self._unseen and self._preformatted:
            self.body.append(data.replace(" ", _KEPT_SPACE))
        elif not self._unseen:
            self.body.append(_SPACE.sub(" ", data))

    def _mark(self, tag: str) -> None:
        if self._unseen:
            return
        if tag in _PARAGRAPHS:
            self.body.append(_PARAGRAPH)
        elif tag in _LINES:
            self.body.append(_LINE)
        elif tag in _CELLS:
            self.body.append(" ")
