"""Chunks of a store of any size: the first in memory, all others in a temporary file.

An examination looks at documents one after the other, and a store gives their chunks in
any order. So a store is read once, and each chunk is read again where it is needed.
"""

from __future__ import annotations

import pickle
import tempfile
import weakref
from array import array
from collections.abc import Iterable, Iterator, Sequence
from typing import IO, Any, TypeVar, overload

from oprag.diagnosing.checks import Examined, examine
from oprag.documents import StoredChunk

T = TypeVar("T")

IN_MEMORY = 10_000
"""Chunks that are kept as they are: some 20 MB."""


class Spooled(Sequence[T]):
    """A list of any length.

    The file has no name, or is gone when it is closed: it is read by this process
    alone, and nothing of it outlives the process. What cannot be written stays in
    memory.

    Args:
        items: Those to begin with.
        in_memory: How many are kept in memory.
    """

    def __init__(self, items: Iterable[T] = (), in_memory: int = IN_MEMORY) -> None:
        self._in_memory = in_memory
        self._first: list[T] = []
        self._kept: dict[int, T] = {}
        self._file: IO[bytes] | None = None
        self._ends = array("Q", [0])
        for item in items:
            self.append(item)

    def append(self, item: T) -> None:
        """Put one behind the others."""
        if len(self._first) < self._in_memory:
            self._first.append(item)
            return
        written = self._written(item)
        if not written:
            self._kept[len(self)] = item
        if self._file is None:
            self._file = tempfile.TemporaryFile(prefix="oprag-doctor-")  # noqa: SIM115 -- see the next line
            weakref.finalize(self, self._file.close)
        self._file.seek(self._ends[-1])
        self._file.write(written)
        self._ends.append(self._ends[-1] + len(written))

    def whole(self) -> Sequence[T]:
        """Return a tuple where all are in memory, else the list itself."""
        return self if len(self) > len(self._first) else tuple(self._first)

    def __len__(self) -> int:
        return len(self._first) + len(self._ends) - 1

    @overload
    def __getitem__(self, number: int) -> T: ...
    @overload
    def __getitem__(self, number: slice) -> list[T]: ...
    def __getitem__(self, number: int | slice) -> T | list[T]:
        if isinstance(number, slice):
            return [self[i] for i in range(len(self))[number]]
        number = range(len(self))[number]
        if number < len(self._first):
            return self._first[number]
        if number in self._kept or self._file is None:
            return self._kept[number]
        at = number - len(self._first)
        self._file.seek(self._ends[at])
        written = self._file.read(self._ends[at + 1] - self._ends[at])
        return self._read(pickle.loads(written))  # noqa: S301 -- what this process wrote

    def __iter__(self) -> Iterator[T]:
        return map(self.__getitem__, range(len(self)))

    def _written(self, item: T) -> bytes:
        """What is written of one; nothing where it has to stay as it is."""
        return _pickled(item)

    def _read(self, written: Any) -> T:
        """One again, of what was written."""
        item: T = written
        return item


class SpooledChunks(Spooled[Examined]):
    """Chunks under examination, in the order of the store.

    A framework's own objects stay where they are: the caller has them in memory.
    """

    def _written(self, item: Examined) -> bytes:
        stored = item.hit.source
        if not isinstance(stored, StoredChunk):
            return b""
        return _pickled((stored.text, stored.metadata, stored.id))

    def _read(self, written: Any) -> Examined:
        return examine(StoredChunk(*written))


def _pickled(item: object) -> bytes:
    try:
        return pickle.dumps(item, protocol=5)
    except (pickle.PicklingError, TypeError, AttributeError):
        return b""
