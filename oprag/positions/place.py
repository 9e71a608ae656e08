"""The place of a result, read from its reserved keys."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from oprag.chunk import PROVED, Proof, Span
from oprag.citations import LONGEST_CITATION, as_line, derive_citation, name_counted
from oprag.landmarks import find_address, read_landmarks
from oprag.metadata import CHAR_END, CHAR_START, CHUNK_HASH, as_number, text_hash
from oprag.positions.identity import identify_result
from oprag.result_key import WrittenPlace, read_written


@dataclass(frozen=True, slots=True)
class Place:
    """The place of a result in its document, and in the list that was retrieved."""

    document_name: str
    """The document's name for people."""
    document_key: str
    """Identifies the document: equal for all results of one document."""
    part: int | None
    """Page, row or part that the characters are relative to; None if there is none."""
    start: int | None
    """First character, or None if it is unknown."""
    end: int | None
    """One past the last character, or None if it is unknown."""
    spans: tuple[Span, ...]
    """The spans of the document in the text; more than one if it has gaps."""
    rank: int
    """Its place in the list that was retrieved, 0 = best."""
    citation: str
    """The place for people: `contract.txt, page 3, characters 120-480`."""
    proof: Proof
    """The proof of the place; see `oprag.chunk.Proof`. If the text was changed after
    the place was written, its beginning is only recorded."""
    exact: bool
    """Whether the text is proved to be the slice of the document from `start` to `end`.
    False if the place is only recorded, and if the text was changed after the place was
    written."""
    problem: str | None
    """The kind of error that `on_problem="warn"` did not raise, or None."""
    heading: str | None = None
    """The headings over its beginning, `Lease > Rent`; None if there is none."""
    start_time: float | None = None
    """The second at which its text begins to be said; None if there is none."""
    end_time: float | None = None
    """The second at which its text has been said; None if there is none."""
    url: str | None = None
    """Its address, at its page or second if such addresses can name it; None for
    none."""


def place_of(result: Any) -> Place | None:
    """Return the place of a result of any component, in any form.

    Args:
        result: A LangChain `Document`, a LlamaIndex node or `NodeWithScore`, or the
            mapping that JSON or a checkpointer made of one.

    Returns:
        The place; None if oprag wrote none.
    """
    result = _field(result, "node") or _field(result, "kwargs") or result
    metadata = _field(result, "metadata")
    written = read_written(metadata) if isinstance(metadata, Mapping) else None
    if written is None:
        return None
    identity = identify_result(metadata, written)
    whole = written.whole
    start = end = None
    spans = written.spans
    if whole is not None:
        start, end = whole.start, whole.end
        if start == end:  # only the beginning is known
            end, spans = None, ()
    text = _text_of(result)
    span = read_position(written, text).span
    proof = read_proof(metadata, text, span)
    as_long = span is not None and span.end - span.start == len(text)
    landmarks = read_landmarks(metadata)
    return Place(
        identity.name,
        identity.key,
        written.part,
        start,
        end,
        spans,
        written.rank or 0,
        read_citation(metadata, written),
        proof,
        proof in PROVED and as_long and not is_unfit(written),
        written.problem,
        landmarks.heading or None,
        landmarks.start_time,
        landmarks.end_time,
        find_address(metadata),
    )


def read_citation(metadata: Mapping[str, Any], written: WrittenPlace) -> str:
    """Return the place of a result for people."""
    if written.citation is not None:
        return as_line(written.citation, LONGEST_CITATION)
    name = identify_result(metadata, written).name
    position = "" if written.counted is None else name_counted(written.counted)
    return derive_citation(name, metadata, written.part, written.spans, position)


class Position(NamedTuple):
    """The place of a chunk in its document, by its metadata."""

    key: tuple[Any, ...] | None = None
    """See `Chunk.position`; None if not known."""
    span: Span | None = None
    part: int | None = None


def read_position(written: WrittenPlace, text: str) -> Position:
    """Return the position of a result, by the place that was written on it.

    If its text was changed, the span is empty and marks the beginning of the text.
    """
    whole, part = written.whole, written.part
    if whole is None:
        return Position(None, None, part)
    start, end = whole
    if start == end or written.text_hash != text_hash(text):
        end = start
    return Position((part or 0, start, end), Span(start, end), part)


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
    result = read_written(metadata)
    if span is None:
        return "chained" if _is_linked(result, text) else "none"
    if result is not None:
        is_whole = span.start < span.end and result.proof != "none"
        return result.proof if is_whole else "recorded"
    written = metadata.get(CHUNK_HASH)
    if written is None or span.end - span.start != len(text):
        return "recorded"
    own = as_number(metadata.get(CHAR_START)), as_number(metadata.get(CHAR_END))
    return "stamped" if own == span and written == text_hash(text) else "recorded"


def _is_linked(result: WrittenPlace | None, text: str) -> bool:
    """Return whether links numbered the chunk of a result."""
    if result is None or result.spans or result.proof != "chained":
        return False
    return result.counted is not None and result.text_hash == text_hash(text)


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
        span = None if is_unfit(written) else read_position(written, text).span
    if span is None or span.end - span.start != len(text):
        return None
    return span, read_proof(metadata, text, span)


def is_unfit(written: WrittenPlace) -> bool:
    """Return whether a result says that it is not the slice of one span."""
    return len(written.spans) > 1 or not written.is_slice


def _field(value: Any, name: str) -> Any:
    return value.get(name) if isinstance(value, Mapping) else getattr(value, name, None)


def _text_of(result: Any) -> str:
    for name in ("page_content", "text"):
        if isinstance(text := _field(result, name), str):
            return text
    text = _field(_field(result, "text_resource"), "text")
    return text if isinstance(text, str) else ""
