"""All chunks of a document that is to be indexed: split, placed, with oprag's keys.

This is decided here for both frameworks. An adapter only says how its documents are
read and made (`Framework`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Sequence
from typing import Any, Generic, TypeVar

from oprag.documents import SourcePart, annotate_chunks, replace_positions
from oprag.errors import UnreadableFileError
from oprag.indexing.flat import UnsupportedMetadata, flat_metadata, is_storable
from oprag.indexing.plan import WantedChunk
from oprag.metadata import (
    ALL_RESULT_KEYS,
    CHUNK_INDEX,
    DOC_SCOPE,
    DOC_VERSION,
    OWN_KEYS,
    PART_INDEX,
    document_version,
    make_indexed_id,
)
from oprag.splitting import (
    Part,
    SourceText,
    group_parts,
    splitter_settings,
    texts_in_chunks,
)
from oprag.tokens import encodable

D = TypeVar("D")
"""A framework's class of documents."""


class Framework(ABC, Generic[D]):
    """Reads, makes and splits a framework's documents."""

    document_type: type[D]
    reserved: Collection[str]
    """Metadata keys that the framework itself writes, over any value there."""
    splitter: object
    exact: bool
    """Whether the splitter is oprag's and itself writes the positions."""

    @property
    @abstractmethod
    def is_estimated(self) -> bool:
        """Whether an estimate decides the cuts, because cl100k cannot be loaded."""

    @abstractmethod
    def read_source(self, document: D) -> SourceText:
        """Return the text, metadata and id that the core needs. Random ids are none."""

    @abstractmethod
    def replace_text(self, document: D, text: str) -> D:
        """Return a copy of a document with another text."""

    @abstractmethod
    def make(
        self, text: str, own_id: str, metadata: dict[str, Any], like: D | None
    ) -> D:
        """Make a document; a copy of another one if `like` is given.

        Args:
            text: Its text.
            own_id: Its id, unless `like` has one that stays the same.
            metadata: Its metadata, oprag's keys among it.
            like: The document that the user gave; None for a file.
        """

    @abstractmethod
    def split(self, documents: Sequence[D]) -> list[WantedChunk]:
        """Split parts of a document, all if the splitter is oprag's; without ids."""

    def finish_chunks(self, chunks: list[WantedChunk]) -> list[WantedChunk]:
        """Return the chunks of one document with the objects for the store."""
        return chunks


def chunks_of(
    name: str,
    parts: Sequence[D],
    framework: Framework[D],
    unsupported_metadata: UnsupportedMetadata,
    mark: str,
) -> list[WantedChunk]:
    """Return all chunks of a document; none if it has no text."""
    if not is_storable(name):
        reason = "holds a NUL character or half a surrogate pair in its name"
        message = (
            f"Document {name!r} {reason}, and not every vector store keeps it. Take it "
            "out before indexing."
        )
        raise UnreadableFileError(message, path=name, reason=reason)
    parts = [_make_storable(part, framework) for part in parts]
    texts = [framework.read_source(part) for part in parts]
    if not any(text.text.strip() for text in texts):
        return []
    (grouped,) = group_parts(texts)
    placed = _place_chunks(grouped, parts, framework)
    if not placed:
        reason = f"has a text that {type(framework.splitter).__name__} made no chunk of"
        message = f"Document {name!r} {reason}. Take another splitter for it."
        raise UnreadableFileError(message, path=name, reason=reason)
    if mark:
        placed[0] = placed[0]._replace(metadata={**placed[0].metadata, DOC_SCOPE: mark})
    chunks = []
    for piece in placed:
        # First the user's metadata, then oprag's in their fixed order.
        given, ours = piece.metadata, (*OWN_KEYS, *ALL_RESULT_KEYS)
        others = {key: value for key, value in given.items() if key not in ours}
        own = {key: given[key] for key in OWN_KEYS if key in given}
        metadata = flat_metadata(
            {**others, **own},
            document=name,
            unsupported_metadata=unsupported_metadata,
            reserved=framework.reserved,
        )
        own_id = make_indexed_id(metadata, int(metadata[CHUNK_INDEX]))
        chunks.append(piece._replace(id=own_id, metadata=metadata))
    return framework.finish_chunks(chunks)


def _make_storable(part: D, framework: Framework[D]) -> D:
    """Replace each character that some stores do not keep by one that all keep."""
    text = framework.read_source(part).text
    if is_storable(text):
        return part
    return framework.replace_text(part, encodable(text).replace("\0", "\ufffd"))


def _place_chunks(
    parts: Sequence[Part], documents: Sequence[D], framework: Framework[D]
) -> list[WantedChunk]:
    """Return all chunks of a document in reading order, each with its place."""
    ordered = [documents[part.place] for part in parts]
    if framework.exact:
        by_number: dict[Any, list[WantedChunk]] = {part.number: [] for part in parts}
        for piece in framework.split(ordered):
            by_number[piece.metadata.get(PART_INDEX)].append(piece)
        rows = list(by_number.values())
    else:
        rows = [framework.split([document]) for document in ordered]
        rows = _locate(parts, rows, framework.splitter)
    return [piece for row in rows for piece in row]


def _locate(
    parts: Sequence[Part], rows: Sequence[Sequence[WantedChunk]], splitter: object
) -> list[list[WantedChunk]]:
    """Find the chunks of a splitter that is not oprag's in their document."""
    name = parts[0].name
    settings = splitter_settings(type(splitter), getattr(splitter, "__dict__", None))
    version = document_version(settings, texts_in_chunks(parts, rows))
    written = annotate_chunks(
        name,
        [
            SourcePart(part.source.text, [piece.text for piece in row], part.number)
            for part, row in zip(parts, rows, strict=True)
        ],
        just_split=True,
    )
    return [
        [
            piece._replace(
                metadata=replace_positions(
                    piece.metadata, {**entry, DOC_VERSION: version}
                )
            )
            for piece, entry in zip(row, entries, strict=True)
        ]
        for row, entries in zip(rows, written, strict=True)
    ]
