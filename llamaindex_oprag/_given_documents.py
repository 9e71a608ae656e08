"""LlamaIndex documents as they are given for indexing: named, their parts together."""

from __future__ import annotations

import itertools
import uuid
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from llama_index.core.schema import Document

from llamaindex_oprag._convert import excluding
from llamaindex_oprag._parts import text_of
from oprag.chunk import Hit
from oprag.documents import read_folder
from oprag.errors import (
    DuplicateDocumentError,
    InvalidOptionError,
    MissingDocumentError,
    UnreadableFileError,
    UnscopedPositionError,
)
from oprag.metadata import (
    CHAR_START,
    CHUNK_INDEX,
    DOC_KEY,
    DOC_URI,
    N_CHUNKS,
    TOKEN_COUNT,
    TOKEN_COUNTER,
    document_key,
)
from oprag.positions import read_documents

Documents: TypeAlias = str | Path | Iterable[Document]
"""A folder of text files, or documents."""

_STALE = (N_CHUNKS, TOKEN_COUNT, TOKEN_COUNTER)
"""Own keys that say something about an earlier index only."""

_RANDOM = 4
"""The version of the UUIDs that LlamaIndex gives to documents without an id."""


def named_documents(
    documents: Documents,
) -> Iterator[tuple[str, list[Document]] | UnreadableFileError]:
    """Read documents one at a time, and put the parts of each together.

    Args:
        documents: As `index_documents` takes them.

    Yields:
        The name of a document and its parts in the order given, which name it in
        their metadata; or the reason why a file is passed over.

    Raises:
        InvalidOptionError: Something else than a document is among them.
        MissingDocumentError: A document has no name that stays the same.
        DuplicateDocumentError: A document comes twice in a row.
        UnscopedPositionError: A document already is a chunk.
    """
    if isinstance(documents, (str, Path)):
        for file in read_folder(documents):
            if isinstance(file, UnreadableFileError):
                yield file
            else:
                name, text = file
                yield name, _named(name, [Document(text=text, id_=name)])
        return
    named = ((_name(place, given), given) for place, given in enumerate(documents))
    for name, group in itertools.groupby(named, key=lambda pair: pair[0]):
        parts = [document for _, document in group]
        _refuse_repetition(name, parts)
        yield name, _named(name, parts)


def _name(place: int, document: Any) -> str:
    if not isinstance(document, Document):
        message = (
            f"documents= holds a {type(document).__name__} at place {place}. It takes "
            "LlamaIndex Documents, or the path of a folder of text files."
        )
        raise InvalidOptionError(message, option="documents", value=document)
    metadata = document.metadata
    own_id = None if _is_random(document.node_id) else document.node_id
    hit = Hit("", metadata, document=own_id)
    ((key, name),) = read_documents([hit], missing_document="one")
    name = name if key else str(metadata.get(DOC_URI) or "")
    if not name:
        keys = tuple(sorted(map(str, metadata)))
        message = (
            f"The document at place {place} has no name that would be the same next "
            f"time: its id {document.node_id!r} is a random one. Metadata keys found: "
            f"{', '.join(keys) or 'none'}. Give it an id of its own (id_=), or name it "
            f"in metadata['{DOC_URI}'] or metadata['file_path']."
        )
        raise MissingDocumentError(message, rank=place, keys=keys)
    found = tuple(key for key in (CHAR_START, CHUNK_INDEX) if key in metadata)
    if found:
        message = (
            f"The document at place {place} already is a chunk of {name!r} (it has "
            f"{', '.join(found)}). Give the documents themselves; they are parsed here."
        )
        raise UnscopedPositionError(message, document=name, keys=found)
    return name


def _is_random(document_id: str) -> bool:
    try:
        known = uuid.UUID(document_id)
    except ValueError:
        return False
    return known.version == _RANDOM and str(known) == document_id


def _refuse_repetition(name: str, parts: Sequence[Document]) -> None:
    """Pages that all come twice are a document that was loaded twice."""
    contents = [(text_of(part), part.metadata) for part in parts]
    if len(parts) > 1 and all(contents.count(content) > 1 for content in contents):
        message = (
            f"The document {name!r} comes twice, the same each time. Give it once; if "
            "these are parts that only look alike, number them (metadata['page'])."
        )
        raise DuplicateDocumentError(message, document=name)


def _named(name: str, parts: Sequence[Document]) -> list[Document]:
    """Copies that name their document, with ids that stay the same.

    Parsers would count what they show of the metadata, so the names are hidden.
    """
    names = {DOC_KEY: document_key(name), DOC_URI: name}
    copies = []
    for number, part in enumerate(parts):
        kept = {k: v for k, v in part.metadata.items() if k not in _STALE}
        metadata = {**kept, **names}
        own = name if len(parts) == 1 else f"{name}#{number}"
        changes: dict[str, Any] = {
            "id_": own if _is_random(part.node_id) else part.node_id,
            "metadata": metadata,
            "relationships": {},
            "excluded_llm_metadata_keys": excluding(
                part.excluded_llm_metadata_keys, metadata
            ),
            "excluded_embed_metadata_keys": excluding(
                part.excluded_embed_metadata_keys, metadata
            ),
        }
        copies.append(part.model_copy(update=changes))
    return copies
