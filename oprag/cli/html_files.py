"""What a reader sees of an HTML page, as text."""

from __future__ import annotations

import re
from collections.abc import Iterable

from bs4 import BeautifulSoup
from bs4.dammit import EncodingDetector
from bs4.element import NavigableString, PreformattedString, Tag

from oprag.cli.text_files import decode

_UNSEEN = ["head", "script", "style", "template", "noscript", "svg", "title"]
_PARAGRAPHS = [
    *("address", "article", "aside", "blockquote", "details", "div", "dl", "figure"),
    *("footer", "form", "h1", "h2", "h3", "h4", "h5", "h6", "header", "hr", "main"),
    *("nav", "ol", "p", "pre", "section", "summary", "table", "ul"),
]
_LINES = ["br", "dd", "dt", "figcaption", "li", "option", "tr"]
_CELLS = ["td", "th"]

# Stand for white space that stays, while that of the source text is thrown out. Pages
# do not hold such characters; if one does, it becomes white space.
_PARAGRAPH, _LINE, _KEPT_SPACE = "\x00", "\x1f", "\x1e"
_BREAKS = re.compile(f" *[{_PARAGRAPH}{_LINE}][ {_PARAGRAPH}{_LINE}]*")
_SPACE = re.compile(f"[ \\t\\n\\r\\f{_LINE}{_KEPT_SPACE}]+")


def html_text(data: bytes) -> str:
    """Read the text of a page: paragraphs apart, without scripts and markup.

    Args:
        data: The page, in the encoding that it declares, else in UTF-8.

    Returns:
        The title, unless the text begins with it, and the text. Blocks are separated
        by an empty line, lines and table rows by a line break. White space is one
        space, as browsers show it, but in `<pre>` as it stands there.

    Raises:
        NoTextError: The page is not in the encoding that it should be in.
    """
    declared = EncodingDetector.find_declared_encoding(data, is_html=True)
    soup = BeautifulSoup(decode(data, declared), "html.parser")
    title = soup.title.get_text() if soup.title else ""
    for tag in soup.find_all(_UNSEEN):
        tag.decompose()
    for string in soup.find_all(string=True):
        _collapse(string)
    for tag in _tags(soup, _PARAGRAPHS):
        _around(tag, _PARAGRAPH)
    for tag in _tags(soup, _LINES):
        _around(tag, _LINE)
    for tag in _tags(soup, _CELLS):
        tag.insert_after(" ")
    body = _BREAKS.sub(_break, soup.get_text()).strip().replace(_KEPT_SPACE, " ")
    title = _SPACE.sub(" ", title).strip()
    # Most pages repeat their title as the first heading.
    return body if body.startswith(title) else f"{title}\n\n{body}".strip()


def _tags(soup: BeautifulSoup, names: list[str]) -> Iterable[Tag]:
    return [tag for tag in soup.find_all(names) if isinstance(tag, Tag)]


def _collapse(string: NavigableString) -> None:
    if isinstance(string, PreformattedString):  # comments and the like: not shown
        return
    if string.find_parent("pre"):
        string.replace_with(string.replace(" ", _KEPT_SPACE))
    else:
        string.replace_with(_SPACE.sub(" ", string))


def _around(tag: Tag, mark: str) -> None:
    tag.insert_before(mark)
    tag.insert_after(mark)


def _break(match: re.Match[str]) -> str:
    return "\n\n" if _PARAGRAPH in match.group() else "\n"
