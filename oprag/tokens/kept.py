"""Counts kept by text, so that no text is counted twice."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from threading import Lock

_CHARACTERS = 16_000_000
_OVERHEAD = 100
"""Characters that an entry takes beside its text, about."""


class KeptCounts:
    """Counts of texts, for any number of threads.

    Texts of up to 16 million characters are held; then those used longest ago go.
    """

    def __init__(self) -> None:
        self._recent: dict[tuple[Hashable, str], int] = {}
        self._earlier: dict[tuple[Hashable, str], int] = {}
        self._held = 0
        self._lock = Lock()

    def get(self, text: str, of: Hashable, count: Callable[[str], int]) -> int:
        """Return what a counter gave for a text before, or count it now."""
        key = of, text
        made = self._recent.get(key)
        if made is not None:
            return made
        made = self._earlier.get(key)
        if made is None:
            made = count(text)
        with self._lock:
            self._held += len(text) + _OVERHEAD
            if self._held > _CHARACTERS // 2:
                self._held = len(text) + _OVERHEAD
                self._recent, self._earlier = {}, self._recent
            if self._held <= _CHARACTERS // 2:
                self._recent[key] = made
        return made
