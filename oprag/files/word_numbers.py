"""Numbers of paragraphs in a Word file, as Word shows them: `1.`, `2.3`, `(a)`."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from oprag.files.html_lists import write_number

W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_VALUE = f"{W}val"
_LEVELS = 9
_FORMATS = {
    "decimalZero": "01",
    "lowerLetter": "a",
    "upperLetter": "A",
    "lowerRoman": "i",
    "upperRoman": "I",
    **dict.fromkeys(("chineseCounting", "chineseCountingThousand"), "一"),
    **dict.fromkeys(("japaneseCounting", "taiwaneseCounting"), "一"),
    "ideographTraditional": "甲",
    "taiwaneseCountingThousand": "一",
    "ideographZodiac": "子",
    "decimalEnclosedCircle": "①",
    "decimalEnclosedCircleChinese": "①",
    "russianLower": "а",
    "russianUpper": "А",
}
_LEVEL_MARK = re.compile(r"%([1-9])")
_MOST_STYLES = 20
"""Longest chain of styles based on one another, as files may hold a circle."""


class _Level(NamedTuple):
    """How the paragraphs of one level of a list are numbered."""

    kind: str
    text: str
    """`%1.%2`: the numbers of levels with the text around them."""
    start: int
    plain: bool
    """Whether all numbers are written as digits."""
    restarts: int
    """The lowest level whose paragraphs let this one begin anew, as do those of the
    levels above it. Counted from 1; 0 for none."""


class Numbering:
    """The lists of a Word file, and how far each is counted.

    Args:
        numbering: The element of `numbering.xml`; None without.
        styles: That of `styles.xml`; None without.
    """

    def __init__(self, numbering: Any, styles: Any) -> None:
        self._styles = {} if styles is None else _by_id(styles, "style", "styleId")
        of_lists = {} if numbering is None else _by_id(numbering, "num", "numId")
        self._lists = of_lists
        self._abstract = (
            {}
            if numbering is None
            else _by_id(numbering, "abstractNum", "abstractNumId")
        )
        self._counts: dict[str, list[int | None]] = {}
        self._begun: set[tuple[str, int]] = set()

    def take_number(self, paragraph: Any) -> str:
        """Return the number of the next paragraph; empty for a bullet and for none.

        The paragraph then no longer says that it has one.
        """
        properties = paragraph.find(f"{W}pPr")
        if properties is None:
            return ""
        number, level = self._find(properties)
        found = self._list_of(number)
        if found is None or not 0 <= level < _LEVELS:
            return ""
        key, abstract = found
        shape = self._level(number, abstract, level)
        if shape is None or shape.kind == "bullet" or not shape.text:
            return ""
        own = properties.find(f"{W}numPr")
        if own is not None:
            properties.remove(own)
        self._count(key, number, abstract, level, shape)
        return self._write(key, number, abstract, shape)

    def _find(self, properties: Any) -> tuple[str, int]:
        """Return the list and the level of a paragraph, its own or its style's."""
        number, level = _read_reference(properties)
        style_id = _value(properties, "pStyle")
        for _ in range(_MOST_STYLES):
            style = self._styles.get(style_id)
            if style is None or number:
                break
            inner = style.find(f"{W}pPr")
            if inner is not None:
                number, of_style = _read_reference(inner)
                level = of_style if level is None else level
                if number and level is None:
                    level = self._level_of_style(number, style_id)
            style_id = _value(style, "basedOn")
        return number, level or 0

    def _level_of_style(self, number: str, style_id: str) -> int | None:
        found = self._list_of(number)
        for level in [] if found is None else found[1].iterchildren(f"{W}lvl"):
            if _value(level, "pStyle") == style_id:
                return _as_int(level.get(f"{W}ilvl"), 0)
        return None

    def _list_of(self, number: str) -> tuple[str, Any] | None:
        """Return key and element of the abstract list of a list."""
        for _ in range(_MOST_STYLES):
            element = self._lists.get(number)
            key = "" if element is None else _value(element, "abstractNumId")
            abstract = self._abstract.get(key)
            if abstract is None:
                return None
            linked = self._styles.get(_value(abstract, "numStyleLink"))
            if linked is None or linked.find(f"{W}pPr") is None:
                return key, abstract
            number = _read_reference(linked.find(f"{W}pPr"))[0]
        return None

    def _level(self, number: str, abstract: Any, level: int) -> _Level | None:
        element = _child(abstract, "lvl", level)
        start = None
        override = _child(self._lists.get(number), "lvlOverride", level)
        if override is not None:
            own = override.find(f"{W}lvl")
            element = element if own is None else own
            start = _value(override, "startOverride") or None
        if element is None:
            return None
        return _Level(
            _value(element, "numFmt") or "decimal",
            _value(element, "lvlText"),
            _as_int(start or _value(element, "start"), 1),
            element.find(f"{W}isLgl") is not None,
            _as_int(_value(element, "lvlRestart"), level),
        )

    def _count(
        self, key: str, number: str, abstract: Any, level: int, shape: _Level
    ) -> None:
        counts = self._counts.setdefault(key, [None] * _LEVELS)
        override = _child(self._lists.get(number), "lvlOverride", level)
        restarts = override is not None and _value(override, "startOverride")
        if restarts and (number, level) not in self._begun:
            counts[level] = None
        self._begun.add((number, level))
        last = counts[level]
        counts[level] = shape.start if last is None else last + 1
        for inner in range(level + 1, _LEVELS):
            other = None
            if counts[inner] is not None:
                other = self._level(number, abstract, inner)
            if other is None or level < other.restarts:
                counts[inner] = None

    def _write(self, key: str, number: str, abstract: Any, shape: _Level) -> str:
        counts = self._counts[key]

        def write(match: re.Match[str]) -> str:
            at = int(match[1]) - 1
            level = self._level(number, abstract, at)
            count = counts[at]
            if count is None:
                count = 1 if level is None else level.start
            kind = "decimal" if level is None or shape.plain else level.kind
            if kind == "none":
                return ""
            ending = _ordinal_ending(count) if kind == "ordinal" else ""
            return write_number(count, _FORMATS.get(kind, "1")) + ending

        return _LEVEL_MARK.sub(write, shape.text).strip()


def _ordinal_ending(count: int) -> str:
    if count // 10 % 10 == 1:
        return "th"
    return {1: "st", 2: "nd", 3: "rd"}.get(count % 10, "th")


def _by_id(root: Any, tag: str, name: str) -> dict[str, Any]:
    return {each.get(f"{W}{name}"): each for each in root.iterchildren(f"{W}{tag}")}


def _child(element: Any, tag: str, level: int) -> Any:
    for each in [] if element is None else element.iterchildren(f"{W}{tag}"):
        if each.get(f"{W}ilvl") == str(level):
            return each
    return None


def _read_reference(properties: Any) -> tuple[str, int | None]:
    element = properties.find(f"{W}numPr")
    if element is None:
        return "", None
    level = _value(element, "ilvl")
    return _value(element, "numId"), _as_int(level, 0) if level else None


def _value(element: Any, tag: str) -> str:
    found = element.find(f"{W}{tag}")
    return "" if found is None else found.get(_VALUE) or ""


def _as_int(value: str | None, default: int) -> int:
    try:
        return int(value or "")
    except ValueError:
        return default
