"""The position of one chunk: its type, its proof, and the one written on a result."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from oprag.chunk import Proof, Span
from oprag.metadata import CHAR_END, CHAR_START, CHUNK_HASH, as_number, text_hash
from oprag.result_key import WrittenPlace, read_written


class Position(NamedTuple):
    """The place of a chunk in its document, by its metadata."""

    key: tuple[Any, ...] | None = None
    """See `Chunk.position`; None if not known."""
    span: Span | None = None
    """See `Chunk.span`."""
    part: int | None = None
    """See `Chunk.part`."""
    is_linked: bool = False
    """Whether links to other chunks number it."""


NO_PLACE = Position()


def place_at_span(start: int, end: int, part: int | None) -> Position:
    """Return the place of characters in a part, or in the document without parts."""
    return Position((part or 0, start, end), Span(start, end), part)


def place_at_number(number: float, part: int | None) -> Position:
    """Return the place of a counted chunk in a part, or in the document."""
    return Position((part or 0, number), None, part)


def place_by_link(number: int, part: int | None) -> Position:
    """Return the place of a chunk that links to other chunks number."""
    return Position((part or 0, number), None, part, is_linked=True)


def place_at_page(part: int | None) -> Position:
    """Return the beginning of a page or another part; no place without one."""
    return NO_PLACE if part is None else Position((part,), None, part)


def read_position(written: WrittenPlace, text: str) -> Position:
    """Return the position of a result, by the place that was written on it.

    If its text was changed, the span is empty and marks the beginning of the text.
    """
    whole = written.whole
    if whole is None:
        return Position(None, None, written.part)
    start, end = whole
    if start == end or not written.describes(text):
        end = start
    return place_at_span(start, end, written.part)


def read_spans(metadata: Mapping[str, Any], whole: Span) -> tuple[Span, ...]:
    """Return the spans of a text, several if it has gaps.

    Args:
        metadata: The metadata of a result, or of any text.
        whole: From the first character of the text to its last.
    """
    written = read_written(metadata)
    if written is None or written.whole != whole:
        return (whole,)
    return written.spans


def read_proof(metadata: Mapping[str, Any], text: str, span: Span | None) -> Proof:
    """Return the proof of a chunk's or a result's place, without its document.

    Args:
        metadata: Of the chunk or the result.
        text: Its text.
        span: The characters that were read from the metadata, by any key. For a result,
            the span from `read_position`, which has no end if the text was changed.
    """
    written = read_written(metadata)
    if span is None:
        is_numbered = written is not None and written.find_link_number(text) is not None
        return "chained" if is_numbered else "none"
    if written is not None:
        is_whole = span.start < span.end and written.proof != "none"
        return written.proof if is_whole else "recorded"
    stamped_hash = metadata.get(CHUNK_HASH)
    if stamped_hash is None or span.end - span.start != len(text):
        return "recorded"
    stamped = as_number(metadata.get(CHAR_START)), as_number(metadata.get(CHAR_END))
    is_stamped = stamped == span and stamped_hash == text_hash(text)
    return "stamped" if is_stamped else "recorded"


def read_own_place(metadata: Mapping[str, Any], text: str) -> tuple[Span, Proof] | None:
    """Return the characters that oprag wrote for a chunk or a result, and their proof.

    Returns:
        None if oprag wrote none, or if the text does not fit them.
    """
    start = as_number(metadata.get(CHAR_START))
    end = as_number(metadata.get(CHAR_END))
    span = None if start is None or end is None else Span(start, end)
    written = read_written(metadata)
    if written is not None:
        span = read_position(written, text).span if written.is_verbatim else None
    if span is None or span.end - span.start != len(text):
        return None
    return span, read_proof(metadata, text, span)
