"""The place that a number of a conversation means, and its short form as JSON."""

from __future__ import annotations

import json
import zlib
from base64 import b64decode, b64encode
from collections.abc import Iterable
from typing import Any, NamedTuple, TypeAlias

from oprag.chunk import Chunk, Passage, Span
from oprag.metadata import result_hash

Identity: TypeAlias = tuple[str, int | None, tuple[Span, ...], str]
"""What two passages of one number have in common."""


class NumberPlace(NamedTuple):
    """A passage without its text."""

    key: str
    name: str
    part: int | None
    spans: tuple[Span, ...]
    hash: str
    length: int
    citation: str

    @classmethod
    def of(cls, passage: Passage) -> NumberPlace:
        """Return the place of a passage."""
        text, spans = passage.text, tuple(passage.spans)
        at = passage.document_key, passage.document_name, passage.part, spans
        return cls(*at, result_hash(text), len(text), passage.citation)

    @property
    def identity(self) -> Identity:
        """What it has in common with a passage of the same number."""
        return self.key, self.part, self.spans, self.hash

    def holds(self, text: str) -> bool:
        """Whether a text is the passage's."""
        return len(text) == self.length and result_hash(text) == self.hash

    def passage(self, number: int, text: str, chunk: Chunk | None = None) -> Passage:
        """Return the passage with a text, and what a chunk says besides."""
        spans, lengths = self.spans, [end - start for start, end in self.spans]
        exact = lengths == [self.length] != [0] and bool(text)
        whole = Span(spans[0].start, spans[-1].end) if spans else None
        chunk = (chunk or Chunk("", self.key, number))._replace(
            text=text, span=whole, part=self.part, document_name=self.name
        )
        return Passage(text, self.key, (chunk,), spans, exact, self.citation, number)


def packed(places: Iterable[NumberPlace]) -> list[str]:
    """Return places as JSON, in their order: one string, as much of them repeats."""
    written = json.dumps([*places]).encode()
    return [b64encode(zlib.compress(written)).decode()]


def unpacked(written: Iterable[Any]) -> list[NumberPlace]:
    """Return the places that were `packed`."""
    return [
        NumberPlace(key, name, part, tuple(Span(*span) for span in spans), *rest)
        for each in written
        for key, name, part, spans, *rest in json.loads(
            zlib.decompress(b64decode(each))
        )
    ]
