"""How text of a Word file looks, by its styles too: hidden, raised, a heading."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from oprag.files.word_numbers import W

_HIDING = ("vanish", "dstrike", "strike")
_OFF = frozenset(("0", "false", "off"))
_MOST_STYLES = 20
"""Longest chain of styles based on one another, as files may hold a circle."""
_HEADINGS = 6
_VALUE = f"{W}val"


class Looks:
    """The styles of a Word file.

    Args:
        styles: The element of `styles.xml`; None without.
    """

    def __init__(self, styles: Any) -> None:
        found = [] if styles is None else styles.iterchildren(f"{W}style")
        self._styles = {style.get(f"{W}styleId"): style for style in found}

    def hides(self, run: Any) -> bool:
        """Tell whether text is hidden or struck."""
        return any(
            _first(self._run_properties(run), f"{W}{name}") not in {None, *_OFF}
            for name in _HIDING
        )

    def hides_mark(self, paragraph: Any) -> bool:
        """Tell whether the end of a paragraph is hidden, or was deleted."""
        own = [*paragraph.iterchildren(f"{W}pPr")]
        mark = own[0].find(f"{W}rPr") if own else None
        if mark is None:
            return False
        return mark.find(f"{W}del") is not None or self.hides(own[0])

    def raises(self, run: Any) -> str:
        """Return `superscript` or `subscript` for text that is raised or lowered."""
        properties = [*self._run_properties(run)]
        align = _first(properties, f"{W}vertAlign")
        if align is not None:
            return align if align != "baseline" else ""
        position = _first(properties, f"{W}position") or "0"
        if position.startswith("-"):
            return "subscript"
        return "superscript" if position.strip("0+") else ""

    def heading_of(self, paragraph: Any) -> int | None:
        """Return the level of a heading that is none by its own style's name.

        Its style is based on one of a heading, or its level is set by hand.
        """
        properties = paragraph.find(f"{W}pPr")
        if properties is None:
            return None
        chain = [*self._based_on(_value_of(properties, "pStyle"))]
        for style in chain:
            kind, _, level = _value_of(style, "name").lower().partition(" ")
            if kind == "heading" and level.isdecimal():
                return int(level) if int(level) <= _HEADINGS else None
        inner = [style.find(f"{W}pPr") for style in chain]
        outline = _first([properties, *inner], f"{W}outlineLvl") or ""
        is_level = outline.isdecimal() and int(outline) < _HEADINGS
        return int(outline) + 1 if is_level else None

    def _run_properties(self, run: Any) -> Iterator[Any]:
        """Return the properties of text, its own first, then those of its styles."""
        own = run.find(f"{W}rPr")
        if own is not None:
            yield own
            yield from self._inner(_value_of(own, "rStyle"))
        paragraph = next(run.iterancestors(f"{W}p"), None)
        properties = None if paragraph is None else paragraph.find(f"{W}pPr")
        if properties is not None:
            yield from self._inner(_value_of(properties, "pStyle"))

    def _inner(self, style_id: str) -> Iterator[Any]:
        for style in self._based_on(style_id):
            inner = style.find(f"{W}rPr")
            if inner is not None:
                yield inner

    def _based_on(self, style_id: str) -> Iterator[Any]:
        for _ in range(_MOST_STYLES):
            style = self._styles.get(style_id)
            if style is None:
                return
            yield style
            style_id = _value_of(style, "basedOn")


def _first(properties: Any, tag: str) -> str | None:
    """Return the value of a tag in the first properties with it, empty for no value."""
    for each in properties:
        found = None if each is None else each.find(tag)
        if found is not None:
            return found.get(_VALUE) or ""
    return None


def _value_of(element: Any, tag: str) -> str:
    found = element.find(f"{W}{tag}")
    return "" if found is None else found.get(_VALUE) or ""
