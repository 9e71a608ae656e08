"""Long lines that are kept compressed: each a gzip member, so that any tool reads all.

`zcat FILE` gives the JSON lines. A kill loses at most the line that was being written.
"""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import IO, Any, NamedTuple, Self

from oprag.errors import UnreadableFileError
from oprag.files import json_line, write_whole_of

_BLOCK = 1 << 20
_GZIP = 31
"""What zlib calls one gzip member."""


class PackedLine(NamedTuple):
    """One line, unpacked and packed."""

    values: dict[str, Any]
    packed: bytes
    """A whole gzip file of its own."""


def packed_lines(path: Path) -> Iterator[PackedLine]:
    """Read a packed file line by line; an unfinished last one is left out.

    Yields:
        In the order of the file; nothing where it is not there.

    Raises:
        UnreadableFileError: It is damaged.
    """
    if not path.exists():
        return
    with path.open("rb") as file:
        rest = b""
        while True:
            unpacker = zlib.decompressobj(_GZIP)
            read, text = [], []
            while not unpacker.eof:
                block = rest or file.read(_BLOCK)
                if not block:
                    return
                try:
                    text.append(unpacker.decompress(block))
                except zlib.error as error:
                    raise _damaged(path) from error
                read.append(block)
                rest = unpacker.unused_data
            packed = b"".join(read)
            try:
                values = json.loads(b"".join(text))
            except ValueError as error:
                raise _damaged(path) from error
            yield PackedLine(values, packed[: len(packed) - len(rest)])


def _damaged(path: Path) -> UnreadableFileError:
    message = f"{path} is damaged. Remove it; what was read is then no longer shown."
    return UnreadableFileError(message, path=str(path), reason="is damaged")


class PackedFile:
    """Adds lines, each at once and whole.

    Args:
        path: The file. It is made with the first line; an unfinished last one of
            before is then cut off.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file: IO[bytes] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._file is not None:
            self._file.close()

    def add(self, values: Mapping[str, Any]) -> None:
        """Add one line.

        Raises:
            OSError: It cannot be written; then nothing of it is there.
        """
        file = self._file = self._file or self._opened()
        packed = gzip.compress(json_line(values), mtime=0)
        begin, written = file.tell(), 0
        try:
            while written < len(packed):  # a disk that is full takes a part first
                written += file.write(packed[written:])
        finally:
            if written < len(packed):
                file.truncate(begin)

    def _opened(self) -> IO[bytes]:
        whole = sum(len(line.packed) for line in packed_lines(self._path))
        file = self._path.open("ab", buffering=0)
        file.truncate(whole)
        file.seek(whole)
        return file


def order_packed(path: Path, key: Callable[[Mapping[str, Any]], Any]) -> None:
    """Put lines in the order of a key; of one key the last is kept, of None none.

    Args:
        path: The file; where it is not there, nothing is done.
        key: Of a line; keys can be compared.
    """
    places: dict[Any, tuple[int, int]] = {}
    begin = 0
    for line in packed_lines(path):
        if (name := key(line.values)) is not None:
            places[name] = (begin, len(line.packed))
        begin += len(line.packed)
    wanted = [places[name] for name in sorted(places)]
    in_order = wanted == sorted(wanted)
    kept = sum(length for _, length in wanted)
    if not path.exists() or (in_order and kept == path.stat().st_size):
        return
    with path.open("rb") as file:

        def members() -> Iterator[bytes]:
            for start, length in wanted:
                file.seek(start)
                yield file.read(length)

        write_whole_of(path, members())
