"""The chunks of one document as pieces in reading order, each once."""

from __future__ import annotations

from collections.abc import Iterable
from operator import itemgetter
from types import NoneType
from typing import Any

from oprag.documents.refusing import REPAIR, inconsistent
from oprag.documents.stored_chunks import PartStamp, Piece, StoredChunk
from oprag.errors import AmbiguousPositionError, MissingPositionError
from oprag.metadata import (
    CHAR_END,
    CHAR_START,
    CHUNK_INDEX,
    N_CHUNKS,
    NONSPACE_HASH,
    PART_INDEX,
    TEXT_HASH,
    TEXT_LENGTH,
)
from oprag.positions import as_number

NO_PLACE = -1
"""`char_start` and `char_end` of a blank chunk of which no place is known."""

_NAMES = (CHUNK_INDEX, N_CHUNKS, CHAR_START, CHAR_END)


def read_pieces(name: str, chunks: Iterable[StoredChunk]) -> list[Piece]:
    """Read the positions of one document's chunks, at least one, in any order.

    Returns:
        One piece per `chunk_index`, ascending. Only blank chunks need no place.
    """
    pieces: list[Any] = [
        (
            metadata.get(CHUNK_INDEX),
            metadata.get(N_CHUNKS),
            metadata.get(CHAR_START),
            metadata.get(CHAR_END),
            metadata.get(PART_INDEX),
            text,
        )
        for text, metadata, _ in chunks
    ]
    columns = list(zip(*pieces, strict=True))
    if not _are_numbers(columns):
        pieces = [_with_numbers(name, rank, row) for rank, row in enumerate(pieces)]
        columns = list(zip(*pieces, strict=True))
    pieces.sort(key=itemgetter(0))
    if len(set(columns[0])) < len(pieces):
        return _once(name, pieces)
    return pieces


def read_stamps(name: str, chunks: Iterable[StoredChunk]) -> dict[int, PartStamp]:
    """Return what chunks say of the whole text of their part, by `chunk_index`."""
    stamps: dict[int, PartStamp] = {}
    for metadata in [c.metadata for c in chunks if TEXT_LENGTH in c.metadata]:
        text_hash, nonspace = metadata.get(TEXT_HASH), metadata.get(NONSPACE_HASH)
        length = as_number(metadata.get(TEXT_LENGTH))
        index = as_number(metadata.get(CHUNK_INDEX))
        if length is None or index is None or not text_hash:
            continue
        stamp = PartStamp(length, str(text_hash), str(nonspace) if nonspace else None)
        if stamps.setdefault(index, stamp) != stamp:
            what = f"chunk {index} is there twice, as the first of two different texts"
            raise inconsistent(name, what, (index,))
    return stamps


def _are_numbers(columns: list[tuple[Any, ...]]) -> bool:
    """Whether all positions are whole numbers, and parts too, or there are none."""
    return (
        all(set(map(type, column)) == {int} for column in columns[:4])
        and set(map(type, columns[4])) in ({int}, {NoneType})
        and min(map(min, columns[:4])) >= 0
    )


def _with_numbers(name: str, rank: int, row: tuple[Any, ...]) -> Piece:
    index, total, start, end, part = map(as_number, row[:5])
    text = row[5]
    if index is not None and total is not None:
        if start is not None and end is not None:
            return index, total, start, end, part, text
        if not text.strip():
            return index, total, NO_PLACE, NO_PLACE, part, text
    found = (index, total, start, end)
    lacking = [k for k, value in zip(_NAMES, found, strict=True) if value is None]
    which = f"chunk {index}"
    if index is None:
        which = f"a chunk ({len(text):,} characters, char_start {start})"
    message = (
        f"Document {name!r}: {which} has no usable {' and '.join(lacking)}, without "
        "which the text cannot be put together. Index the document again with oprag's "
        "splitters, annotate_positions or PositionAnnotator, or repair the positions: "
        f"{REPAIR}."
    )
    keys = tuple(k for k in sorted(_NAMES) if k not in lacking)
    raise MissingPositionError(message, document=name, rank=rank, keys=keys)


def _once(name: str, pieces: list[Piece]) -> list[Piece]:
    """Without those that a store gave, or holds, twice."""
    kept = pieces[:1]
    for piece in pieces[1:]:
        if piece[0] != kept[-1][0]:
            kept.append(piece)
        elif piece != kept[-1]:
            raise _two_at_once(name, kept[-1], piece)
    return kept


def _two_at_once(name: str, first: Piece, second: Piece) -> Exception:
    index = first[0]
    if first[1] != second[1]:
        what = f"chunk {index} is there as one of {first[1]} and as one of {second[1]}"
        return inconsistent(name, what, (index,))
    where = (
        f"in parts {first[4]} and {second[4]}: chunk_index restarts in every part. "
        "Split all parts of a document in one call, and index it again"
        if first[4] != second[4]
        else "so the store holds two versions of it. Delete the document's chunks and "
        "index it again"
    )
    message = (
        f"Document {name!r}: two different chunks have chunk_index {index}, {where}."
    )
    return AmbiguousPositionError(
        message, document=name, position=(float(index),), ranks=()
    )
