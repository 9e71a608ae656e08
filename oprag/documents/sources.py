"""Full texts by document name, from wherever an application keeps them.

A source gives a whole document or raises; it never gives a part of one.
"""

from __future__ import annotations

import asyncio
import inspect
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any, TypeAlias

from oprag.errors import DocumentNotFoundError, InvalidOptionError


class DocumentSource(ABC):
    """Gives the full text of a document by its name."""

    @abstractmethod
    def get(self, document_id: str) -> str:
        """Return the full text of one document.

        Args:
            document_id: The document's own name: `doc_uri` in the metadata, or
                the identity that the chunks carry.

        Raises:
            DocumentNotFoundError: There is no such document here.
        """

    async def aget(self, document_id: str) -> str:
        """Async version of `get`: in a thread unless the source has its own."""
        return await asyncio.to_thread(self.get, document_id)


SourceLike: TypeAlias = (
    DocumentSource
    | Mapping[str, str]
    | Callable[[str], str | None]
    | Callable[[str], Awaitable[str | None]]
    | str
    | Path
)
"""What `document_source` takes."""


def document_source(documents: SourceLike) -> DocumentSource:
    """Make a source of full texts out of whatever holds them.

    Args:
        documents: A mapping from names to texts; a function from a name to the
            text, or None where there is none, plain or `async`; a folder, of
            which the documents are the files, named by their path inside it; or
            a source, which is returned as it is.

    Returns:
        The source. Nothing is read yet.

    Raises:
        InvalidOptionError: `documents` is none of these, or no folder is there.
    """
    if isinstance(documents, DocumentSource):
        return documents
    if isinstance(documents, Mapping):
        return _MappingSource(documents)
    if isinstance(documents, (str, Path)):
        return _FolderSource(Path(documents))
    if callable(documents):
        return _CallableSource(documents)
    message = (
        f"documents={type(documents).__name__} gives no full texts. It takes a mapping "
        "from names to texts, a function from a name to its text, or a folder."
    )
    raise InvalidOptionError(message, option="documents", value=documents)


def not_found(document_id: str, where: str) -> DocumentNotFoundError:
    """Return the error for a document that a source does not have."""
    message = (
        f"There is no document {document_id!r} in {where}. The name is the chunk's "
        "doc_uri, or the identity that its metadata carries; documents= must know "
        "documents by the same names."
    )
    return DocumentNotFoundError(message, document=document_id)


def checked_text(document_id: str, text: Any, where: str) -> str:
    """Return the text if it is one; None says that there is no document."""
    if isinstance(text, str):
        return text
    if text is None:
        raise not_found(document_id, where)
    message = (
        f"documents= gave {type(text).__name__} for {document_id!r}, not a text. Give "
        "the document's full text as a str."
    )
    raise InvalidOptionError(message, option="documents", value=text)


class _MappingSource(DocumentSource):
    def __init__(self, texts: Mapping[str, str]) -> None:
        self._texts = texts

    def get(self, document_id: str) -> str:
        text = self._texts.get(document_id)
        return checked_text(
            document_id, text, f"the mapping ({len(self._texts)} names)"
        )

    async def aget(self, document_id: str) -> str:
        return self.get(document_id)

    def names(self) -> list[str]:
        return list(self._texts)


class _CallableSource(DocumentSource):
    _where = "what the function given as documents= finds"

    def __init__(self, find: Callable[[str], Any]) -> None:
        self._find = find

    def get(self, document_id: str) -> str:
        found = self._find(document_id)
        if inspect.isawaitable(found):
            if inspect.iscoroutine(found):
                found.close()
            message = (
                "documents= is an async function, and was asked from sync code. Use "
                "ainvoke, astream or aquery, or give a plain function."
            )
            raise InvalidOptionError(message, option="documents", value=self._find)
        return checked_text(document_id, found, self._where)

    async def aget(self, document_id: str) -> str:
        if inspect.iscoroutinefunction(self._find):
            found = await self._find(document_id)
        else:
            found = await asyncio.to_thread(self._find, document_id)
            if inspect.isawaitable(found):
                found = await found
        return checked_text(document_id, found, self._where)


class _FolderSource(DocumentSource):
    def __init__(self, folder: Path) -> None:
        if not folder.is_dir():
            message = (
                f"documents={str(folder)!r} is no folder. It takes a folder of text "
                "files, a mapping from names to texts, or a function."
            )
            raise InvalidOptionError(message, option="documents", value=str(folder))
        self._folder = folder.resolve()

    def names(self) -> list[str]:
        files = (path for path in self._folder.rglob("*") if path.is_file())
        return [str(path.relative_to(self._folder)) for path in files]

    def get(self, document_id: str) -> str:
        # An absolute name is accepted where it lies inside the folder: indexers
        # often store those. Nothing outside is read, whatever a name says.
        try:
            path = (self._folder / document_id).resolve()
            inside = path.is_relative_to(self._folder) and path.is_file()
        except (OSError, ValueError) as error:  # too long, or a NUL character
            raise not_found(document_id, f"the folder {self._folder}") from error
        if not inside:
            raise not_found(document_id, f"the folder {self._folder}")
        # Not read_text: it would turn CRLF into LF and shift every offset.
        try:
            return path.read_bytes().decode("utf-8")
        except UnicodeDecodeError as error:
            message = (
                f"The file {path} is not UTF-8 text (byte {error.start}). Convert it, "
                "or give documents= as a function that reads it."
            )
            raise InvalidOptionError(
                message, option="documents", value=str(path)
            ) from error
