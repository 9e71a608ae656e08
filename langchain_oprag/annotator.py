"""`annotate_positions`: true positions for chunks that any splitter made."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from langchain_core.documents import Document

from langchain_oprag.documents import SourceLike, document_source
from oprag.chunk import Hit
from oprag.documents import (
    SourcePart,
    annotate_chunks,
    check_entries,
    exact_text,
    replace_positions,
)
from oprag.errors import InvalidOptionError
from oprag.positions import PART_KEYS, document_name, identify_documents
from oprag.splitting import part_numbers


def annotate_positions(
    chunks: Sequence[Document], documents: SourceLike
) -> list[Document]:
    """Find each chunk's place in its document, and write it into the metadata.

    For chunks of any splitter, whose own positions are missing or wrong. The true
    place of a chunk is proved from its neighbours; see `oprag.locating.locate`.

    Args:
        chunks: All chunks of one document or of several, those of each document in the
            splitter's order. `source`, `file_path` or another known key of the
            metadata names the document (a file before an id).
        documents: The texts that were split, by these names: anything that
            `document_source` takes, such as the list itself. For a document that was
            loaded in parts, its pages or rows as the loader gave them.

    Returns:
        New documents in the same order, with their old metadata and `doc_key`,
        `doc_uri`, `chunk_index`, `n_chunks`, `char_start`, `char_end`, and `part_index`
        for parts; `start_index` is corrected. A chunk whose place cannot be proved gets
        no `char_start` and loses a `start_index`; `chunk_index` still orders it.

    Raises:
        MissingDocumentError: A chunk does not name its document.
        DocumentNotFoundError: `documents` does not have a document.
        InvalidOptionError: `documents` lacks the page of a chunk, or has a text that is
            not exact.
        ConflictingPositionsError: The chunks fit their text in more than one order.

    Warns:
        PositionWarning: Some chunks' places could not be proved.

    Example:
        >>> chunks = [
        ...     Document(text, metadata={"source": "a.txt"}) for text in ("One", "two.")
        ... ]
        >>> annotated = annotate_positions(chunks, {"a.txt": "One two."})
        >>> [document.metadata["char_start"] for document in annotated]
        [0, 4]
    """
    chunks = [*chunks] if isinstance(chunks, Iterator) else chunks
    check_entries("chunks", chunks, Document)
    source = document_source(documents)
    if not chunks:
        return []
    identify_documents([Hit("", document.metadata) for document in chunks])
    members: dict[str, list[int]] = {}
    for index, chunk in enumerate(chunks):
        members.setdefault(str(document_name(chunk.metadata)), []).append(index)
    annotated = list(chunks)
    for name, indexes in members.items():
        of = [chunks[index] for index in indexes]
        loaded: Sequence[Document] = []
        if isinstance(documents, (list, tuple)):
            loaded = [d for d in documents if document_name(d.metadata) == name]
        whole = loaded or exact_text(name, source.read(name))
        for place, entry in _entries(name, of, whole).items():
            metadata = replace_positions(of[place].metadata, entry)
            changed = of[place].model_copy(update={"metadata": metadata})
            annotated[indexes[place]] = changed
    return annotated


def _entries(
    name: str, chunks: Sequence[Document], source: str | Sequence[Document]
) -> dict[int, dict[str, str | int]]:
    """Return the metadata to write on the chunks of one document, by their index."""
    groups = _parts_of(source, chunks)
    parts = [
        SourcePart(text, [chunks[i].page_content for i in indexes], number)
        for text, number, indexes in groups
    ]
    indexes = [index for *_, of in groups for index in of]
    entries = [entry for row in annotate_chunks(name, parts) for entry in row]
    return dict(zip(indexes, entries, strict=True))


def _parts_of(
    source: str | Sequence[Document], chunks: Sequence[Document]
) -> list[tuple[str, int | None, list[int]]]:
    """Return the text, the number and the chunks' indexes of each part."""
    if isinstance(source, str):
        (number,) = part_numbers([chunks[0].metadata])
        one = len({_page(document) for document in chunks}) == 1
        return [(source, number if one else None, list(range(len(chunks))))]
    members: dict[Any, list[int]] = {_page(part): [] for part in source}
    if len(members) < len(source):
        message = (
            "documents= has several texts of one name that no page or row tells apart. "
            "Number them before they are split, as with the metadata page=0, page=1, …"
        )
        raise InvalidOptionError(message, option="documents", value=list(source))
    for index, document in enumerate(chunks):
        page = _page(document)
        if page not in members:
            message = (
                f"Chunk {index} is of {page[0]} {page[1]!r}, and documents= has no "
                "such part. Give all pages that the chunks were made of, as loaded."
            )
            raise InvalidOptionError(message, option="documents", value=page)
        members[page].append(index)
    numbers = part_numbers([part.metadata for part in source])
    parts = [
        (part.page_content, number, members[_page(part)])
        for part, number in zip(source, numbers, strict=True)
    ]
    return sorted(parts, key=lambda part: part[1] or 0)


def _page(document: Document) -> tuple[str, Any]:
    """Return the key and value that name the part of a text; empty if none does."""
    for key in PART_KEYS:
        value = document.metadata.get(key)
        if value is not None:
            return key, value
    return "", None
