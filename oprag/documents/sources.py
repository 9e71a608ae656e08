"""Full texts by document name, from any place where an application keeps them.

A source gives a whole document or raises; it never gives a part of one.
"""

from __future__ import annotations

import inspect
import os
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from functools import cached_property, partial
from pathlib import Path
from typing import Any, TypeAlias

from oprag.chunk import FullText, Hit, Span
from oprag.effects import run_in_thread
from oprag.errors import (
    DocumentNotFoundError,
    InvalidOptionError,
    UnreadableFileError,
    describe_type,
    did_you_mean,
)
from oprag.metadata import CHAR_START, CHUNK_INDEX, EARLIER_HASH, PART_INDEX, RESULT
from oprag.positions import identify_document
from oprag.splitting import Part, SourceText, group_parts
from oprag.stores import SearchFilter

PART_SEPARATOR = "\n\n"
"""Between the parts of a document: a blank line, as between paragraphs."""

_SHOWN = 3
"""Names of documents that an error lists."""


class DocumentSource(ABC):
    """Gives the full text of a document by its name."""

    @abstractmethod
    def read(self, document_id: str) -> FullText:
        """Return the full text of one document, and whether it is exact.

        Args:
            document_id: The document's name: `doc_uri` in the metadata, or the identity
                that the chunks carry.

        Raises:
            DocumentNotFoundError: There is no such document here.
        """

    async def aread(self, document_id: str) -> FullText:
        """Async version of `read`: in a thread unless the source has its own."""
        return await run_in_thread(partial(self.read, document_id))

    def get(self, document_id: str) -> str:
        """Return the text that `read` does."""
        return self.read(document_id).text

    async def aget(self, document_id: str) -> str:
        """Async version of `get`."""
        return (await self.aread(document_id)).text

    async def aread_all(self, names: Iterable[str]) -> list[FullText]:
        """Read several at once; if some fail, the first of them raises its error."""
        from asyncio import gather  # here, because its import takes long

        found = await gather(*map(self.aread, names), return_exceptions=True)
        for each in found:
            if isinstance(each, BaseException):
                raise each
        return found  # type: ignore[return-value]  # none of them is an error

    @property
    def at_hand(self) -> bool:
        """Whether the texts are in memory, so that reading one costs nothing."""
        return False

    def names(self) -> Iterable[str]:
        """Return the names of the documents; none if they cannot be listed."""
        return ()

    def has(self, document_id: str) -> bool:  # noqa: ARG002 -- see Returns
        """Return whether the document is there; False if only reading it tells."""
        return False

    def called(self) -> Mapping[str, str]:
        """Return the full names of the documents for people, by their names here."""
        return {name: name for name in map(str, self.names())}

    def within(self, search: SearchFilter) -> DocumentSource:  # noqa: ARG002 -- see Returns
        """Return the texts that the searcher may read.

        Args:
            search: The filter of the search.

        Returns:
            The source itself if the application gave the texts, since their content is
            its decision. A source that puts texts together from the chunks of a store
            reads them through the filter.

        Raises:
            InvalidOptionError: The filter cannot be carried over to the store.
        """
        return self


def called(metadata: Mapping[str, Any], name: str) -> str:
    """Return a document's full name for people, by the metadata of one of its texts."""
    return (identify_document(Hit("", metadata, document=name)) or (name, name))[1]


def exact_text(document_id: str, found: FullText) -> str:
    """Return the text, for callers that count characters in it.

    Raises:
        InvalidOptionError: It is not exact.
    """
    if found.exact:
        return found.text
    message = (
        f"documents= does not give the exact text of {document_id!r} (exact=False), "
        "and here characters are counted in it. Give the documents themselves."
    )
    raise InvalidOptionError(message, option="documents", value=document_id)


SourceLike: TypeAlias = (
    DocumentSource
    | Mapping[str, str]
    | Callable[[str], str | None]
    | Callable[[str], Awaitable[str | None]]
    | str
    | Path
    | Sequence[Any]
)
"""Sources that `document_source` accepts."""


def document_source(documents: SourceLike) -> DocumentSource:
    """Make a source of full texts out of any object that holds them.

    Args:
        documents: A mapping from names to texts; a function from a name to the
            text, or None if there is none, plain or `async`; a folder, whose files are
            the documents, named by their path inside it; a list of LangChain's or
            LlamaIndex's documents, unchanged since they were loaded, of which those of
            one name are the parts of one document; or a source, which is returned
            unchanged.

    Returns:
        The source. Nothing is read yet, unless `documents` is a list.

    Raises:
        InvalidOptionError: `documents` is none of these, or no folder is there.
    """
    if isinstance(documents, DocumentSource):
        return documents
    if isinstance(documents, Mapping):
        return _MappingSource(documents)
    if isinstance(documents, (str, Path)):
        return _FolderSource(Path(documents))
    if isinstance(documents, (list, tuple)):
        return _ListSource(documents)
    searches = any(hasattr(documents, how) for how in ("invoke", "retrieve"))
    if callable(documents) and not searches:
        return _CallableSource(documents)
    takes = "It takes a mapping from names to texts, a function, or a folder."
    if searches:
        takes = "Give the store or index that it searches."
    message = (
        f"documents= is {describe_type(documents)} and gives no full texts. {takes}"
    )
    raise InvalidOptionError(message, option="documents", value=documents)


def not_found(
    document_id: str, where: str, names: Iterable[str] = ()
) -> DocumentNotFoundError:
    """Return the error for a document that a source does not have."""
    there = [*map(str, names)]
    known = f"Names there: {_some(there)}. " if there else ""
    message = (
        f"There is no document {document_id!r} in {where}. {known}"
        f"{did_you_mean(document_id, there[:1000])}Name documents there by the chunks' "
        "doc_uri, or by the identity that their metadata carries."
    )
    return DocumentNotFoundError(message, document=document_id)


def refuse_strangers(asked: Mapping[str, bool], source: DocumentSource) -> None:
    """Refuse full texts that have none of the retrieved documents.

    Raises:
        DocumentNotFoundError: It lists names, and holds none of those asked for.
    """
    if not asked or any(asked.values()):
        return
    there = [*map(str, source.names())]
    if there:
        message = (
            "documents= has none of the documents that were retrieved. Names asked "
            f"for: {_some([*asked])}. Names there: {_some(there)}. Name them alike."
        )
        raise DocumentNotFoundError(message, document=next(iter(asked)))


def _some(names: Sequence[str]) -> str:
    shown = ", ".join(map(repr, names[:_SHOWN]))
    return f"{shown}, …" if len(names) > _SHOWN else shown


def check_text(
    document_id: str, text: Any, where: str, names: Iterable[str] = ()
) -> FullText:
    """Return the text if it is one; None means that there is no document."""
    if isinstance(text, str):
        return FullText(text)
    if text is None:
        raise not_found(document_id, where, names)
    message = f"documents= gave {describe_type(text)} for {document_id!r}. Give a str."
    raise InvalidOptionError(message, option="documents", value=text)


def _load(document: Any) -> SourceText:
    """Return text, metadata and id of a document of any framework."""
    metadata = getattr(document, "metadata", None)
    text = getattr(document, "page_content", getattr(document, "text", None))
    # A node that was cut out of a document has text and metadata, too.
    is_document = any(kind.__name__ == "Document" for kind in type(document).__mro__)
    known = metadata if isinstance(metadata, Mapping) else None
    of_chunks = (CHAR_START, CHUNK_INDEX, RESULT, EARLIER_HASH)
    is_whole = known is not None and known.keys().isdisjoint(of_chunks)
    if not (is_document and known is not None and is_whole and isinstance(text, str)):
        what = "a chunk" if is_document else describe_type(document)
        message = (
            f"documents= has {what} in its list, and gives no full texts. It takes "
            "{name: text}, or a list of LangChain's or LlamaIndex's documents."
        )
        raise InvalidOptionError(message, option="documents", value=document)
    ids = (getattr(document, name, None) for name in ("ref_doc_id", "node_id", "id"))
    return SourceText(text, known, next(filter(None, ids), None))


class _ListSource(DocumentSource):
    def __init__(self, documents: Sequence[Any]) -> None:
        self._texts = [*map(_load, documents)]

    def read(self, document_id: str) -> FullText:
        found = self._by_id.get(document_id) or self._by_name.get(document_id)
        if found is None:
            where = f"the list ({len(self._texts)} documents)"
            raise not_found(document_id, where, self._by_name)
        return found

    @property
    def at_hand(self) -> bool:
        return True

    def names(self) -> Iterable[str]:
        return self._by_name

    def called(self) -> Mapping[str, str]:
        return {
            parts[0].name: called(parts[0].source.metadata, parts[0].name)
            for parts in self._groups
        }

    @cached_property
    def _by_id(self) -> dict[str, FullText]:
        """The texts by id, if only one has it: an id is the most exact name."""
        times = Counter(text.id for text in self._texts)
        known = [t for t in self._texts if t.id and times[t.id] == 1]
        return {str(text.id): FullText(text.text) for text in known}

    @cached_property
    def _by_name(self) -> dict[str, FullText]:
        return {parts[0].name: _join_parts(parts) for parts in self._groups}

    @cached_property
    def _groups(self) -> list[list[Part]]:
        return group_parts(self._texts)


def _join_parts(parts: Sequence[Part]) -> FullText:
    """Join the parts of a document by blank lines; return the text and its pages."""
    filled = [part for part in parts if part.source.text.strip()]
    pages, start = [], 0
    for part in filled:
        end = start + len(part.source.text)
        numbered = {} if part.number is None else {PART_INDEX: part.number}
        pages.append(({**part.source.metadata, **numbered}, Span(start, end)))
        start = end + len(PART_SEPARATOR)
    text = PART_SEPARATOR.join(part.source.text for part in filled)
    return FullText(text, pages=tuple(pages) if parts[0].number is not None else ())


class _MappingSource(DocumentSource):
    def __init__(self, texts: Mapping[str, str]) -> None:
        self._texts = texts

    def read(self, document_id: str) -> FullText:
        text = self._texts.get(document_id)
        where = f"the mapping ({len(self._texts)} names)"
        return check_text(document_id, text, where, self._texts)

    @property
    def at_hand(self) -> bool:
        return True

    def names(self) -> Iterable[str]:
        return self._texts

    def has(self, document_id: str) -> bool:
        return document_id in self._texts


class _CallableSource(DocumentSource):
    _where = "what the function given as documents= finds"

    def __init__(self, find: Callable[[str], Any]) -> None:
        self._find = find

    def read(self, document_id: str) -> FullText:
        try:
            found = self._find(document_id)
        except KeyError:  # of a look-up in a mapping
            found = None
        if inspect.isawaitable(found):
            if inspect.iscoroutine(found):
                found.close()
            message = (
                "documents= is an async function, and was asked from sync code. Use "
                "ainvoke, astream or aquery."
            )
            raise InvalidOptionError(message, option="documents", value=self._find)
        return check_text(document_id, found, self._where)

    async def aread(self, document_id: str) -> FullText:
        try:
            if inspect.iscoroutinefunction(self._find):
                found = await self._find(document_id)
            else:
                found = await run_in_thread(partial(self._find, document_id))
                if inspect.isawaitable(found):
                    found = await found
        except KeyError:  # as above
            found = None
        return check_text(document_id, found, self._where)


class _FolderSource(DocumentSource):
    def __init__(self, folder: Path) -> None:
        if not folder.is_dir():
            message = (
                f"documents={str(folder)!r} is not a folder. Give texts by name: "
                "documents={name: text}."
            )
            raise InvalidOptionError(message, option="documents", value=str(folder))
        self._folder = folder.resolve()

    def names(self) -> Iterable[str]:
        for parent, folders, files in os.walk(self._folder, onerror=_name_closed_store):
            folders[:] = sorted(name for name in folders if not name.startswith("."))
            for file in sorted(files):
                if not file.startswith("."):
                    yield Path(parent, file).relative_to(self._folder).as_posix()

    def has(self, document_id: str) -> bool:
        # An absolute name is accepted if it lies inside the folder, because indexers
        # often store those. Nothing outside is read, whatever the name.
        try:
            path = (self._folder / document_id).resolve()
            within = path.relative_to(self._folder)  # fails outside
            return path.is_file() and "/." not in f"/{within.as_posix()}"
        except (OSError, ValueError, RuntimeError):
            # Too long; a NUL character; before Python 3.13 a link to itself.
            return False

    def read(self, document_id: str) -> FullText:
        if not self.has(document_id):
            raise not_found(document_id, f"the folder {self._folder}")
        path = (self._folder / document_id).resolve()
        # Not read_text: it would turn CRLF into LF and shift every offset.
        data = path.read_bytes()
        try:
            text = data.decode("utf-8")
        except UnicodeDecodeError as error:
            reason = f"is not UTF-8 text (byte {error.start})"
        else:
            is_pdf = text.startswith("%PDF-")
            if not (is_pdf or "\0" in text):
                return FullText(text)
            reason = "is a PDF, not text" if is_pdf else "is binary, not text"
        message = (
            f"The file {path} {reason}. Give its text as it was loaded before it was "
            "split: documents=loader.load() (LlamaIndex: load_data())."
        )
        raise UnreadableFileError(message, path=str(path), reason=reason)


def _name_closed_store(error: OSError) -> None:
    name = str(error.filename)
    reason = f"cannot be opened ({error.strerror or error})"
    raise UnreadableFileError(
        f"The folder {name!r} {reason}.", path=name, reason=reason
    ) from error
