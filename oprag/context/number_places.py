"""The place that a number of a conversation means, and its short form as JSON."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, TypeAlias

from oprag.chunk import Chunk, Passage, Span, named_characters
from oprag.metadata import result_hash

Identity: TypeAlias = tuple[str, int | None, tuple[Span, ...], str]
"""What two passages of one number have in common."""

_DIGITS = 4
"""Of the hash of a slice: its place and length are known, too."""
_COUNTED = re.compile(r", (\D*)(\d+), ")


class NumberPlace(NamedTuple):
    """A passage without its text."""

    key: str
    name: str
    part: int | None
    spans: tuple[Span, ...]
    hash: str
    length: int
    citation: str | None = None
    """None where it follows from the others."""

    @classmethod
    def of(cls, passage: Passage) -> NumberPlace:
        """Return the place of a passage."""
        text, spans = passage.text, tuple(passage.spans)
        at = passage.document, passage.name, passage.part, spans
        place = cls(*at, result_hash(text), len(text))
        if place.exact:
            place = place._replace(hash=place.hash[:_DIGITS])
        known = place.passage(1, "").citation == passage.citation
        return place if known else place._replace(citation=passage.citation)

    @property
    def identity(self) -> Identity:
        """What it has in common with a passage of the same number."""
        return self.key, self.part, self.spans, self.hash

    @property
    def exact(self) -> bool:
        """Whether it is one slice of its document."""
        lengths = [end - start for start, end in self.spans]
        return lengths == [self.length] != [0]

    def holds(self, text: str) -> bool:
        """Whether a text is the passage's."""
        return len(text) == self.length and result_hash(text).startswith(self.hash)

    def passage(self, number: int, text: str, chunk: Chunk | None = None) -> Passage:
        """Return the passage with a text, and what a chunk says besides."""
        spans, exact = self.spans, self.exact and bool(text)
        whole = Span(spans[0].start, spans[-1].end) if spans else None
        chunk = (chunk or Chunk("", self.key, number))._replace(
            text=text, span=whole, part=self.part, name=self.name
        )
        return Passage(text, self.key, (chunk,), spans, exact, self.citation, number)


def packed(places: Iterable[NumberPlace]) -> list[Any]:
    """Return places as JSON, in their order, with each document once.

    `[key, name]` of a document, or its place among these where it comes again, and
    after it its passages: `"start length hash part"` of a slice, of others
    `[spans, length, hash, part, citation]`. A document whose citations count its parts
    has `"page ", 1` besides, for `page 3` of part 2.
    """
    documents: dict[tuple[Any, ...], int] = {}
    written: list[Any] = []
    last = None
    for place in places:
        counted = _counted(place)
        document = place.key, place.name, *counted
        if document != last:
            written.append(documents.get(document, [*document]))
            documents.setdefault(document, len(documents))
        citation = None if counted else place.citation
        if place.exact and citation is None:
            slice_of = place.spans[0].start, place.length, place.hash, place.part
            written.append(" ".join(str(each) for each in slice_of if each is not None))
        else:
            spans = [[*span] for span in place.spans]
            written.append([spans, place.length, place.hash, place.part, citation])
        last = document
    return written


def unpacked(written: Iterable[Any]) -> list[NumberPlace]:
    """Return the places that were `packed`."""
    places: list[NumberPlace] = []
    documents: list[Any] = []
    at = 0
    for entry in written:
        if isinstance(entry, int):
            at = entry
        elif isinstance(entry, str):
            start, length, digest, *part = entry.split()
            span = int(start), int(start) + int(length)
            of = int(part[0]) if part else None
            passage = [span], int(length), digest, of, None
            places.append(_place(documents[at], passage))
        elif isinstance(entry[0], str):
            at = len(documents)
            documents.append(entry)
        else:
            places.append(_place(documents[at], entry))
    return places


def _place(document: Sequence[Any], passage: Sequence[Any]) -> NumberPlace:
    (key, name, *counted), (where, length, digest, part, citation) = document, passage
    spans = tuple(Span(*span) for span in where)
    if counted:
        citation = _citation(name, counted, part, spans)
    return NumberPlace(key, name, part, spans, digest, length, citation)


def _counted(place: NumberPlace) -> tuple[str, int] | tuple[()]:
    """What a citation writes before the number of a part, and what it adds to it."""
    found = _COUNTED.search(place.citation or "", len(place.name))
    if found is None or place.part is None:
        return ()
    counted = found[1], int(found[2]) - place.part
    cited = _citation(place.name, counted, place.part, place.spans)
    return counted if cited == place.citation else ()


def _citation(
    name: str, counted: Sequence[Any], part: Any, spans: Sequence[Span]
) -> str:
    before, added = counted
    return f"{name}, {before}{part + added}, {named_characters(spans)}"
