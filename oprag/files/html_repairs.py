"""Pages with mistakes that would hide their body: elements that are never closed."""

from __future__ import annotations

import re
from collections import Counter

_RAW = ("iframe", "noembed", "noframes", "script", "style", "textarea", "title", "xmp")
"""Elements in which no other can be: one that is not closed takes the rest."""
_BLOCK = re.compile(
    r"<(?:article|body|div|dl|fieldset|footer|form|h[1-6]|header|main|nav|ol|p|section"
    r"|table|ul)\b",
    re.IGNORECASE,
)
_END = re.compile(r"</(?:body|html)\s*>", re.IGNORECASE)
"""End tags that no page needs; text after them is shown."""
_CLOSED_LATE = re.compile(
    r"<(/?)(audio|button|canvas|del|dialog|math|noscript|object|s|select|strike|svg"
    r"|template|video)\b(?![-.:])",
    re.IGNORECASE,
)
_TAG = re.compile(r"<(/?)([A-Za-z][\w:-]*)[^<>]*>")
_ALONE = frozenset(
    (
        *("area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta"),
        *("param", "source", "track", "wbr", "p", "li", "td", "th", "tr", "dd", "dt"),
    )
)
"""Elements that need no end."""
_DEEPEST = 200
"""Levels of nested elements that are kept if a page has too many."""


def close_elements(page: str) -> str:
    """Close comments and elements that would take the rest of a page as their own.

    Each ends before the next block of text.
    """
    page = _END.sub("", page)
    lower = page.lower()
    for start, end in (("<!--", "-->"), *((f"<{tag}", f"</{tag}") for tag in _RAW)):
        at = lower.rfind(start)
        if at < 0 or lower.find(end, at) >= 0 or lower[at + len(start) :][:1].isalnum():
            continue
        block = _BLOCK.search(page, at + len(start))
        if block is not None:
            closing = end if end.endswith(">") else f"{end}>"
            page = f"{page[: block.start()]}{closing}{page[block.start() :]}"
            lower = page.lower()
    return page


def find_unclosed(page: str) -> frozenset[str]:
    """Return the tags that a page opens more often than it closes them.

    Only those of elements whose text is not read are looked for: text that stands in
    them by mistake is read all the same.
    """
    balance: Counter[str] = Counter()
    for slash, tag in _CLOSED_LATE.findall(page):
        balance[tag.lower()] += -1 if slash else 1
    return frozenset(tag for tag, count in balance.items() if count > 0)


def flatten(page: str) -> str:
    """Leave out the tags of elements that are too deep in one another to be parsed."""
    depth = 0

    def keep(match: re.Match[str]) -> str:
        nonlocal depth
        if match[2].lower() in _ALONE:
            return match[0] if depth < _DEEPEST else " "
        depth += -1 if match[1] else 1
        depth = max(depth, 0)
        return match[0] if depth < _DEEPEST else " "

    return _TAG.sub(keep, page)
