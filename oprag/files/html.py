"""The text of an HTML page: its whole body, and little of the text around it.

Parsed by lxml. Which lines are the body is trafilatura's judgement, in doubt ours: it
leaves out a part of the body of one page in three. So a line goes only if it also looks
like a line around a text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from oprag.files.bodies import Body, with_headings
from oprag.files.html_lines import Line, read_lines
from oprag.files.html_repairs import close_elements, find_unclosed, flatten
from oprag.files.text import decode_or_guess, name_guess
from oprag.optional import require
from oprag.splitting import Heading
from oprag.tokens import encodable

_DECLARED = (
    re.compile(rb"^\s*<\?[^>]*?encoding\s*=\s*['\"]([\w.:+-]{1,40})"),
    re.compile(rb"<\s*meta[^>]+charset\s*=\s*[\"']?([\w.:+-]{1,40})", re.IGNORECASE),
)
_HEAD_BYTES = 4096
"""Bytes that may declare a page's encoding; in a long one, its first twentieth."""
_SPACE = re.compile(r"[\s\x1c-\x1f]+")
_NOT_WORD = re.compile(r"\W+")
_TINY, _SHORT = 60, 80
"""Characters below which a line may go, inside the body and before or after it."""
_FEW = 40
"""Lines of a short page, at most."""
_PAGE = 250
"""Characters of a page that is hidden as a whole, at least."""
_TOO_DEEP = f"boolean({'/*' * 300})"
"""Whether elements are nested so deeply that parsers leave out the inner ones, and
that it takes for ever to go through them."""
_LINKED = 0.5
"""Share of a line in links from which on the line may go."""
_LEAST_FOUND = 0.05
"""Share of a page that trafilatura has to find, to be asked at all."""


class Shown(NamedTuple):
    """The visible text of a page."""

    title: str
    """The title in the window's bar; empty if it has none."""
    body: str
    """The text on the page itself."""
    headings: tuple[Heading, ...] = ()
    """Those of the body."""


def read_page(data: bytes) -> Body:
    """Read the text of a page: its title, unless the text begins with it, and the text.

    Headings are as in Markdown, rows of tables too; items of lists have their numbers.
    Hidden and struck text is left out. So is the text around the body, as far as that
    is certain.

    Args:
        data: The page, in the encoding that it declares, else in UTF-8.

    Raises:
        MissingDependencyError: lxml or trafilatura is not installed.
        NoTextError: The page is not in the encoding that it should be in.
    """
    page = close_elements(decode_page(data))
    root = _parse(page)
    if root is None:
        return Body("")
    title = _title(root)
    unclosed = find_unclosed(page)
    lines = read_lines(root, document=True, unclosed=unclosed)
    hidden = read_lines(root, document=True, hidden=True, unclosed=unclosed)
    if 2 * _count(lines) < _count(hidden) > _PAGE:  # until a script shows it
        lines = hidden
    text, headings = _join(_leave_out_around(lines, root))
    # Most pages repeat their title as the first heading.
    if title and text.partition("\n")[0].lstrip("# ") != title:
        before = f"{title}\n\n"
        text = (before + text).strip()
        headings = _shift(headings, len(before))
    return with_headings(text, headings, notice=name_guess(data, _declared(data)))


def shown_text(page: str, *, document: bool = False) -> Shown:
    """Return the visible text of a page, without tags, and with entities resolved.

    Blocks are separated by an empty line, lines and table rows by a line break. White
    space is one space, as browsers show it, but unchanged in `<pre>`.

    Args:
        page: The page.
        document: Read it as a document: see `read_page`. All of it is read.

    Raises:
        MissingDependencyError: lxml is not installed.
    """
    page = close_elements(page)
    root = _parse(page)
    if root is None:
        return Shown("", "")
    lines = read_lines(root, document=document, unclosed=find_unclosed(page))
    return Shown(_title(root), *_join(lines))


def decode_page(data: bytes) -> str:
    """Read the bytes of a page, in the encoding that it declares, else in UTF-8.

    A page of Western Europe that declares none is read as browsers read it.

    Raises:
        NoTextError: They are in another one.
    """
    return encodable(decode_or_guess(data, _declared(data)))


def _declared(data: bytes) -> str | None:
    """Return the encoding that a page declares; None if it declares none."""
    head = data[: max(_HEAD_BYTES, len(data) // 20)]
    found = (pattern.search(head) for pattern in _DECLARED)
    return next((match[1].decode("ascii") for match in found if match), None)


def _parse(page: str) -> Any:
    """Return the page's element; None if it has none."""
    root = _parse_once(page)
    if root is None or root.xpath(_TOO_DEEP):
        return _parse_once(flatten(page))
    return root


def _parse_once(page: str) -> Any:
    html = require("lxml.html", extra="cli", purpose="Reading HTML files")
    etree = require("lxml.etree", extra="cli", purpose="Reading HTML files")
    parser = html.HTMLParser(encoding="utf-8", huge_tree=True, remove_pis=True)
    try:
        return html.document_fromstring(page.encode(), parser=parser)
    except etree.ParserError:  # nothing but comments, or too deep in one another
        return None


def _title(root: Any) -> str:
    found = root.find(".//title")
    return "" if found is None else _SPACE.sub(" ", found.text_content()).strip()


def _join(lines: Sequence[Line]) -> tuple[str, tuple[Heading, ...]]:
    """Return the text of lines, and its headings."""
    text = "".join(line.gap + line.whole for line in lines)
    headings = []
    at = 0
    for line in lines:
        at += len(line.gap + line.prefix)
        if line.level:
            headings.append(Heading(at, line.text, line.level))
        at += len(line.text)
    return text.strip(), _shift(headings, len(text.lstrip()) - len(text))


def _shift(headings: Iterable[Heading], by: int) -> tuple[Heading, ...]:
    """Return the headings of a text before which so many characters were put."""
    return tuple(each._replace(start=each.start + by) for each in headings)


def _leave_out_around(lines: list[Line], root: Any) -> list[Line]:
    """Return the lines of the body, or all lines if the body is not known."""
    found = _words(_find_body(root))
    are_body = [_words(line.text) in found for line in lines]
    if len(found) < _LEAST_FOUND * _count(lines):
        return _without_marked(lines)
    body = [number for number, is_body in enumerate(are_body) if is_body]
    first, last = (body[0], body[-1]) if body else (0, len(lines))
    kept = []
    is_short = len(lines) < _FEW
    for number, line in enumerate(lines):
        inside = first <= number <= last
        if are_body[number] or not _may_go(line, inside=inside, is_short=is_short):
            kept.append(line)
    return kept


def _find_body(root: Any) -> str:
    """Return the body of a page as trafilatura finds it; it may be a part, or empty."""
    trafilatura = require("trafilatura", extra="cli", purpose="Reading HTML files")
    text: str | None = trafilatura.extract(root, include_comments=False, fast=True)
    return text or ""


def _words(text: str) -> str:
    return _NOT_WORD.sub("", text).lower()


def _may_go(line: Line, *, inside: bool, is_short: bool) -> bool:
    """Tell whether a line that is not in the body looks like one around it.

    Args:
        line: The line.
        inside: Whether it stands between lines of the body.
        is_short: Whether its page is: little stands around the text of such a page.
    """
    if line.prefix == "# " or (line.text.startswith("| ") and not line.around):
        return False
    if line.linked >= _LINKED * len(line.text):
        is_heading = is_short and line.prefix != ""
        return line.around or not (inside or is_heading)
    if inside or is_short:
        return line.around and len(line.text) < _TINY
    return line.around or len(line.text) < _SHORT


def _without_marked(lines: list[Line]) -> list[Line]:
    """Return the lines that stand in no element around the text, if these are most."""
    kept = [line for line in lines if not line.around]
    return kept if 2 * _count(kept) > _count(lines) else lines


def _count(lines: Sequence[Line]) -> int:
    return sum(len(line.text) for line in lines)
