"""Files that a kill leaves whole, and folders that one process at a time writes to."""

from __future__ import annotations

import errno
import json
import os
import sys
import warnings
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, Self

from oprag.errors import OpragWarning, UnreadableFileError

_LOCK = "run.lock"
_TAKEN = (errno.EACCES, errno.EAGAIN, errno.EDEADLK)
"""Error codes of systems where another process has a lock."""


def encoded(text: str) -> bytes:
    r"""Return a text as UTF-8; a lone surrogate as `\ud800`, which JSON reads."""
    return text.encode("utf-8", "backslashreplace")


def json_line(values: Mapping[str, Any]) -> bytes:
    """Return values as one line of JSON, keys in order."""
    return encoded(json.dumps(values, ensure_ascii=False, sort_keys=True) + "\n")


def write_whole(path: Path, data: bytes, *, shared: bool = False) -> None:
    """Replace a file; a kill leaves the old one or the new one.

    Args:
        path: The file.
        data: What it holds.
        shared: Whether other processes may write the same file at this time. Each
            then has a draft of its own; otherwise the next one replaces a draft that
            a kill left.
    """
    write_whole_of(path, [data], shared=shared)


def write_whole_of(path: Path, parts: Iterable[bytes], *, shared: bool = False) -> None:
    """Replace a file by these parts, as `write_whole` does."""
    draft = path.with_name(f"{path.name}.{os.getpid() if shared else 'new'}")
    try:
        with draft.open("wb") as file:
            for part in parts:
                file.write(part)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise


class LineFile:
    """JSON lines that are added one by one, each at once and whole.

    Args:
        path: The file. A last line that a kill left unfinished is cut off.
    """

    def __init__(self, path: Path) -> None:
        cut_half_line(path)
        self._file = path.open("ab", buffering=0)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def add(self, values: Mapping[str, Any]) -> None:
        """Add one line.

        Raises:
            OSError: It cannot be written; then nothing of it is there.
        """
        line, begin = json_line(values), self._file.tell()
        written = 0
        try:
            while written < len(line):  # a disk that is full takes a part first
                written += self._file.write(line[written:])
        finally:
            if written < len(line):
                self._file.truncate(begin)


def cut_half_line(path: Path) -> None:
    """Remove a last line that a kill left unfinished."""
    if not path.exists():
        return
    with path.open("rb+") as file:
        end = file.seek(0, os.SEEK_END)
        file.seek(max(0, end - 1))
        if file.read() != b"\n":
            file.seek(0)
            file.truncate(file.read().rfind(b"\n") + 1)


@contextmanager
def alone_in(folder: Path) -> Iterator[None]:
    """Be the only process that writes to a folder, which is made if it is missing.

    The system holds the lock: it ends with the process, however that ends.

    Raises:
        UnreadableFileError: Another process writes to it.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / _LOCK).open("a+b") as file:
        _take(file, folder)
        file.truncate(0)
        file.write(str(os.getpid()).encode())
        file.flush()
        try:
            yield
        finally:
            file.truncate(0)


def _take(file: IO[bytes], folder: Path) -> None:
    try:
        _lock(file)
    except OSError as error:
        if error.errno not in _TAKEN:
            message = (
                f"{folder} cannot be locked ({error.strerror}): give no second command "
                "that writes to it until this one has ended."
            )
            warnings.warn(message, OpragWarning, stacklevel=2)
            return
        file.seek(0)
        held = file.read().decode("ascii", "replace").strip()
        by = f" (process {held})" if held else ""
        message = (
            f"Another command is writing to {folder}{by}, and nothing was asked. Wait "
            "until it has ended and give this command again: it goes on from there."
        )
        raise UnreadableFileError(
            message, path=str(folder), reason="is in use"
        ) from error


if sys.platform == "win32":  # pragma: no cover
    import msvcrt

    _FAR = 1 << 30
    """The byte that is locked: nobody can read it, and it is after the file's end."""

    def _lock(file: IO[bytes]) -> None:
        file.seek(_FAR)
        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)

else:
    import fcntl

    def _lock(file: IO[bytes]) -> None:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
