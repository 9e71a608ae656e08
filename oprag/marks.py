r"""Marks that are written between texts, and texts that no mark can be mistaken for.

The passages that a model reads have lines of ours: `[1] contract.txt, characters 0-120`
before a passage, `[…]` for a gap, `[see above: [1]]`. A line of a text may begin in the
same way: footnotes and lists of references do, also quoted, or with brackets of other
scripts. Such a line is written with a backslash before its bracket, as Markdown writes
a bracket without a meaning. If a text has a backslash before such a bracket, it gets
one more. So a line that begins as a mark is one, and the text can be read back. All
other text is written unchanged: a prompt stays as short as before, and the same text is
written alike each time.
"""

from __future__ import annotations

import re

GAP_MARK = "[…]"
"""The mark in the place of text that was left out."""
SEE_ABOVE = "[see above"
"""The beginning of the line that names passages which were shown before."""
LINE_ENDS = "\n\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029"
"""Characters that end a line for any reader."""

_INVISIBLE = (
    "\\s\x00-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f"
    "\u200b-\u200f\u202a-\u202e\u2060-\u206f\u2800\u3164\ufe00-\ufe0f\ufeff\uffa0"
    "\U000e0000-\U000e0fff"
)
"""Blanks and hardly visible characters, as a set of `re`."""
_SKIP = rf"[{_INVISIBLE}]{{0,9}}"
_OPEN, _CLOSE = "[\\[［【〔〖⁅❲⟦]", "[\\]］】〕〗⁆❳⟧]"
"""Brackets, and characters that are read as brackets."""
_DIGITS = "[\\d⁰¹²³⁴-⁹①-⑳]{1,12}"
_MARK = re.compile(
    rf"{_OPEN}{_SKIP}(?:(?:(?:Chunk{_SKIP})?{_DIGITS}|…|\.\.\.){_SKIP}{_CLOSE}"
    rf"|see{_SKIP}above|too long to show|goes on at character)",
    re.IGNORECASE,
)
_UNSEEN = re.compile(f"[{_INVISIBLE}]")
_SIGN_BEFORE = re.compile(
    r"""(?:[>*+#|_~`=•‣◦▪·–—"'“”„‘’«»(\[{\-]|(?<!\w)(?:\d{1,3}|[a-z])[.):])\Z"""
)
"""A sign before a quotation, an entry of a list, or an emphasized text."""
_LONGEST_SIGN = 5
_LONGEST = 64
"""The most characters that a mark takes until its kind is clear."""


def escape_marks(text: str, separator: str = "\n\n") -> str:
    r"""Write a text so that none of its lines begins as a mark does.

    Args:
        text: The text of a document.
        separator: The string between two texts. If it does not end a line, a mark may
            stand right after it. So marks of the text after such a separator get a
            backslash, too.

    Returns:
        The text. A bracket that would begin a mark has a backslash before it. If it had
        one already, it gets one more, whatever stands before that.

    Example:
        >>> print(escape_marks("As shown before [5].\n[5] Smith 2019, characters 0-10"))
        As shown before [5].
        \[5] Smith 2019, characters 0-10
    """
    inline = "" if separator[-1:] in {*LINE_ENDS} else separator
    written, at = [], 0
    for found in _MARK.finditer(text):
        place = found.start()
        if text[place - 1 : place] == "\\" or _begins_line(text, place, inline):
            written += [text[at:place], "\\"]
            at = place
    return "".join([*written, text[at:]]) if written else text


def unescape_marks(text: str) -> str:
    """Return the text from which `escape_marks` wrote this one."""
    read, at = [], 0
    for place in _find_escapes(text):
        read.append(text[at:place])
        at = place + 1
    return "".join([*read, text[at:]]) if read else text


def length_written(text: str, start: int, length: int) -> int:
    """Return how many characters a text of some length takes when it is written.

    Args:
        text: A text with marks.
        start: The index in it at which the text without marks begins.
        length: The length of that text in its document.
    """
    added = 0
    while True:
        part = text[start : start + length + added + _LONGEST]
        # Each backslash before a bracket moves it one further than in its document.
        of_text = [p for n, p in enumerate(_find_escapes(part)) if p - n < length]
        if len(of_text) == added:
            return length + added
        added = len(of_text)


def _find_escapes(text: str) -> list[int]:
    """Return the places of the backslashes written before brackets of marks."""
    return [
        found.start() - 1
        for found in _MARK.finditer(text)
        if text[found.start() - 1 : found.start()] == "\\"
    ]


def _begins_line(text: str, place: int, separator: str) -> bool:
    """Return whether only signs of quotations and lists stand before a place."""
    while place and text[place - 1] not in LINE_ENDS:
        if separator and text.endswith(separator, 0, place):
            return True
        if _UNSEEN.match(text[place - 1]) is None:
            sign = _SIGN_BEFORE.search(text, max(0, place - _LONGEST_SIGN), place)
            if sign is None:
                return False
            place = sign.start()
        else:
            place -= 1
    return True
