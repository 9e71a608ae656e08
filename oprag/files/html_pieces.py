"""Elements of a page that are one piece of text, and those that are not read."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from typing import Any

from oprag.files.equations import write_page_math, write_raised
from oprag.files.html_styles import Styles

_NEVER = frozenset(("embed", "param", "script", "style", "title"))
INSTEAD = frozenset(
    (*("audio", "canvas", "iframe", "noscript", "object", "svg", "template"), "video")
)
"""Elements whose text is shown only in the place of something else."""
CONTROLS = frozenset(("button", "datalist", "input", "select", "textarea"))
STRUCK = frozenset(("del", "s", "strike"))
PARAGRAPHS = frozenset(
    (
        *("address", "article", "aside", "blockquote", "body", "details", "dialog"),
        *("div", "dl", "fieldset", "figure", "footer", "form", "h1", "h2", "h3", "h4"),
        *("h5", "h6", "header", "hr", "main", "nav", "ol", "p", "pre", "section"),
        *("summary", "table", "ul"),
    )
)
LINES = frozenset(
    ("br", "caption", "dd", "dt", "figcaption", "li", "option", "td", "th", "tr")
)
_TITLES = frozenset(("dt", "h1", "h2", "h3", "h4", "h5", "h6", "summary"))
_TYPED = frozenset(
    (
        *("", "date", "datetime-local", "email", "month", "number", "tel", "text"),
        *("time", "url", "week"),
    )
)
"""Kinds of fields whose value people see."""
_SPACE = re.compile(r"\s+")
_EQUATION = re.compile(r"(?:^|[\s_-])(?:math|latex|tex|equation)", re.IGNORECASE)
_LONGEST_MARK = 40
"""Characters of the description of a picture that is a cell's value, at most."""


class Pieces:
    """Tells which elements of a page are read as one piece, and which are not read.

    Args:
        styles: The page's styles.
        unclosed: Tags that the page does not close.
        document: See `read_lines`.
        hidden: See `read_lines`.
    """

    def __init__(
        self, styles: Styles, unclosed: Collection[str], *, document: bool, hidden: bool
    ) -> None:
        self._styles = styles
        self._unclosed = unclosed
        self._document = document
        self._hidden = hidden

    def is_unseen(self, element: Any) -> bool:
        """Tell whether an element is not read at all."""
        tag = element.tag
        if tag in _NEVER:
            return not (self._document and _is_tex(element))
        if tag in INSTEAD:
            return not self._hidden and not self._took_more(element)
        if self._document and tag in STRUCK:
            return not self._took_more(element)
        if element.get("aria-hidden") == "true" and _is_drawn_math(element):
            return True
        return not self._hidden and self._styles.hides(element)

    def read_piece(self, element: Any, before: str) -> str | None:
        """Return the text of an element that is one piece; None if it is none.

        Args:
            element: The element.
            before: The text before it.
        """
        if not self._document:
            return None
        tag = element.tag
        if tag in _READ:
            return _READ[tag](element)
        if tag in CONTROLS:
            return None if self._took_more(element) else _read_control(element)
        raised = {"sup": "super", "sub": "sub"}.get(tag) or self._styles.raises(element)
        if not raised:
            return None
        return write_raised("".join(element.itertext()), raised, before)

    def _took_more(self, element: Any) -> bool:
        """Tell whether an element holds text blocks only because nothing closes it."""
        if element.tag not in self._unclosed:
            return False
        return next(element.iter(*PARAGRAPHS), None) is not None


def _is_tex(element: Any) -> bool:
    """Tell whether an element holds an equation that a script draws."""
    kind = (element.get("type") or "").lower()
    return element.tag == "script" and kind.startswith("math/")


def _is_drawn_math(element: Any) -> bool:
    """Tell whether an element is the drawn form of an equation that is also markup."""
    parent = element.getparent()
    return parent is not None and next(parent.iter("math"), None) is not None


def _read_picture(element: Any) -> str | None:
    """Return the description of a picture of an equation, or of one alone in a cell."""
    said = " ".join((element.get("alt") or "").split())
    if _EQUATION.search(element.get("class") or ""):
        return said
    cell = next(element.iterancestors("td", "th"), None)
    if cell is None or len(said) > _LONGEST_MARK or "".join(cell.itertext()).strip():
        return None
    return said


def _read_control(element: Any) -> str | None:
    """Return the visible text of a field; empty for one that is only pressed.

    None for a button that is a heading, such as one that unfolds a text.
    """
    tag, get = element.tag, element.get
    if tag == "button":
        inside = any(outer.tag in _TITLES for outer in element.iterancestors())
        return None if inside or get("aria-expanded") is not None else ""
    if tag == "textarea":
        return _spaced("".join(element.itertext()))
    if tag == "select":
        options = [*element.iter("option")]
        chosen = [each for each in options if _has(each, "selected")]
        if not chosen and not _is_list(element):
            chosen = [each for each in options if not _has(each, "disabled")][:1]
        return _spaced(", ".join(_text(each) for each in chosen))
    if tag != "input":
        return ""
    kind = (get("type") or "").lower()
    if kind in {"checkbox", "radio"}:
        return "☒ " if _has(element, "checked") else "☐ "
    return _spaced(get("value") or "") if kind in _TYPED else ""


def _is_list(select: Any) -> bool:
    """Tell whether a field shows several of its options, or lets one choose many."""
    return _has(select, "multiple") or (select.get("size") or "1").strip() != "1"


def _has(element: Any, name: str) -> bool:
    return element.get(name) is not None


def _text(element: Any) -> str:
    return _SPACE.sub(" ", "".join(element.itertext())).strip()


def _spaced(text: str) -> str:
    text = text.strip()
    return f" {text} " if text else ""


_READ: dict[str, Callable[[Any], str | None]] = {
    "img": _read_picture,
    "math": write_page_math,
    "script": lambda element: element.text or "",
}
"""Functions that read the elements that hold an equation."""
