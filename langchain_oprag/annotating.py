"""`annotate_positions`: true positions for chunks that any splitter made."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from langchain_core.documents import Document

from oprag.chunk import Hit
from oprag.documents import SourcePart, annotate_chunks, check_entries, replaced
from oprag.errors import InvalidOptionError
from oprag.positions import PART_KEYS, document_name, part_numbers, read_documents


def annotate_positions(
    source: str | Sequence[Document], documents: Sequence[Document]
) -> list[Document]:
    """Find where each chunk stands in its source, and write it into the metadata.

    For chunks of any splitter, whose own positions are missing or wrong. The true
    place of a chunk is proved from its neighbours; see `oprag.locating.locate`.

    Args:
        source: The text that was split; or, for a document that was loaded in
            parts, its pages or rows as the loader gave them.
        documents: All chunks of that text, in the order the splitter made them. They
            are of one document: `source`, `file_path` or another known key of the
            metadata names it (a file before an id).

    Returns:
        New documents in the same order: the metadata as it was, and `doc_key`,
        `doc_uri` (unless `source` or `file_path` is the name), `chunk_index`,
        `n_chunks`, `char_start`, `char_end`, and `part_index` for parts. Where the
        metadata had `start_index` it is corrected. A chunk whose place cannot be proved
        gets no `char_start` and loses a `start_index`; `chunk_index` still orders it.

    Raises:
        MissingDocumentError: A chunk does not name its document.
        InvalidOptionError: The chunks are of several documents, or a chunk is of a
            page that `source` does not have.
        ConflictingPositionsError: The chunks fit their text in more than one order.

    Warns:
        PositionWarning: Some chunks' places could not be proved.

    Example:
        >>> chunks = [
        ...     Document(text, metadata={"source": "a.txt"}) for text in ("One", "two.")
        ... ]
        >>> [d.metadata["char_start"] for d in annotate_positions("One two.", chunks)]
        [0, 4]
    """
    if not isinstance(source, str):
        check_entries("source", source, Document)
    check_entries("documents", documents, Document)
    if not documents:
        return []
    read_documents([Hit("", document.metadata) for document in documents])
    names = [*dict.fromkeys(str(document_name(d.metadata)) for d in documents)]
    if len(names) > 1:
        message = (
            f"The chunks are of {len(names)} documents ({', '.join(names[:3])}, …), "
            "and source= is the text of one. Call annotate_positions per document."
        )
        raise InvalidOptionError(message, option="documents", value=names)
    groups = _parts_of(source, documents)
    parts = [
        SourcePart(text, [documents[i].page_content for i in indexes], number)
        for text, number, indexes in groups
    ]
    written = annotate_chunks(names[0], parts)
    entries = {
        index: entry
        for (_, _, indexes), row in zip(groups, written, strict=True)
        for index, entry in zip(indexes, row, strict=True)
    }
    return [
        document.model_copy(
            update={"metadata": replaced(document.metadata, entries[i])}
        )
        for i, document in enumerate(documents)
    ]


def _parts_of(
    source: str | Sequence[Document], documents: Sequence[Document]
) -> list[tuple[str, int | None, list[int]]]:
    """Text, number and chunks of each part."""
    if isinstance(source, str):
        (number,) = part_numbers([documents[0].metadata])
        one = len({_page(document) for document in documents}) == 1
        return [(source, number if one else None, list(range(len(documents))))]
    members: dict[Any, list[int]] = {_page(part): [] for part in source}
    for index, document in enumerate(documents):
        page = _page(document)
        if page not in members:
            message = (
                f"Chunk {index} is of {page[0]} {page[1]!r}, and source= has no such "
                "part. Give all pages that the chunks were made of, as loaded."
            )
            raise InvalidOptionError(message, option="source", value=page)
        members[page].append(index)
    numbers = part_numbers([part.metadata for part in source])
    parts = [
        (part.page_content, number, members[_page(part)])
        for part, number in zip(source, numbers, strict=True)
    ]
    return sorted(parts, key=lambda part: part[1] or 0)


def _page(document: Document) -> tuple[str, Any]:
    """The key and value that say which part a text is of; empty when none does."""
    for key in PART_KEYS:
        value = document.metadata.get(key)
        if value is not None:
            return key, value
    return "", None
