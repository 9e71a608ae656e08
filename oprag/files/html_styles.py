"""A page's own styles, as far as they hide, strike, raise and number its text."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from oprag.files.html_attributes import AttributeSelector, take_attributes

_CLEAR = re.compile(
    r"(?<!-)color\s*:\s*(?:transparent|#(?:[\da-f]{3}0|[\da-f]{6}00)(?![\da-f])"
    r"|(?:rgb|hsl)a?\((?:(?:[^),]*,){3}|[^)]*/)\s*0(?:\.0+)?%?\s*\))",
    re.IGNORECASE,
)
_HIDES = re.compile(
    r"(?<![\w-])(?:display\s*:\s*none|visibility\s*:\s*(?:hidden|collapse)"
    r"|content-visibility\s*:\s*hidden|font-size\s*:\s*0(?:\.0+)?(?![.\d])"
    rf"|{_CLEAR.pattern}"
    r"|text-decoration[\w-]*\s*:[^;]*line-through"
    r"|(?:left|right|top|text-indent|margin-left)\s*:\s*-\d{4,}"
    r"|clip\s*:\s*rect\s*\(\s*(?:0|1px)[\s,]|clip-path\s*:\s*inset\s*\(\s*(?:50|100)%)",
    re.IGNORECASE,
)
_SHOWS = re.compile(
    r"(?<![\w-])(?:display|visibility|text-decoration[\w-]*|clip)\s*:", re.IGNORECASE
)
_FADES = re.compile(
    r"(?<![\w-])opacity\s*:\s*0(?:\.0+)?(?![.\d])"
    r"|(?<![\w-])filter\s*:[^;]*opacity\(\s*0(?:\.0+)?%?\s*\)",
    re.IGNORECASE,
)
_FLAT = re.compile(
    r"(?<![\w-])(?:max-)?height\s*:\s*0(?:px)?\s*(?:;|\Z)", re.IGNORECASE
)
_MOVES = re.compile(
    r"transform|transition|animation|will-change|background-clip", re.IGNORECASE
)
"""With these a hidden text comes into sight later, or is filled with a picture."""
_SHRUNK = re.compile(r"(?<![\w-])transform\s*:[^;]*scale\s*\(\s*0\s*\)", re.IGNORECASE)
_GROWS = re.compile(r"transition|animation|will-change", re.IGNORECASE)
_RAISES = re.compile(r"vertical-align\s*:\s*(super|sub)(?!\w)", re.IGNORECASE)
_NUMBERS = re.compile(r"list-style(?:-type)?\s*:\s*([^;]+)", re.IGNORECASE)
_FOR_SCREENS = re.compile(
    r"@(?:media\s+(?:only\s+)?(?:screen|all)|layer(?:\s+[\w.-]+)?)\s*\{((?:[^{}]*\{[^{}]*\})*[^{}]*)\}",
    re.IGNORECASE,
)
_AT_RULE = re.compile(r"@[^{;]*(?:;|\{(?:[^{}]*\{[^{}]*\})*[^{}]*\})")
_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
_RULE = re.compile(r"([^{}]*)\{([^{}]*)\}")
_DECLARATION = re.compile(r"([\w-]+)\s*:([^;]*)")
_COMPOUND = re.compile(r"([A-Za-z][\w-]*|\*)?((?:[.#][\w-]+|\[\d+\])*)\Z")
_NAME = re.compile(r"[.#][\w-]+")
_NUMBER = re.compile(r"\[(\d+)\]")
_SAYS = (_HIDES, _SHOWS, _NUMBERS, _RAISES)
_COLOUR = re.compile(
    r"(?:^|[;\s])(background(?:-color)?|color)\s*:\s*([#\w(),.% ]+?)\s*"
    r"(?:!important\s*)?(?=;|\Z)",
    re.IGNORECASE,
)
_ID, _CLASS = 100, 10
"""Weight of an id and of a class in a selector, by the standard."""


class _Compound(NamedTuple):
    """An element in a selector: `p.note`."""

    tag: str
    names: frozenset[str]
    attributes: tuple[AttributeSelector, ...]
    is_child: bool
    """Whether it has to be right inside the one before it."""

    def fits(self, element: Any) -> bool:
        has_names = self.tag in {"", element.tag} and self.names <= _names_of(element)
        return has_names and all(each.fits(element) for each in self.attributes)


class _Rule(NamedTuple):
    """A rule for elements, with the selector that finds them."""

    weight: int
    order: int
    path: tuple[_Compound, ...]
    """The element, last, and those that it has to be in."""
    said: str


class Styles:
    """The rules of a page that change which text is seen.

    Rules for some screens alone, and selectors of more than tags, classes, ids and
    attributes, are not followed: a text that may be seen is read.

    Args:
        root: The page's element; None for no rules but an element's own.
    """

    def __init__(self, root: Any) -> None:
        self._rules: dict[str, list[_Rule]] = {}
        self._count = 0
        self._raises = False
        for style in () if root is None else root.iter("style"):
            text = _FOR_SCREENS.sub(r"\1", _COMMENT.sub("", style.text or ""))
            for selectors, said in _RULE.findall(_AT_RULE.sub("", text)):
                if any(each.search(said) for each in _SAYS):
                    self._add(selectors, said)
                    self._raises |= bool(_RAISES.search(said))

    def _add(self, selectors: str, said: str) -> None:
        written, attributes = take_attributes(selectors)
        for selector in written.split(","):
            path = _read_path(selector, attributes)
            if not path:
                continue
            weight = sum(map(_weigh, path))
            key = min(path[-1].names, default=path[-1].tag)
            rule = _Rule(weight, self._count, path, said)
            self._rules.setdefault(key, []).append(rule)
            self._count += 1

    def hides(self, element: Any) -> bool:
        """Tell whether an element is hidden, or its text struck."""
        own = element.get("style") or ""
        if element.get("hidden") is not None:
            return True
        if own and not _MOVES.search(own):
            is_flat = "overflow" in own and _FLAT.search(own)
            if is_flat or _FADES.search(own) or _has_one_colour(own):
                return True
        if _SHRUNK.search(own) and not _GROWS.search(own):
            return True
        said = self._said_of(element, own)
        if not any(map(_HIDES.search, said)):
            return False
        holds = _choose(said)
        is_later_seen = _CLEAR.search(holds) and _MOVES.search(holds)
        return bool(_HIDES.search(holds)) and not is_later_seen

    def numbers(self, element: Any) -> str:
        """Return how the items of a list are numbered; empty if no style says it."""
        for said in self._said_of(element, element.get("style") or ""):
            found = _NUMBERS.search(said)
            if found is not None:
                return found[1].strip().lower()
        return ""

    def raises(self, element: Any) -> str:
        """Return `super` or `sub` for an element that is raised or lowered."""
        own = element.get("style") or ""
        for said in self._said_of(element, own) if self._raises else [own]:
            found = _RAISES.search(said)
            if found is not None:
                return found[1].lower()
        return ""

    def _said_of(self, element: Any, own: str) -> Sequence[str]:
        """Return the declarations for an element, the one that counts most first."""
        if not self._rules:
            return [own]
        names = _names_of(element)
        found = [
            rule
            for name in (*names, element.tag, "")
            for rule in self._rules.get(name, ())
            if _fits(rule.path, element)
        ]
        found.sort(key=lambda rule: (rule.weight, rule.order), reverse=True)
        return [own, *(rule.said for rule in found)]


def _choose(said: Sequence[str]) -> str:
    """Return of several declarations of one property the one that holds.

    Args:
        said: The declarations of each rule for an element, as they count.
    """
    holds: dict[str, str] = {}
    for is_important in (True, False):
        for rule in said:
            for name, value in reversed(_DECLARATION.findall(rule)):
                if ("!" in value) is is_important:
                    name = name.lower().replace("decoration-line", "decoration")  # noqa: PLW2901
                    holds.setdefault(name, value.strip())
    return ";".join(f"{name}:{value}" for name, value in holds.items())


def _has_one_colour(said: str) -> bool:
    """Tell whether a text has the colour of its background."""
    found = {name.lower()[:10]: value for name, value in _COLOUR.findall(said)}
    return "color" in found and found["color"] == found.get("background")


def _names_of(element: Any) -> set[str]:
    names = {f".{name}" for name in (element.get("class") or "").split()}
    own = element.get("id")
    return names | {f"#{own}"} if own else names


def _weigh(part: _Compound) -> int:
    ids = sum(name.startswith("#") for name in part.names)
    others = len(part.names) - ids + len(part.attributes)
    return ids * _ID + others * _CLASS + (part.tag != "")


def _read_path(
    selector: str, attributes: Sequence[AttributeSelector]
) -> tuple[_Compound, ...]:
    """Return the elements of a selector; none if it has other marks."""
    path: list[_Compound] = []
    is_child = False
    for part in selector.replace(">", " > ").split():
        if part == ">":
            is_child = True
            continue
        match = _COMPOUND.match(part)
        if match is None:
            return ()
        tag = (match[1] or "").lower().replace("*", "")
        names = frozenset(_NAME.findall(match[2]))
        found = tuple(attributes[int(at)] for at in _NUMBER.findall(match[2]))
        path.append(_Compound(tag, names, found, is_child))
        is_child = False
    return tuple(path)


def _fits(path: Sequence[_Compound], element: Any) -> bool:
    if not path[-1].fits(element):
        return False
    outer = path[:-1]
    if not outer:
        return True
    for each in element.iterancestors():
        if _fits(outer, each):
            return True
        if path[-1].is_child:
            return False
    return False
