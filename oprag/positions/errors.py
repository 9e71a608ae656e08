"""Errors about places: what was found, and the one way out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from oprag.chunk import Chunk, Hit
from oprag.errors import ConflictingPositionsError, MissingPositionError, PositionError
from oprag.positions.keys import as_number, known_positions

_WAY_OUT = "Give the full texts as documents=, and each chunk is found in its text."
_LISTED = 3
"""Chunks that an error names."""
_WHY = {"ambiguous": "is more than once in its text", "not_found": "is not in its text"}


def no_position(
    lacking: Sequence[tuple[Hit, int]], document: str, position_keys: Any
) -> MissingPositionError:
    """Return the error for chunks without a position that can be used.

    Args:
        lacking: The chunks and their ranks. The message names the first, or the first
            that has something else than a number.
        document: Key of its document.
        position_keys: The option.
    """
    useless = [_useless(hit) for hit, _ in lacking]
    odd = [number for number, shown in enumerate(useless) if "(no number)" in shown]
    first = odd[0] if odd else 0
    hit, rank = lacking[first]
    keys = tuple(sorted(map(str, hit.metadata)))
    message = (
        f"Document {document!r}: the chunk at rank {rank} has no position that can be "
        f"used. Metadata keys found: {', '.join(keys) or 'none'}."
    )
    if position_keys is not None:
        message += f" position_keys={position_keys!r} gives no number on it."
    elif useless[first]:
        message += f" Not usable for every chunk of the document: {useless[first]}."
    return MissingPositionError(
        f"{message} {_WAY_OUT}", document=document, rank=rank, keys=keys
    )


def _useless(hit: Hit) -> str:
    return ", ".join(
        f"{key}={value!r}{' (no number)' if as_number(value) is None else ''}"
        for key, value in known_positions(hit).items()
    )


def not_located(
    chunks: Sequence[Chunk], unproved: Sequence[tuple[Chunk, str]], *, known: bool
) -> MissingPositionError:
    """Return the error for chunks whose place in their full text cannot be proved.

    Args:
        chunks: What was retrieved of the document.
        unproved: The chunks concerned, with why: `not_found` or `ambiguous`.
        known: Whether the full text of the document is at hand.
    """
    first, _ = unproved[0]
    name = first.uri
    of = f"{len(unproved)} of its {len(chunks)} retrieved chunks"
    if known:
        listed = "; ".join(
            f"rank {chunk.rank} {_WHY[why]}" for chunk, why in unproved[:_LISTED]
        )
        more = "; …" if len(unproved) > _LISTED else ""
        what = f"the places of {of} cannot be proved ({listed}{more})"
        do = "Give the text that was indexed, or index the document again."
    else:
        what = f"{of} have no position that can be used, and documents= has no exact "
        what += f"text by the name {name!r}"
        do = f"Give its text under that name: documents={{{name!r}: text}}."
    message = f"Document {first.document!r}: {what}. {do}"
    keys = tuple(sorted(map(str, first.metadata)))
    return MissingPositionError(
        message, document=first.document, rank=first.rank, keys=keys
    )


def unscoped(
    document: str, key: str, origin: str, keys: tuple[str, ...]
) -> PositionError:
    """Return the error for offsets that are not counted from the document's start.

    Args:
        document: Key of the document.
        key: The offsets.
        origin: What they are counted from.
        keys: What shows it.
    """
    message = (
        f"Document {document!r}: {key} counts from the start of {origin}, so it does "
        f"not order the document. {_WAY_OUT}"
    )
    return PositionError(
        message, kind="unscoped_position", document=document, keys=keys
    )


def same_position(first: Chunk, second: Chunk) -> ConflictingPositionsError:
    """Return the error for two texts at one position."""
    position = first.position or ()
    shown = ", ".join(str(number) for number in position)
    ranks = (first.rank, second.rank)
    message = (
        f"Document {first.document!r}: the chunks at ranks {first.rank} and "
        f"{second.rank} have different texts and the same position ({shown}), so their "
        f"order is not known. {_WAY_OUT}"
    )
    return ConflictingPositionsError(
        message,
        kind="ambiguous_position",
        document=first.document,
        position=position,
        ranks=ranks,
    )


def conflicting_texts(first: Chunk, second: Chunk) -> ConflictingPositionsError:
    """Return the error for two spans that overlap with different texts."""
    spans = tuple((c.span[0], c.span[1]) if c.span else (0, 0) for c in (first, second))
    message = (
        f"Document {first.document!r}: the chunks at ranks {first.rank} and "
        f"{second.rank} claim characters {spans[0][0]}-{spans[0][1]} and "
        f"{spans[1][0]}-{spans[1][1]}, but their texts differ where these overlap: the "
        f"offsets restart, or are of two versions of the document. {_WAY_OUT}"
    )
    return ConflictingPositionsError(
        message, kind="conflicting_text", document=first.document, spans=spans
    )
