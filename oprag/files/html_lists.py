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
_CHINESE = "〇一二三四五六七八九"
_STEMS = {
    "甲": "甲乙丙丁戊己庚辛壬癸",
    "子": "子丑寅卯辰巳午未申酉戌亥",
    "①": "①②③④⑤⑥⑦⑧⑨⑩⑪⑫⑬⑭⑮⑯⑰⑱⑲⑳",
}
"""Signs that count as far as they go."""
_KINDS = {
    "cjk-earthly-branch": "子",
    "cjk-heavenly-stem": "甲",
    "cjk-ideographic": "一",
    "simp-chinese-informal": "一",
    "trad-chinese-informal": "一",
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
    """Write a number as digits (`1`, `01`), letters (`a`, `A`) or Roman (`i`, `I`).

    Or in Chinese (`一`, `甲`, `子`) or in circles (`①`).
    """
    stems = _STEMS.get(kind, "")
    if 0 < number <= len(stems):
        return stems[number - 1]
    if kind == "一" and 0 < number < 100:  # noqa: PLR2004 -- tens and ones
        return _write_chinese(number)
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


def _write_chinese(number: int) -> str:
    tens, ones = divmod(number, 10)
    if tens == 0:
        return _CHINESE[ones]
    first = _CHINESE[tens] if tens > 1 else ""
    return f"{first}十{_CHINESE[ones] if ones else ''}"


def _as_int(value: str | None, default: int) -> int:
    try:
        return int(value or "")
    except ValueError:
        return default
