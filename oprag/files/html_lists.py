"""Numbers of list items, as a browser shows them."""

from __future__ import annotations

from typing import Any

from oprag.files.html_styles import Styles

_ROMAN = (
    *((1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc")),
    *((50, "l"), (40, "xl"), (10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i")),
)
_LARGEST_ROMAN = 3999
_ALPHABETS = {
    "a": "abcdefghijklmnopqrstuvwxyz",
    "A": "ABCDEFGHIJKLMNOPQRSTUVWXYZ",
    "α": "αβγδεζηθικλμνξοπρστυφχψω",
    "а": "абвгдежзиклмнопрстуфхцчшщыэюя",
    "А": "АБВГДЕЖЗИКЛМНОПРСТУФХЦЧШЩЫЭЮЯ",
}
_KINDS = {
    "decimal-leading-zero": "01",
    "lower-alpha": "a",
    "lower-greek": "α",
    "lower-latin": "a",
    "lower-roman": "i",
    "upper-alpha": "A",
    "upper-latin": "A",
    "upper-roman": "I",
    "decimal": "1",
}
_NO_NUMBER = frozenset(("none", "disc", "circle", "square"))


class ListNumbers:
    """Counts the items of ordered lists.

    Args:
        styles: The page's styles, which say how items are numbered.
    """

    def __init__(self, styles: Styles) -> None:
        self._styles = styles
        self._next: dict[Any, int] = {}

    def of(self, item: Any) -> str:
        """Return the number shown before an item; empty if it has none."""
        parent = next(item.iterancestors("ol", "ul", "menu"), None)
        if parent is None or parent.tag != "ol":
            return ""
        step = -1 if parent.get("reversed") is not None else 1
        if parent not in self._next:
            first = sum(each.tag == "li" for each in parent) if step < 0 else 1
            self._next[parent] = _as_int(parent.get("start"), first)
        number = _as_int(item.get("value"), self._next[parent])
        self._next[parent] = number + step
        kind = item.get("type") or parent.get("type") or "1"
        for word in (
            self._styles.numbers(item) or self._styles.numbers(parent)
        ).split():
            if word in _NO_NUMBER:
                return ""
            kind = _KINDS.get(word, kind)
        return f"{write_number(number, kind)}."


def write_number(number: int, kind: str) -> str:
    """Write a number as digits (`1`, `01`), letters (`a`, `A`) or Roman (`i`, `I`)."""
    letters = _ALPHABETS.get(kind)
    if letters and number > 0:
        text = ""
        while number > 0:
            number, rest = divmod(number - 1, len(letters))
            text = letters[rest] + text
        return text
    if kind == "01":
        return f"{number:02}"
    if kind in {"i", "I"} and 0 < number <= _LARGEST_ROMAN:
        text = ""
        for value, digits in _ROMAN:
            count, number = divmod(number, value)
            text += digits * count
        return text if kind == "i" else text.upper()
    return str(number)


def _as_int(value: str | None, default: int) -> int:
    try:
        return int(value or "")
    except ValueError:
        return default
