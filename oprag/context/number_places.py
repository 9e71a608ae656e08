"""The place that a number of a conversation means, and its short form as JSON."""

from __future__ import annotations

import json
import zlib
from base64 import b64decode, b64encode
from collections.abc import Iterable
from typing import NamedTuple, TypeAlias

from oprag.chunk import Chunk, Passage, Proof, Span
from oprag.metadata import text_hash

Identity: TypeAlias = tuple[str, int | None, tuple[Span, ...], str]
"""The facts that two passages of one number share."""


class NumberPlace(NamedTuple):
    """A passage without its text."""

    key: str
    name: str
    part: int | None
    spans: tuple[Span, ...]
    hash: str
    length: int
    citation: str
    proof: Proof = "recorded"
    fits: bool = True
    """False if the text is known to be another than that of its spans."""

    @classmethod
    def of(cls, passage: Passage) -> NumberPlace:
        """Return the place of a passage."""
        return cls(
            passage.document_key,
            passage.document_name,
            passage.part,
            tuple(passage.spans),
            text_hash(passage.text),
            len(passage.text),
            passage.citation,
            passage.proof,
            all(chunk.verbatim and chunk.scoped for chunk in passage.chunks),
        )

    @property
    def identity(self) -> Identity:
        """The facts that it shares with a passage of the same number."""
        return self.key, self.part, self.spans, self.hash

    def is_of_text(self, text: str) -> bool:
        """Return whether a text is the passage's."""
        return len(text) == self.length and text_hash(text) == self.hash

    def passage(self, number: int, text: str, chunk: Chunk | None = None) -> Passage:
        """Return the passage with a text, and with all else that a chunk says."""
        spans = self.spans
        chunk = (chunk or Chunk("", self.key, number))._replace(
            text=text,
            span=Span(spans[0].start, spans[-1].end) if spans else None,
            part=self.part,
            document_name=self.name,
            proof=self.proof,
            verbatim=self.fits,
        )
        return Passage(text, self.key, (chunk,), spans, self.citation, number)


def pack_places(places: Iterable[NumberPlace]) -> str:
    """Return places as JSON, in their order, compressed: much of them repeats."""
    written = json.dumps([*places]).encode()
    return b64encode(zlib.compress(written)).decode()


def unpack_places(written: str) -> list[NumberPlace]:
    """Return the places that `pack_places` packed."""
    return [
        NumberPlace(key, name, part, tuple(Span(*span) for span in spans), *rest)
        for key, name, part, spans, *rest in json.loads(
            zlib.decompress(b64decode(written))
        )
    ]
