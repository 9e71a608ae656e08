"""Two texts at once, in two threads."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

_LONG = "a" * 20_000_000


def at_once(function: Callable[[str], object], texts: Sequence[str]) -> list[object]:
    """Apply a function to texts, each in a thread of its own."""
    with ThreadPoolExecutor(len(texts)) as pool:
        return list(pool.map(function, texts))


def work_for_two() -> object:
    """Keep two processors busy, if they are free: nothing here waits for Python."""
    return at_once(lambda text: hashlib.sha256(text.encode()).digest(), [_LONG] * 2)


def halves(text: str) -> list[str]:
    """Cut a text between two paragraphs, about in the middle."""
    middle = text.find("\n\n", len(text) // 2)
    place = middle if middle >= 0 else len(text) // 2
    return [text[:place], text[place:]]
