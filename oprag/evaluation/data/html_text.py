"""The text of a web page, as the scripts of NarrativeQA come."""

from __future__ import annotations

import re
from html.parser import HTMLParser

_HIDDEN = ("head", "script", "style")
_BREAKING = ("br", "div", "h1", "h2", "h3", "li", "p", "td", "tr")
_BEGINNING = re.compile(
    r"\s*(?:<!--.*?-->\s*)*<(?:!doctype html|html|head|body)\b",
    re.IGNORECASE | re.DOTALL,
)


def looks_like_html(text: str) -> bool:
    """Say whether a text begins as a web page does."""
    return _BEGINNING.match(text) is not None


def text_of_html(page: str) -> str:
    """Return what a web page shows: no tags, scripts or styles; entities resolved.

    Elements that begin a line begin one here; the blanks of the page stay.
    """
    parser = _Text()
    parser.feed(page)
    parser.close()
    return "".join(parser.parts).strip()


class _Text(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.parts: list[str] = []
        self._hidden = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        del attrs
        self._hidden += tag in _HIDDEN
        if tag in _BREAKING:
            self.parts.append("\n")

    def handle_endtag(self, tag: str) -> None:
        self._hidden -= tag in _HIDDEN and self._hidden > 0

    def handle_data(self, data: str) -> None:
        if not self._hidden:
            self.parts.append(data)
