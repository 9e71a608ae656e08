"""What is known of candidates before they are cut, in columns."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import NamedTuple

from oprag.chunk import Chunk, Span


class Candidates(NamedTuple):
    """Columns of what is known of candidates, best first."""

    chunks: Sequence[Chunk]
    """The candidates themselves."""
    ranks: Sequence[int]
    """The rank of each."""
    scopes: Sequence[Hashable]
    """What those have in common that may be neighbours of one another."""
    starts: Sequence[float]
    """Where each begins: a character, or the ordinal where there is only this."""
    ends: Sequence[float]
    """Where it ends, exclusive."""
    sliceable: Sequence[bool]
    """Whether parts of it can be told by their characters."""

    def chosen(self, numbers: Sequence[int]) -> list[Chunk]:
        """Return some of them."""
        return [self.chunks[number] for number in numbers]

    @classmethod
    def of(cls, chunks: Sequence[Chunk]) -> Candidates:
        """Read them."""
        spans = [_place(chunk) for chunk in chunks]
        return cls(
            chunks,
            [chunk.rank for chunk in chunks],
            [scope_of(chunk) for chunk in chunks],
            [start for start, _ in spans],
            [end for _, end in spans],
            [is_sliceable(chunk) for chunk in chunks],
        )


def _place(chunk: Chunk) -> tuple[float, float]:
    """The span, or the ordinal as one of length 1."""
    if is_sliceable(chunk):
        return chunk.span or Span(0, 0)
    at = chunk.position[-1] if chunk.position else 0
    return at, at + 1


def is_sliceable(chunk: Chunk) -> bool:
    """Whether parts of a chunk can be told by their characters."""
    return chunk.exact and chunk.position is not None and len(chunk.text) > 0


def scope_of(chunk: Chunk) -> tuple[object, ...]:
    """Return what chunks have in common that may be neighbours of one another."""
    if is_sliceable(chunk):
        return chunk.document, "characters", chunk.part
    if chunk.position is None or chunk.span is not None:
        return chunk.document, "alone", chunk.rank
    return chunk.document, "ordinals", chunk.position[:-1]
