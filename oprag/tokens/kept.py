"""Values kept by text, so that no text is counted or cut twice."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from threading import Lock
from typing import Generic, TypeVar

_T = TypeVar("_T")

_CHARACTERS = 16_000_000
_OVERHEAD = 100
"""Characters that an entry takes beside its text, about."""


class Kept(Generic[_T]):
    """Values made of texts, for any number of threads.

    Texts of up to 16 million characters are held; then those used longest ago go.
    """

    def __init__(self) -> None:
        self._recent: dict[tuple[Hashable, str], _T] = {}
        self._earlier: dict[tuple[Hashable, str], _T] = {}
        self._held = 0
        self._lock = Lock()

    def get(self, text: str, of: Hashable, make: Callable[[str], _T]) -> _T:
        """Return what was made of a text before, or make it now.

        Args:
            text: The text.
            of: What else the value depends on.
            make: Makes it, and never None. Nothing is kept of a call that raises.
        """
        key = of, text
        made = self._recent.get(key)
        if made is not None:
            return made
        made = self._earlier.get(key)
        if made is None:
            made = make(text)
        with self._lock:
            self._held += len(text) + _OVERHEAD
            if self._held > _CHARACTERS // 2:
                self._held = len(text) + _OVERHEAD
                self._recent, self._earlier = {}, self._recent
            if self._held <= _CHARACTERS // 2:
                self._recent[key] = made
        return made
