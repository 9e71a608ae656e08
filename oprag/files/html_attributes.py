"""Selectors of styles that find elements by their attributes: `p[lang|="en"]`."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, NamedTuple

_SELECTOR = re.compile(
    r"\[\s*([\w-]+)\s*(?:([~|^$*]?=)\s*(?:\"([^\"]*)\"|'([^']*)'|([\w-]+))"
    r"\s*([is]?)\s*)?\]",
    re.IGNORECASE,
)
_CLOAK = re.compile(r"cloak\Z")
"""Ends the name of an attribute that a script removes as soon as it has begun."""
_ANY_CASE = frozenset(("align", "dir", "lang", "method", "rel", "type"))
"""Attributes whose values are the same in capital letters, by the HTML standard."""
_PARTS = frozenset(("^=", "$=", "*="))
_COMPARE: dict[str, Callable[[str, str], bool]] = {
    "=": lambda own, wanted: own == wanted,
    "~=": lambda own, wanted: wanted in own.split(),
    "|=": lambda own, wanted: own == wanted or own.startswith(f"{wanted}-"),
    "^=": lambda own, wanted: own.startswith(wanted),
    "$=": lambda own, wanted: own.endswith(wanted),
    "*=": lambda own, wanted: wanted in own,
}


class AttributeSelector(NamedTuple):
    """An attribute that an element has to have, and its value."""

    name: str
    sign: str
    """How the value is compared, as styles write it; empty for any value."""
    value: str
    any_case: bool

    def fits(self, element: Any) -> bool:
        """Tell whether an element has the attribute."""
        own = element.get(self.name)
        if own is None or not self.sign:
            return own is not None
        wanted = self.value
        if self.any_case:
            own, wanted = own.lower(), wanted.lower()
        if self.sign in _PARTS and not wanted:
            return False
        return _COMPARE[self.sign](own, wanted)


def take_attributes(selectors: str) -> tuple[str, list[AttributeSelector]]:
    """Take the attributes out of selectors, as their values may hold any mark.

    Returns:
        The selectors with `[0]`, `[1]`, ... in their places, and the attributes. One
        that cannot be read, or that scripts soon remove, stays as it was written.
    """
    found: list[AttributeSelector] = []

    def take(match: re.Match[str]) -> str:
        name, sign = match[1].lower(), match[2] or ""
        if _CLOAK.search(name):
            return match[0]
        value = match[3] or match[4] or match[5] or ""
        any_case = match[6] in {"i", "I"} or (name in _ANY_CASE and not match[6])
        found.append(AttributeSelector(name, sign, value, any_case))
        return f"[{len(found) - 1}]"

    return _SELECTOR.sub(take, selectors), found
