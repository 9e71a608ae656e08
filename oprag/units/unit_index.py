"""The long units that hold retrieved chunks.

A unit ranks as its best chunk does (LongRAG, arXiv 2406.15319): one embedding of 4,000
tokens says little about them, those of its chunks say more.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from oprag.chunk import Chunk, Hit, Passage, Span
from oprag.citations import name_characters
from oprag.context import ContextOptions, locate_hits, write_place
from oprag.documents import check_entries
from oprag.errors import DocumentNotFoundError, MissingPositionError, OpragError
from oprag.metadata import DOC_KEY, DOC_URI, document_key
from oprag.ordering import document_order
from oprag.positions import document_name, identify_documents, read_chunks
from oprag.units.document_groups import LongUnit


class FoundUnit(NamedTuple):
    """A unit and its best chunk."""

    unit: LongUnit
    chunk: Chunk


class UnitIndex:
    """Finds the units that hold chunks."""

    def __init__(self, units: Sequence[LongUnit]) -> None:
        check_entries("units", units, LongUnit)
        self._of: dict[str, list[LongUnit]] = {}
        for unit in units:
            for name in unit.documents:
                self._of.setdefault(name, []).append(unit)

    def rank_units(
        self, hits: Sequence[Hit], options: ContextOptions
    ) -> list[FoundUnit]:
        """Return the units that chunks are in, each with its best chunk.

        Returns:
            Units, best first, each once. A chunk that reaches over the end of a unit
            is in the one that has more of it; of equal shares, in the first.

        Raises:
            MissingDocumentError: A chunk does not name its document.
            DocumentNotFoundError: Its document is in no unit.
            PositionError: Its document is in several, and its characters are not
                known or are not in it.
        """
        documents = identify_documents(hits, document_key=options.document_key)
        problems: dict[str, OpragError] = {}
        keys = options.position_keys
        chunks = read_chunks(hits, documents, position_keys=keys, problems=problems)
        units = []
        for chunk in chunks:
            file = document_name(chunk.metadata) or ""
            of = self._of.get(chunk.text_id) or self._of.get(file)
            if of is None:
                message = (
                    f"The chunk at rank {chunk.rank} is of document {chunk.text_id!r}, "
                    "which is in none of the units=. Name with document_key= where "
                    "chunks carry the names that group_documents was given."
                )
                raise DocumentNotFoundError(message, document=chunk.text_id)
            units.append(of)
            if len(of) == 1:
                problems.pop(chunk.document_key, None)  # it needs no place
            elif chunk.span is None:  # a number does not say which unit
                problems.setdefault(chunk.document_key, _nowhere(chunk, of))
        if texts := options.source_text():
            chunks = locate_hits(chunks, texts.find_text, problems, compared=False)
        for problem in problems.values():
            raise problem
        found: dict[LongUnit, FoundUnit] = {}
        for chunk in chunks:
            unit = _unit_of(chunk, units[chunk.rank])
            found.setdefault(unit, FoundUnit(unit, chunk))
        return list(found.values())


def _unit_of(chunk: Chunk, units: Sequence[LongUnit]) -> LongUnit:
    """Return the unit that has most of a chunk, of the units of its document."""
    if len(units) == 1:
        return units[0]
    span = chunk.span
    if span is not None and chunk.part is None:
        places = [unit.span or Span(0, 0) for unit in units]
        shared, best = max(
            (min(span.end, place.end) - max(span.start, place.start), -number)
            for number, place in enumerate(places)
        )
        if shared > 0:
            return units[-best]
    raise _nowhere(chunk, units)


def _nowhere(chunk: Chunk, units: Sequence[LongUnit]) -> MissingPositionError:
    name = chunk.text_id
    message = (
        f"Document {name!r} is in {len(units)} units, and the chunk at rank "
        f"{chunk.rank} has no characters of any of them. Group the documents again, "
        "and index them with index_documents."
    )
    keys = tuple(sorted(map(str, chunk.metadata)))
    return MissingPositionError(message, document=name, rank=chunk.rank, keys=keys)


def order_units(
    found: Sequence[FoundUnit], k: int, options: ContextOptions
) -> list[FoundUnit]:
    """Return the best units in reading order, or best first, as options say."""
    units = {chunk.rank: unit for unit, chunk in found[:k]}
    chunks = [
        chunk._replace(document_key=unit.name, position=(unit.part or 0,))
        for unit, chunk in found[:k]
    ]
    if options.order == "document":
        chunks = document_order(chunks, sort_documents=options.sort_documents)
    return [FoundUnit(units[chunk.rank], chunk) for chunk in chunks]


def unit_metadata(
    found: FoundUnit,
    text: str,
    read: Callable[[str], str],
    names: Mapping[tuple[str, str], str],
    *,
    has_room: bool = True,
) -> dict[str, Any]:
    """Return the metadata of a unit, with the usual names of its documents.

    Returns:
        `doc_key`, `doc_uri`; `unit_documents` (names of its documents), `unit_spans`
        (the characters of each, `[[0, 120], [0, 300]]`), `unit_tokens` and
        `unit_score` (of its best chunk, if the store reported one); and its place, as
        every result has it. A unit with one document has those of the document, so
        that parts are chunks of it. A unit with several is a document by itself, named
        by the JSON list of their names. It is not a slice of any text, and so has no
        characters. The rank of a unit is that of its best chunk, and its citation
        names each document and the characters of it.
    """
    unit, chunk = found.unit, found.chunk
    spans = unit.spans(read)
    own = tuple(spans) if len(spans) == 1 else ()
    key = document_key(unit.name)
    metadata: dict[str, Any] = {
        DOC_KEY: key,
        DOC_URI: unit.name,
        "unit_documents": list(unit.documents),
        "unit_spans": [list(span) for span in spans],
        "unit_tokens": unit.tokens,
    }
    if chunk.score is not None:
        metadata["unit_score"] = chunk.score
    shown = tuple([names[name, name] for name in unit.documents])
    places = [
        f"{name}, {name_characters(*span)}"
        for name, span in zip(shown, spans, strict=True)
    ]
    as_read = Chunk(
        *(text, key, chunk.rank),
        span=own[0] if own else None,
        document_name=replace(unit, documents=shown).name,
        proof="compared" if own else "none",
    )
    passage = Passage(text, key, (as_read,), own, cited="; ".join(places))
    return write_place(passage, metadata, has_room=has_room)
