"""Files and folders as documents, one per page of a PDF, and what had to be skipped."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from langchain_core.documents import Document

from oprag.cli.html_files import html_text
from oprag.cli.pdf_files import pdf_pages
from oprag.cli.text_files import NoTextError, decode
from oprag.errors import UnreadableFileError

_HTML = (".html", ".htm", ".xhtml")
_PDF_MAGIC = b"%PDF-"


class FilesRead(NamedTuple):
    """What files and folders hold."""

    documents: tuple[Document, ...]
    """Each with the name of its file as `source`; those of a PDF are its pages,
    with `page` (from 0) and `page_label`."""
    skipped: tuple[UnreadableFileError, ...]
    """Files inside folders that hold no text, in the order they were come upon."""

    @property
    def names(self) -> list[str]:
        """Names of the files that were read, in reading order."""
        return list(dict.fromkeys(str(d.metadata["source"]) for d in self.documents))


def read_files(paths: Sequence[Path], *, if_missing: str = "") -> FilesRead:
    """Read text, Markdown, HTML and PDF files, and folders of them.

    Anything that is not called HTML and is no PDF is read as text in UTF-8. Folders
    are read with the folders inside them, sorted by name, without hidden files. A
    file that is named twice is read once.

    Args:
        paths: Files and folders. Not empty.
        if_missing: What to do about a path that is not there, for the error.

    Raises:
        UnreadableFileError: A file that was named is missing, unreadable, empty or
            binary, or in another encoding; or nothing in a folder can be read.
    """
    documents: list[Document] = []
    skipped: list[UnreadableFileError] = []
    seen: set[Path] = set()
    for path in paths:
        before = len(documents)
        for found in _files_in(path, skipped) if path.is_dir() else [path]:
            if (real := found.resolve()) in seen:
                before = -1  # it was read already: the folder is not without text
                continue
            seen.add(real)
            try:
                documents += _read(found)
            except UnreadableFileError as error:
                if isinstance(error.__cause__, FileNotFoundError) and if_missing:
                    reason = f"{error.reason}; {if_missing}"
                    raise _unreadable(found, reason) from error
                if found is path:
                    raise
                skipped.append(error)
        if path.is_dir() and len(documents) == before:
            raise _unreadable(path, "holds no file that can be read", skipped)
    return FilesRead(tuple(documents), tuple(skipped))


def _files_in(folder: Path, skipped: list[UnreadableFileError]) -> Iterator[Path]:
    def closed(error: OSError) -> None:
        skipped.append(_unreadable(Path(error.filename), _said(error)))

    for parent, folders, files in os.walk(folder, onerror=closed):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(files):
            path = Path(parent, name)
            if not name.startswith(".") and path.is_file():
                yield path


def _read(path: Path) -> list[Document]:
    try:
        data = path.read_bytes()
        return _documents(path, data)
    except OSError as error:
        raise _unreadable(path, _said(error)) from error
    except NoTextError as error:
        raise _unreadable(path, str(error)) from error


def _documents(path: Path, data: bytes) -> list[Document]:
    name = _name(path)
    if not data.strip():
        raise NoTextError("is empty")
    if path.suffix.lower() == ".pdf" or data.startswith(_PDF_MAGIC):
        return [
            Document(
                page.text,
                metadata={
                    "source": name,
                    "page": page.number,
                    "page_label": page.label,
                },
            )
            for page in pdf_pages(data)
        ]
    is_html = path.suffix.lower() in _HTML
    text = html_text(data) if is_html else decode(data)
    if not text.strip():
        raise NoTextError("holds no text")
    return [Document(text, metadata={"source": name})]


def _name(path: Path) -> str:
    """The path as text that can be stored: names on disk may be any bytes."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")


def _said(error: OSError) -> str:
    if isinstance(error, FileNotFoundError):
        return "is not there"
    return f"cannot be read ({error.strerror or error})"


def _unreadable(
    path: Path, reason: str, inside: Sequence[UnreadableFileError] = ()
) -> UnreadableFileError:
    name = _name(path)
    message = f"{name!r} {reason}."
    if inside:
        message += f" Skipped in it: {'; '.join(error.message for error in inside)}"
    return UnreadableFileError(message, path=name, reason=reason)
