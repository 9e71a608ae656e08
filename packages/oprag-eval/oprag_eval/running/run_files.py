"""The files of a run: lines that a kill leaves whole, and one process that writes."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self

from filelock import FileLock, Timeout

from oprag.errors import UnreadableFileError

_LOCK = "run.lock"


def encoded(text: str) -> bytes:
    r"""Return a text as UTF-8; a lone surrogate as `\ud800`, which JSON reads."""
    return text.encode("utf-8", "backslashreplace")


def json_line(values: Mapping[str, Any]) -> bytes:
    """Return values as one line of JSON, keys in order."""
    return encoded(json.dumps(values, ensure_ascii=False, sort_keys=True) + "\n")


class LineFile:
    """JSON lines that are added one by one, each at once and whole.

    Args:
        path: The file. A last line that a kill left unfinished is cut off.
    """

    def __init__(self, path: Path) -> None:
        with path.open("ab+") as file:
            file.seek(max(0, file.tell() - 1))
            if file.read() != b"\n":
                file.seek(0)
                file.truncate(file.read().rfind(b"\n") + 1)
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


def read_lines(path: Path) -> list[dict[str, Any]]:
    """Return the lines of a file; none where it is not there.

    A last line that a kill left unfinished is none.
    """
    found = []
    written = path.read_bytes().split(b"\n")[:-1] if path.exists() else []
    for number, line in enumerate(written, 1):
        try:
            found.append(json.loads(line))
        except ValueError as error:
            reason = f"line {number} is damaged"
            message = f"{path}: {reason}. Remove it; what it says is then lost."
            raise UnreadableFileError(message, path=str(path), reason=reason) from error
    return found


@contextmanager
def alone_in(folder: Path) -> Iterator[None]:
    """Be the only process that writes to a folder, which is made if it is missing.

    The system holds the lock: it ends with the process, however that ends.

    Raises:
        UnreadableFileError: Another process writes to it.
    """
    folder.mkdir(parents=True, exist_ok=True)
    try:
        with FileLock(folder / _LOCK, blocking=False):
            yield
    except Timeout as error:
        message = (
            f"Another command is writing to {folder}, and nothing was asked. Wait "
            "until it has ended and give this command again: it goes on from there."
        )
        raise UnreadableFileError(
            message, path=str(folder), reason="is in use"
        ) from error
