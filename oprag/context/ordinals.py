"""Numbers for chunks whose characters are not known, in the order of their positions.

A position may be anything that can be compared: an ordinal, a page, a fraction, a date.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from oprag.chunk import Chunk
from oprag.metadata import CHUNK_INDEX, as_number
from oprag.ordering import document_order, group_by_document


def number_in_order(chunks: Sequence[Chunk]) -> list[int]:
    """Number the chunks of one document in reading order.

    A whole number at the end of a position is the chunk's own, because it says how far
    apart two chunks are. A chunk with any other position, or at that of a chunk before
    it, gets the number that follows that chunk's.

    Returns:
        A different number for each chunk, in the order of the input.
    """
    ends = [chunk.position[-1] if chunk.position else 0 for chunk in chunks]
    if {*map(type, ends)} == {int} and len({*ends}) == len(ends):
        return ends  # sorting takes longer, and gives the same
    numbers: dict[int, int] = {}
    following = 0
    for chunk in document_order(chunks):
        own = as_number(chunk.position[-1]) if chunk.position else None
        number = max(following, own or 0)
        numbers[id(chunk)] = number
        following = number + 1
    return [numbers[id(chunk)] for chunk in chunks]


def find_own_number(chunk: Chunk) -> int | None:
    """Return a chunk's `chunk_index`, or where its position says that it begins.

    Returns:
        A character, an ordinal or a page; None if the position is unknown, or not a
        whole number (a fraction, a date).
    """
    number = as_number(chunk.metadata.get(CHUNK_INDEX))
    if number is None and chunk.position:
        number = as_number(chunk.position[min(1, len(chunk.position) - 1)])
    return number


def count_unnumbered(chunks: Sequence[Chunk]) -> dict[Hashable, int]:
    """Number the chunks of each document that has positions without a whole number.

    Returns:
        The numbers by document key and position, ascending in reading order.
    """
    numbers: dict[Hashable, int] = {}
    for key, members in group_by_document(chunks).items():
        placed = [chunk for chunk in members if chunk.position is not None]
        if any(find_own_number(chunk) is None for chunk in placed):
            for chunk, number in zip(placed, number_in_order(placed), strict=True):
                numbers[key, chunk.position] = number
    return numbers
