"""The long units that retrieved chunks stand in.

A unit ranks as its best chunk does (LongRAG, arXiv 2406.15319): one embedding of 4,000
tokens says little about them, those of its chunks say more.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from oprag.chunk import Chunk, Hit, Span, named_characters
from oprag.context import FindText, Order, find_places, place_metadata
from oprag.errors import (
    DocumentNotFoundError,
    InvalidOptionError,
    MissingPositionError,
    OpragError,
    PositionError,
    named,
)
from oprag.metadata import DOC_KEY, DOC_URI, document_key
from oprag.ordering import DocumentOrder
from oprag.ordering import document_order as in_document_order
from oprag.positions import DocumentKey, PositionKeys, read_chunks, read_documents
from oprag.units.grouping_documents import LongUnit

UNIT_DOCUMENTS = "unit_documents"
"""Names of the unit's documents, a list."""
UNIT_SPANS = "unit_spans"
"""Characters of each of them that the unit holds: `[[0, 120], [0, 300]]`."""
UNIT_TOKENS = "unit_tokens"
UNIT_SCORE = "unit_score"
"""Score of that chunk as the store reported it; absent where it did not."""
UNIT_KEYS = (UNIT_DOCUMENTS, UNIT_SPANS, UNIT_TOKENS, UNIT_SCORE)


class FoundUnit(NamedTuple):
    """A unit and its best chunk."""

    unit: LongUnit
    chunk: Chunk

    @property
    def read_as(self) -> Chunk:
        """The unit as a chunk of its document, to be put in order."""
        part = self.unit.part or 0
        return self.chunk._replace(document=self.unit.name, position=(part,))


class UnitIndex:
    """Finds the units that chunks stand in.

    Args:
        units: As `group_documents` gives them.

    Raises:
        InvalidOptionError: A document is in two units that are no parts of it.
        InvalidOptionError: There is no unit, or something is no unit.
    """

    def __init__(self, units: Sequence[LongUnit]) -> None:
        self._of: dict[str, list[LongUnit]] = {}
        listed = isinstance(units, Sequence) and not isinstance(units, str)
        wrong = [*units] if listed else [units]
        wrong = [unit for unit in wrong if not isinstance(unit, LongUnit)]
        if wrong or not units:
            found = f"holds {named(wrong[0])}" if wrong else "is empty"
            message = (
                f"units= {found}. It takes what group_documents({{name: text}}) "
                "returns."
            )
            raise InvalidOptionError(message, option="units", value=units)
        for unit in units:
            for name in unit.documents:
                others = self._of.setdefault(name, [])
                if others and (unit.part is None or others[0].part is None):
                    message = (
                        f"units= has document {name!r} in two units. Group all "
                        "documents in one call."
                    )
                    raise InvalidOptionError(message, option="units", value=name)
                others.append(unit)

    def find(
        self,
        hits: Sequence[Hit],
        *,
        document_key: DocumentKey | None = None,
        position_keys: PositionKeys | None = None,
        full_text: FindText | None = None,
    ) -> list[FoundUnit]:
        """Return the units that chunks stand in, each with its best chunk.

        Args:
            hits: Best first.
            document_key: See `read_documents`. The name has to be one that a unit
                has.
            position_keys: See `read_chunks`; looked at only for chunks of documents
                that are in several units.
            full_text: Exact full texts by name, to find such chunks in where they do
                not say where they stand; None for an error.

        Returns:
            Units, best first, each once. A chunk that reaches over the end of a unit
            stands in the one that has more of it; of equal shares, in the first.

        Raises:
            MissingDocumentError: A chunk does not say of which document it is.
            DocumentNotFoundError: Its document is in no unit.
            PositionError: Its document is in several, and its characters are not
                known or are not in it.
        """
        documents = read_documents(hits, document_key=document_key)
        cut = [len(self._units(n, r)) > 1 for r, (_, n) in enumerate(documents)]
        ranks = [rank for rank, several in enumerate(cut) if several]
        problems: dict[str, OpragError] = {}
        placed = read_chunks(
            [hits[rank] for rank in ranks],
            [documents[rank] for rank in ranks],
            position_keys=position_keys,
            problems=None if full_text is None else problems,
        )
        if full_text is not None:
            placed = find_places(placed, full_text, problems, compared=False)
            if problems:
                raise next(iter(problems.values()))
        places = dict(zip(ranks, placed, strict=True))
        found: dict[LongUnit, FoundUnit] = {}
        for rank, (hit, (key, name)) in enumerate(zip(hits, documents, strict=True)):
            chunk = places.get(rank) or Chunk(hit.text, key, rank)
            chunk = chunk._replace(
                rank=rank,
                name=name,
                score=hit.score,
                metadata=hit.metadata,
                source=hit.source,
            )
            unit = self._unit_of(chunk, self._units(name, rank))
            found.setdefault(unit, FoundUnit(unit, chunk))
        return list(found.values())

    def _units(self, name: str, rank: int) -> Sequence[LongUnit]:
        units = self._of.get(name)
        if units is None:
            message = (
                f"The chunk at rank {rank} is of document {name!r}, which is in none "
                "of the units=. Name with document_key= where chunks carry the names "
                "that group_documents was given."
            )
            raise DocumentNotFoundError(message, document=name)
        return units

    def _unit_of(self, chunk: Chunk, units: Sequence[LongUnit]) -> LongUnit:
        if len(units) == 1:
            return units[0]
        name = chunk.name or chunk.document
        if chunk.span is None or chunk.part is not None:
            message = (
                f"Document {name!r} is in {len(units)} units, and the chunk at rank "
                f"{chunk.rank} does not say at which character of the whole document "
                "it begins. Index again with index_documents."
            )
            keys = tuple(sorted(map(str, chunk.metadata)))
            raise MissingPositionError(
                message, document=name, rank=chunk.rank, keys=keys
            )
        span = chunk.span
        places = [unit.span or Span(0, 0) for unit in units]
        shared, best = max(
            (min(span.end, place.end) - max(span.start, place.start), -number)
            for number, place in enumerate(places)
        )
        if shared <= 0:
            message = (
                f"Document {name!r}: the chunk at rank {chunk.rank} claims characters "
                f"{span.start}-{span.end}, where no unit of it has any. The document "
                "was changed since one of them was made; group and index it again."
            )
            raise PositionError(
                message,
                kind="invalid_span",
                document=name,
                start=span.start,
                end=span.end,
            )
        return units[-best]


def reading_order(
    found: Sequence[FoundUnit],
    k: int,
    *,
    order: Order = "document",
    document_order: DocumentOrder = "best_rank",
) -> list[FoundUnit]:
    """Return the best units in reading order.

    Args:
        found: Best first.
        k: How many to keep; fewer where there are fewer.
        order: `"document"`: parts of one document follow one another as they stand
            in it; inside a unit the documents always keep the order of the grouping.
            `"score"`: as they came.
        document_order: How units that are not parts of one document follow one
            another, see `oprag.ordering.document_order`.

    Raises:
        InvalidOptionError: See `oprag.ordering.document_order`.
    """
    best = [each._replace(chunk=each.read_as) for each in found[:k]]
    if order == "score":
        return best
    units = {each.chunk.rank: each for each in best}
    ordered = in_document_order(
        [each.chunk for each in best], document_order=document_order
    )
    return [units[chunk.rank] for chunk in ordered]


def document_names(found: Sequence[FoundUnit]) -> list[str]:
    """Return the names of the documents to be read, each once."""
    return list(dict.fromkeys(name for each in found for name in each.unit.documents))


def unit_metadata(
    found: FoundUnit, text: str, read: Callable[[str], str]
) -> dict[str, Any]:
    """Return the metadata of a unit.

    Args:
        found: The unit.
        text: Its text.
        read: Gives the full text of a document by its name.

    Returns:
        `doc_key`, `doc_uri`; `unit_*`, see `UNIT_KEYS`; and its place, as every
        result has it. Of a unit with one document these are those of the document, so
        that parts are chunks of it; one with several is a document by itself, named by
        the JSON list of their names, and is the slice of no text: no `oprag_start`.
        Its rank is that of its best chunk, and its citation names each document and the
        characters of it.
    """
    unit, chunk = found.unit, found.chunk
    spans = unit.spans(read)
    own = spans if len(spans) == 1 else ()
    key = document_key(unit.name)
    metadata: dict[str, Any] = {
        DOC_KEY: key,
        DOC_URI: unit.name,
        UNIT_DOCUMENTS: list(unit.documents),
        UNIT_SPANS: [list(span) for span in spans],
        UNIT_TOKENS: unit.tokens,
    }
    if chunk.score is not None:
        metadata[UNIT_SCORE] = chunk.score
    places = [
        f"{name}, {named_characters((span,))}"
        for name, span in zip(unit.documents, spans, strict=True)
    ]
    return metadata | place_metadata(
        text,
        rank=chunk.rank,
        citation="; ".join(places),
        document=unit.name,
        key=key,
        spans=own,
        exact=bool(own),
    )
