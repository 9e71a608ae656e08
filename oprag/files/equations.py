"""Equations and raised text in one line: `(a+b)/2`, `x^2`, `√(x)`.

Of Office files and of pages.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

OFFICE = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"
_APPLIED = "\u2061"
"""Joins the name of a function and its argument, unseen."""
_INTEGRAL = "∫"
_POWER = re.compile(
    r"[-+−]?[\d.,/]+|[-+−]?[nxmkij]|[-+−]?[\w.]{1,4}(?:[-+−*/][\w.]{1,4})+"
)
_DIGIT_LAST = re.compile(r"[\d)\]]\Z")

Part = Callable[[str], str]


def write_office_math(element: Any) -> str:
    """Write an equation of Word or PowerPoint."""
    kind = _name(element)
    if kind == "t":
        return (element.text or "").replace(_APPLIED, " ")
    pieces = [(_name(child), write_office_math(child)) for child in element]
    write = _OFFICE_WRITERS.get(kind)
    if write is None:
        return "".join(text for _, text in pieces)
    parts: dict[str, str] = {}
    for name, text in pieces:
        parts[name] = f"{parts[name]}, {text}" if name in parts else text
    properties = element.find(f"{OFFICE}{kind}Pr")
    for mark in () if properties is None else properties:
        parts[_name(mark)] = mark.get(f"{OFFICE}val") or ""
    return write(lambda name: parts.get(name, ""))


def write_page_math(element: Any) -> str:
    """Write an equation of a page (MathML)."""
    kind = _name(element)
    if not kind or kind in {"annotation", "annotation-xml"}:
        return ""
    parts = [write_page_math(child) for child in element]
    write = _PAGE_WRITERS.get(kind)
    if write is not None and len(parts) > 1:
        return write(parts)
    inner = "".join(parts)
    if kind == "msqrt":
        return f"√({inner})"
    between = ", " if kind in {"mtd", "mtr", "mlabeledtr"} else ""
    own = "" if parts else " ".join((element.text or "").split())
    return own.replace(_APPLIED, " ") + inner + between


def _name(element: Any) -> str:
    return element.tag.rpartition("}")[2] if isinstance(element.tag, str) else ""


def _write_fraction(part: Part) -> str:
    return f"{group(part('num'))}/{group(part('den'))}"


def _write_script(part: Part) -> str:
    return part("e") + _raise(part("sub"), part("sup"))


def _write_before(part: Part) -> str:
    return f"{_raise(part('sub'), part('sup'))} {part('e')}".strip()


def _write_root(part: Part) -> str:
    return f"{part('deg')}√({part('e')})"


def _write_sum(part: Part) -> str:
    sign = part("chr") or _INTEGRAL
    return f"{sign}{_raise(part('sub'), part('sup'))} {part('e')}"


def _write_brackets(part: Part) -> str:
    return f"{part('begChr') or '('}{part('e')}{part('endChr') or ')'}"


def _write_limit(part: Part) -> str:
    return f"{part('e')}_{group(part('lim'))}"


def _write_function(part: Part) -> str:
    name, argument = part("fName").strip(), part("e").strip()
    return f"{name} {argument}"


def _write_list(part: Part) -> str:
    return part("e")


def _write_matrix(part: Part) -> str:
    return part("mr")


_OFFICE_WRITERS: dict[str, Callable[[Part], str]] = {
    "d": _write_brackets,
    "eqArr": _write_list,
    "f": _write_fraction,
    "func": _write_function,
    "limLow": _write_limit,
    "limUpp": _write_limit,
    "m": _write_matrix,
    "mr": _write_list,
    "nary": _write_sum,
    "rad": _write_root,
    "sPre": _write_before,
    "sSub": _write_script,
    "sSubSup": _write_script,
    "sSup": _write_script,
}


def _write_both(parts: Sequence[str]) -> str:
    return parts[0] + _raise(parts[1], "".join(parts[2:]))


_PAGE_WRITERS: dict[str, Callable[[Sequence[str]], str]] = {
    "mfrac": lambda parts: f"{group(parts[0])}/{group(parts[1])}",
    "mroot": lambda parts: f"{parts[1]}√({parts[0]})",
    "msub": lambda parts: parts[0] + _raise(parts[1], ""),
    "msubsup": _write_both,
    "msup": lambda parts: parts[0] + _raise("", parts[1]),
    "munder": lambda parts: parts[0] + _raise(parts[1], ""),
    "munderover": _write_both,
    "semantics": lambda parts: parts[0],
}


def _raise(below: str, above: str) -> str:
    marks = (("_", below), ("^", above))
    return "".join(f"{mark}{group(text)}" for mark, text in marks if text)


def group(text: str) -> str:
    """Put a text that is longer than a word into brackets."""
    return text if len(text) == 1 or text.isalnum() else f"({text})"


def write_raised(text: str, raised: str, before: str) -> str:
    """Return raised or lowered text, so that 10 with a raised 6 is not 106.

    Args:
        text: The text.
        raised: `super` or `sub`.
        before: The text before it.
    """
    bare = text.strip()
    above = raised == "super"
    if _POWER.fullmatch(bare) and (above or _DIGIT_LAST.search(before)):
        return ("^" if above else "_") + (f"({bare})" if _is_sum(bare) else bare)
    return text


def _is_sum(text: str) -> bool:
    return any(sign in text[1:] for sign in "+−*-")
