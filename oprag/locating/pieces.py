"""Chunks without their white space, and without characters that were cut.

Splitters that count tokens cut inside characters. The rest of such a character decodes
to U+FFFD at the end of one chunk and at the beginning of the next.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from oprag.chunk import CUT_CHARACTER
from oprag.locating.seeds import held
from oprag.locating.squeezed_text import squeeze


class Piece(NamedTuple):
    """A chunk in the form that is searched for."""

    text: str
    """The text without white space and cut characters; empty if nothing is left."""
    before: str = ""
    """The rest of a cut character before it."""
    after: str = ""
    """The same after it."""


def pieces_of(flat: str, chunks: Sequence[str]) -> list[Piece]:
    """Return the chunks in the form that is searched for.

    A text that has such characters itself keeps them in the chunks that it holds.

    Args:
        flat: The text that was split, without white space.
        chunks: As the splitter made them.
    """
    texts = [squeeze(chunk) for chunk in chunks]
    kept = held(flat, texts) if CUT_CHARACTER in flat else set[int]()
    pieces = []
    for number, text in enumerate(texts):
        if number in kept or CUT_CHARACTER not in text:
            pieces.append(Piece(text))
            continue
        rest = text.lstrip(CUT_CHARACTER)
        whole = rest.rstrip(CUT_CHARACTER)
        before, after = text[: len(text) - len(rest)], rest[len(whole) :]
        pieces.append(Piece(whole, before, after))
    return pieces


def gaps_after(pieces: Sequence[Piece]) -> list[int]:
    """Return how many characters may be missing after each of consecutive pieces.

    It is one if a character was cut between the piece and the next.

    Args:
        pieces: In order, none empty.
    """
    gaps = [int(bool(left.after or right.before)) for left, right in pairwise(pieces)]
    return [*gaps, 0]
