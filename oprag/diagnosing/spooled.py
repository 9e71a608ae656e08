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
from typing import IO, overload

from oprag.diagnosing.checks import Examined, examine
from oprag.documents import StoredChunk

IN_MEMORY = 10_000
"""Chunks that are kept as they are: some 20 MB."""


class Spooled(Sequence[Examined]):
    """Chunks under examination, in the order of the store.

    The file has no name, or is gone when it is closed: it is read by this process
    alone, and nothing of it outlives the process. A framework's own objects stay where
    they are, as the caller has them in memory.

    Args:
        chunks: Those to begin with.
        in_memory: How many are kept in memory.
    """

    def __init__(
        self, chunks: Iterable[Examined] = (), in_memory: int = IN_MEMORY
    ) -> None:
        self._in_memory = in_memory
        self._first: list[Examined] = []
        self._kept: dict[int, Examined] = {}
        self._file: IO[bytes] | None = None
        self._ends = array("Q", [0])
        for chunk in chunks:
            self.append(chunk)

    def append(self, chunk: Examined) -> None:
        """Put a chunk behind the others."""
        if len(self._first) < self._in_memory:
            self._first.append(chunk)
            return
        written = _written(chunk)
        if not written:
            self._kept[len(self)] = chunk
        if self._file is None:
            self._file = tempfile.TemporaryFile(prefix="oprag-doctor-")  # noqa: SIM115 -- see the next line
            weakref.finalize(self, self._file.close)
        self._file.seek(self._ends[-1])
        self._file.write(written)
        self._ends.append(self._ends[-1] + len(written))

    def __len__(self) -> int:
        return len(self._first) + len(self._ends) - 1

    @overload
    def __getitem__(self, number: int) -> Examined: ...
    @overload
    def __getitem__(self, number: slice) -> list[Examined]: ...
    def __getitem__(self, number: int | slice) -> Examined | list[Examined]:
        if isinstance(number, slice):
            return [self[i] for i in range(len(self))[number]]
        number = range(len(self))[number]
        if number < len(self._first):
            return self._first[number]
        if number in self._kept or self._file is None:
            return self._kept[number]
        at = number - len(self._first)
        self._file.seek(self._ends[at])
        text, metadata, id_ = pickle.loads(  # noqa: S301 -- what this process wrote
            self._file.read(self._ends[at + 1] - self._ends[at])
        )
        return examine(StoredChunk(text, metadata, id_))

    def __iter__(self) -> Iterator[Examined]:
        return map(self.__getitem__, range(len(self)))


def _written(chunk: Examined) -> bytes:
    """A stored chunk as bytes; none where it has to stay as it is."""
    stored = chunk.hit.source
    if not isinstance(stored, StoredChunk):
        return b""
    try:
        return pickle.dumps((stored.text, stored.metadata, stored.id), protocol=5)
    except (pickle.PicklingError, TypeError, AttributeError):
        return b""
