"""Files for the page: each is read or has a sentence, and the others go on."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from oprag.errors import UnreadableFileError
from oprag.files import FilesRead, FileText, files_in, one_line, read_file

LARGEST = 20_000_000
"""Bytes of a file at most: a machine without a GPU indexes these in some minutes."""


class Shelf(NamedTuple):
    """The files that were read."""

    read: FilesRead
    """The texts, by the names that the files have on the page."""
    paths: Mapping[str, Path]
    """The path of each file, by its name."""
    sentences: tuple[str, ...]
    """One for each file of which not all can be used."""

    def state(self) -> tuple[object, ...]:
        """Return a value that changes as soon as one of the files does."""
        return tuple((name, _state(path)) for name, path in self.paths.items())


def read_shelf(paths: Iterable[tuple[Path, str]], say: Callable[[str], None]) -> Shelf:
    """Read files and folders, and write a sentence for each that cannot be read.

    Args:
        paths: Each with its name on the page; empty for its path.
        say: Called with the step that is being done, file by file.
    """
    texts: list[FileText] = []
    skipped: list[UnreadableFileError] = []
    named: dict[str, Path] = {}
    sentences: list[str] = []
    for path, called in paths:
        for file in files_in(path, skipped) if path.is_dir() else [path]:
            name = called or one_line(file)
            if name in named:
                continue
            say(f"Reading {name} …")
            size, changed = _state(file)
            try:
                sentence = too_large(name, size)
                found = [] if sentence else _read(file, size, changed)
            except UnreadableFileError as error:
                sentence = f"{name} {error.reason}."
            if sentence:
                sentences.append(sentence)
                continue
            named[name] = file
            texts += [text._replace(source=name) for text in found]
    read = FilesRead(tuple(texts), ())
    sentences += [f"About {name}: {notice}." for name, notice in read.notices.items()]
    sentences += [f"{error.path} {error.reason}." for error in skipped]
    return Shelf(read, named, tuple(sentences))


def too_large(name: str, size: int) -> str:
    """Return the sentence for a file that is too large; empty if it is not."""
    if size <= LARGEST:
        return ""
    return (
        f"{name} has {size / 1e6:,.0f} MB, and this page takes files of at most "
        f"{LARGEST / 1e6:.0f} MB."
    )


@lru_cache(1_000)
def _read(path: Path, size: int, changed: int) -> list[FileText]:
    """Read a file, only once as long as it is the same."""
    del size, changed
    return read_file(path)


def _state(path: Path) -> tuple[int, int]:
    try:
        found = path.stat()
    except OSError:
        return 0, 0  # reading it tells the error
    return found.st_size, found.st_mtime_ns
