"""What is known of candidates before they are cut, in columns."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import NamedTuple

from oprag.chunk import Chunk


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
        sliceable = [*map(is_sliceable, chunks)]
        spans = [
            chunk.span if whole and chunk.span else _place(chunk)
            for chunk, whole in zip(chunks, sliceable, strict=True)
        ]
        return cls(
            chunks,
            [chunk.rank for chunk in chunks],
            [
                (chunk.document, "characters", chunk.part) if whole else scope_of(chunk)
                for chunk, whole in zip(chunks, sliceable, strict=True)
            ],
            [span[0] for span in spans],
            [span[1] for span in spans],
            sliceable,
        )


def _place(chunk: Chunk) -> tuple[float, float]:
    """The ordinal of a chunk, as a span of length 1."""
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
