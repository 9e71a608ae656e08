"""The text files of a folder, one at a time, named as `document_source` names them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TypeAlias

from oprag.documents.sources import DocumentSource, document_source
from oprag.errors import DocumentNotFoundError, UnreadableFileError

FolderFile: TypeAlias = tuple[str, str] | UnreadableFileError
"""Name and text of a file. Or the reason that it is no text, as an error that is not
raised. The error has a `__cause__` only if the file could not be read, so that its text
is unknown."""


def read_folder(folder: str | Path, before: str = "") -> Iterator[FolderFile]:
    """Read the text files of a folder and of the folders in it.

    Files come sorted by name, those of a folder before the folders in it. Their text is
    unchanged (line breaks included). Hidden files and folders and links to folders are
    passed over. HTML keeps its tags. A file that is no text in UTF-8, or is a PDF,
    comes as an `UnreadableFileError` whose `path` is its name.

    Args:
        folder: An existing folder. It is looked at when iteration begins.
        before: The beginning to put before each name.

    Yields:
        Name (the path inside the folder, with `/`) and text of each file, or the error
        with the reason that it has none.

    Raises:
        InvalidOptionError: There is no such folder, or it is a file.
        UnreadableFileError: A folder inside cannot be opened, so it is not known which
            files it holds.
    """
    source = document_source(Path(folder))
    for name in source.names():
        yield _read_file(source, name, before + name)


def count_files(folder: str | Path) -> int:
    """Count the files that `read_folder` will give."""
    return sum(1 for _ in document_source(Path(folder)).names())


def _read_file(source: DocumentSource, file: str, name: str) -> FolderFile:
    try:
        name.encode()
        text = source.get(file)
    except UnicodeEncodeError as error:
        shown = os.fsencode(name).decode("utf-8", "backslashreplace")
        return _unreadable(shown, "has a name that is not UTF-8", error)
    except UnreadableFileError as error:
        return _unreadable(name, error.reason)
    except DocumentNotFoundError as error:
        where = "is a link that leads out of the folder or nowhere"
        return _unreadable(name, where, error)
    except OSError as error:
        return _unreadable(name, f"cannot be read ({error.strerror or error})", error)
    return name, text


def _unreadable(
    name: str, reason: str, cause: Exception | None = None
) -> UnreadableFileError:
    error = UnreadableFileError(f"{name!r} {reason}.", path=name, reason=reason)
    error.__cause__ = cause
    return error
