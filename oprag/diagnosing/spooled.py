"""A list of any length: the first items in memory, all others in a temporary file."""

from __future__ import annotations

import os
import pickle
import tempfile
import weakref
from array import array
from collections.abc import Iterable, Sequence
from typing import IO, TypeVar, overload

T = TypeVar("T")

IN_MEMORY = 10_000
"""Items that are kept in memory: of chunks some 20 MB."""


class Spooled(Sequence[T]):
    """A list of any length.

    The file has no name, or is gone when it is closed: only this process reads it.
    What cannot be pickled stays in memory.

    Args:
        items: Those to begin with.
        in_memory: How many are kept in memory.
    """

    def __init__(self, items: Iterable[T] = (), in_memory: int = IN_MEMORY) -> None:
        self._in_memory = in_memory
        self._kept: list[T] = []
        self._file: IO[bytes] | None = None
        self._places = array("q")
        """Where each lies in the file; below zero, where in memory."""
        for item in items:
            self.append(item)

    def append(self, item: T) -> None:
        """Add one at the end."""
        written = _pickled(item) if len(self._kept) >= self._in_memory else b""
        if not written:
            self._kept.append(item)
            self._places.append(-len(self._kept))
            return
        if self._file is None:
            self._file = tempfile.TemporaryFile(prefix="oprag-doctor-")  # noqa: SIM115 -- see the next line
            weakref.finalize(self, self._file.close)
        self._places.append(self._file.seek(0, os.SEEK_END))
        self._file.write(written)

    def __len__(self) -> int:
        return len(self._places)

    @overload
    def __getitem__(self, number: int) -> T: ...
    @overload
    def __getitem__(self, number: slice) -> list[T]: ...
    def __getitem__(self, number: int | slice) -> T | list[T]:
        if isinstance(number, slice):
            return [self[i] for i in range(len(self))[number]]
        place = self._places[number]
        if place < 0 or self._file is None:
            return self._kept[-place - 1]
        self._file.seek(place)
        item: T = pickle.load(self._file)  # noqa: S301 -- this process wrote it
        return item


def _pickled(item: object) -> bytes:
    try:
        return pickle.dumps(item, protocol=5)
    except (pickle.PicklingError, TypeError, AttributeError):
        return b""
