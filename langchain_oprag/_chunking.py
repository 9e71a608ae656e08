"""LangChain documents as the chunks that a store is to hold."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from langchain_core.documents import BaseDocumentTransformer, Document

from langchain_oprag._parts import Part, documents_in_parts
from langchain_oprag._splitting import OffsetSplitter
from oprag.chunk import Hit
from oprag.documents import read_folder
from oprag.errors import (
    DuplicateDocumentError,
    InvalidOptionError,
    MissingDocumentError,
    UnlocatedChunksWarning,
    UnreadableFileError,
    UnscopedPositionError,
)
from oprag.indexing import (
    Readable,
    UnsupportedMetadata,
    WantedChunk,
    WantedDocument,
    flat_metadata,
)
from oprag.locating import SourcePart, annotate_chunks, replaced, unlocated_message
from oprag.metadata import (
    CHAR_START,
    CHUNK_INDEX,
    DOC_KEY,
    DOC_URI,
    N_CHUNKS,
    TOKEN_COUNT,
    TOKEN_COUNTER,
    chunk_id,
    document_key,
)
from oprag.positions import PART_KEYS, SECTION_KEYS, read_documents

Documents: TypeAlias = str | Path | Iterable[Document]
"""A folder of text files, or documents."""

_RESERVED = frozenset({"_collection_name", "_id"})
"""Keys that Qdrant's wrapper writes on what it gives back."""

_STALE = (N_CHUNKS, TOKEN_COUNT, TOKEN_COUNTER)
"""Own keys that say something about an earlier index only."""


def chunked_documents(
    documents: Documents,
    splitter: BaseDocumentTransformer,
    unsupported_metadata: UnsupportedMetadata,
) -> Iterator[Readable]:
    """Read, group and split documents, one at a time.

    Args:
        documents: As `index_documents` takes them.
        splitter: Any; of other splitters than oprag's the positions are found.
        unsupported_metadata: See `flat_metadata`.

    Yields:
        Each document with all its chunks, or the reason why a file is passed over.
    """
    for read in _read(documents):
        if isinstance(read, UnreadableFileError):
            yield read
            continue
        name, parts = read
        if all(not part.page_content.strip() for part in parts):
            yield WantedDocument(name, [])
            continue
        chunks = _split(name, parts, splitter)
        yield WantedDocument(
            name,
            [
                WantedChunk(
                    chunk_id(name, index),
                    chunk.page_content,
                    flat_metadata(
                        chunk.metadata,
                        document=name,
                        unsupported_metadata=unsupported_metadata,
                        reserved=_RESERVED,
                    ),
                )
                for index, chunk in enumerate(chunks)
            ],
        )


def _read(
    documents: Documents,
) -> Iterator[tuple[str, list[Document]] | UnreadableFileError]:
    if isinstance(documents, (str, Path)):
        for file in read_folder(documents):
            if isinstance(file, UnreadableFileError):
                yield file
            else:
                name, text = file
                yield name, [_named(Document(text, metadata={"source": name}), name)]
        return
    named = ((_name(place, given), given) for place, given in enumerate(documents))
    for name, group in itertools.groupby(named, key=lambda pair: pair[0]):
        parts = [document for _, document in group]
        _refuse_repetition(name, parts)
        yield name, [_named(part, name) for part in parts]


def _name(place: int, document: Any) -> str:
    if not isinstance(document, Document):
        message = (
            f"documents= holds a {type(document).__name__} at place {place}. It takes "
            "LangChain Documents, or the path of a folder of text files."
        )
        raise InvalidOptionError(message, option="documents", value=document)
    metadata = document.metadata
    hit = Hit("", metadata)
    ((key, name),) = read_documents([hit], missing_document="one")
    name = name if key else str(metadata.get(DOC_URI) or "")
    is_part = any(part_key in metadata for part_key in (*PART_KEYS, *SECTION_KEYS))
    if not name and not is_part:
        name = document.id or ""
    if not name:
        keys = tuple(sorted(map(str, metadata)))
        message = (
            f"The document at place {place} has no name, so that it could not be found "
            f"again when it changes. Metadata keys found: {', '.join(keys) or 'none'}. "
            "Name it in metadata['source'], or, where it is not a part of one, by its "
            "id."
        )
        raise MissingDocumentError(message, rank=place, keys=keys)
    found = tuple(key for key in (CHAR_START, CHUNK_INDEX) if key in metadata)
    if found:
        message = (
            f"The document at place {place} already is a chunk of {name!r} (it has "
            f"{', '.join(found)}). Give the documents themselves; they are split here."
        )
        raise UnscopedPositionError(message, document=name, keys=found)
    return name


def _refuse_repetition(name: str, parts: Sequence[Document]) -> None:
    """Pages that all come twice are a document that was loaded twice."""
    contents = [(part.page_content, part.metadata) for part in parts]
    if len(parts) > 1 and all(contents.count(content) > 1 for content in contents):
        message = (
            f"The document {name!r} comes twice, the same each time. Give it once; if "
            "these are parts that only look alike, number them (metadata['page'])."
        )
        raise DuplicateDocumentError(message, document=name)


def _named(document: Document, name: str) -> Document:
    """A copy that names its document so that every splitter's chunks do."""
    kept = {k: v for k, v in document.metadata.items() if k not in _STALE}
    names = {DOC_KEY: document_key(name), DOC_URI: name}
    return Document(document.page_content, metadata={**kept, **names})


def _split(
    name: str, documents: Sequence[Document], splitter: BaseDocumentTransformer
) -> list[Document]:
    """All chunks of a document in reading order, each with its place."""
    if isinstance(splitter, OffsetSplitter):
        chunks = splitter.split_documents(documents)
        return sorted(chunks, key=lambda chunk: int(chunk.metadata[CHUNK_INDEX]))
    parts = _parts(name, documents)
    rows = [
        splitter.transform_documents([documents[part.text_index]]) for part in parts
    ]
    written, located = annotate_chunks(
        name,
        [
            SourcePart(
                documents[part.text_index].page_content,
                [chunk.page_content for chunk in row],
                part.number,
            )
            for part, row in zip(parts, rows, strict=True)
        ],
    )
    message = unlocated_message(name, list(itertools.chain(*located)))
    if message is not None:
        warnings.warn(message, UnlocatedChunksWarning, stacklevel=2)
    return [
        Document(chunk.page_content, metadata=replaced(chunk.metadata, entry))
        for row, entries in zip(rows, written, strict=True)
        for chunk, entry in zip(row, entries, strict=True)
    ]


def _parts(name: str, documents: Sequence[Document]) -> list[Part]:
    grouped = documents_in_parts(
        [document.page_content for document in documents],
        [document.metadata for document in documents],
        [None] * len(documents),
    )
    return grouped[name]
