"""Tokens as open-domain question answering compares them, and runs of them."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from itertools import groupby

_WORD = "LNM"
_UNSEEN = "ZC"


def plain_tokens(text: str) -> list[str]:
    """Split a text into lower-case tokens; articles and punctuation stay.

    The text is brought to Unicode NFD. A token is the longest run of letters,
    digits and marks, or one other visible character. Blanks and control characters
    (categories Z and C) only separate.

    Source:
        DPR's `SimpleTokenizer`, as LongRAG (arXiv:2406.15319) uses it.
    """
    tokens: list[str] = []
    marked = unicodedata.normalize("NFD", text)
    for kind, run in groupby(marked, key=_kind):
        if kind == _WORD:
            tokens.append("".join(run).lower())
        elif kind != _UNSEEN:
            tokens.extend(character.lower() for character in run)
    return tokens


def _kind(character: str) -> str:
    category = unicodedata.category(character)[0]
    if category in _WORD:
        return _WORD
    return _UNSEEN if category in _UNSEEN else ""


def run_text(tokens: Iterable[str]) -> str:
    """Tokens as text in which a run of them can be searched for as a string.

    No token holds a blank, so blanks around each keep the runs on their borders.
    """
    return f" {' '.join(tokens)} "


def holds_run(tokens: str, run: Sequence[str]) -> bool:
    """Say whether tokens (as `run_text` gives them) hold a non-empty run."""
    return bool(run) and run_text(run) in tokens
