"""The place of a result, read from its reserved keys."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from oprag.chunk import PROOFS, PROVED, Proof, Span
from oprag.metadata import (
    CHAR_END,
    CHAR_START,
    CHUNK_HASH,
    CITATION,
    DOCUMENT,
    END,
    HASH,
    IDS,
    KEY,
    PART,
    PROBLEM,
    PROOF,
    RANK,
    SPANS,
    START,
    UNFIT,
    text_hash,
)
from oprag.positions.keys import as_number


@dataclass(frozen=True, slots=True)
class Place:
    """The place of a result in its document, and in the list that was retrieved."""

    document_name: str
    """What people call the document."""
    document_key: str
    """Identifies the document: equal for all results of one document."""
    part: int | None
    """Page, row or part that the characters are relative to; None for none."""
    start: int | None
    """First character, or None where it is unknown."""
    end: int | None
    """One past the last character, or None where it is unknown."""
    spans: tuple[Span, ...]
    """The spans of the document in the text; more than one where it has gaps."""
    ids: tuple[str, ...]
    """Ids of the chunks in it."""
    rank: int
    """Its place in the list that was retrieved, 0 = best."""
    citation: str
    """The place for people: `contract.txt, page 3, characters 120-480`."""
    proof: Proof
    """How the place is known; see `oprag.chunk.Proof`. Of a text that was changed after
    the place was written it is only recorded where it begins."""
    exact: bool
    """Whether the text is proved to be the slice of the document from `start` to `end`.
    False where the place is only recorded, and where the text was changed after the
    place was written."""
    problem: str | None
    """The kind of error that `on_problem="warn"` did not raise; None for none."""


def place_of(result: Any) -> Place | None:
    """Return the place of a result of any component, in any form.

    Args:
        result: A LangChain `Document`, a LlamaIndex node or `NodeWithScore`, or the
            mapping that JSON or a checkpointer made of one.

    Returns:
        The place; None where oprag wrote none.
    """
    result = _field(result, "node") or _field(result, "kwargs") or result
    metadata = _field(result, "metadata")
    if not isinstance(metadata, Mapping) or HASH not in metadata:
        return None
    start, end = as_number(metadata.get(START)), as_number(metadata.get(END))
    spans: tuple[Span, ...] = ()
    if start is not None and end is not None:
        spans = read_spans(Span(start, end), metadata)
    text = _text_of(result)
    _, span, _ = placed(metadata, text)
    proof = read_proof(metadata, text, span)
    as_long = span is not None and span.end - span.start == len(text)
    return Place(
        str(metadata.get(DOCUMENT, "")),
        str(metadata.get(KEY, "")),
        as_number(metadata.get(PART)),
        start,
        end,
        spans,
        tuple(str(metadata[IDS]).split("\n")) if IDS in metadata else (),
        as_number(metadata.get(RANK)) or 0,
        str(metadata.get(CITATION, "")),
        proof,
        proof in PROVED and as_long and not is_unfit(metadata),
        metadata.get(PROBLEM),
    )


def is_unchanged(metadata: Mapping[str, Any], text: str) -> bool:
    """Return whether a text is the one that the place in its metadata describes."""
    return bool(metadata.get(HASH) == text_hash(text))


def read_spans(whole: Span, metadata: Mapping[str, Any]) -> tuple[Span, ...]:
    """Return the spans of a text: several where it has gaps.

    Args:
        whole: From its first character to its last.
        metadata: Of a result, or any.
    """
    written = metadata.get(SPANS)
    if not written:
        return (whole,)
    numbers = [as_number(each) for each in str(written).replace(",", "-").split("-")]
    places = [number for number in numbers if number is not None]
    fits = len(places) == len(numbers) and len(places) % 2 == 0
    if not fits or (places[0], places[-1]) != whole or places != sorted(places):
        return (whole,)
    return tuple(map(Span, places[::2], places[1::2]))


def placed(
    metadata: Mapping[str, Any], text: str
) -> tuple[tuple[float, ...] | None, Span | None, int | None]:
    """Return position, span and part of a result, each None where it is unknown.

    The span of a text that was changed is empty: it says where the text begins.
    """
    start, end = as_number(metadata.get(START)), as_number(metadata.get(END))
    part = as_number(metadata.get(PART))
    if start is None:
        return None, None, part
    if end is None or end < start or not is_unchanged(metadata, text):
        return (part or 0, start, start), Span(start, start), part
    return (part or 0, start, end), Span(start, end), part


def read_proof(metadata: Mapping[str, Any], text: str, span: Span | None) -> Proof:
    """Tell how the place of a chunk or a result is known, without its document.

    Args:
        metadata: Of the chunk or the result.
        text: Its text.
        span: The characters that were read from them, by whatever key; of a result as
            `placed` returns them: a text that was changed has no end.
    """
    if span is None:
        return "none"
    if HASH in metadata:
        written = metadata.get(PROOF) if span.start < span.end else None
        return next((proof for proof in PROOFS if proof == written), "recorded")
    written = metadata.get(CHUNK_HASH)
    if written is None or span.end - span.start != len(text):
        return "recorded"
    own = as_number(metadata.get(CHAR_START)), as_number(metadata.get(CHAR_END))
    return "stamped" if own == span and written == text_hash(text) else "recorded"


def read_own_place(metadata: Mapping[str, Any], text: str) -> tuple[Span, Proof] | None:
    """Return the characters that oprag wrote of a chunk or a result, and their proof.

    Returns:
        None where oprag wrote none, and where the text does not fit them.
    """
    start = as_number(metadata.get(CHAR_START))
    end = as_number(metadata.get(CHAR_END))
    span = None if start is None or end is None else Span(start, end)
    if HASH in metadata:
        span = None if is_unfit(metadata) else placed(metadata, text)[1]
    if span is None or span.end - span.start != len(text):
        return None
    return span, read_proof(metadata, text, span)


def is_unfit(metadata: Mapping[str, Any]) -> bool:
    """Whether a result says that it is not the slice of one span."""
    return SPANS in metadata or UNFIT in metadata


def _field(value: Any, name: str) -> Any:
    return value.get(name) if isinstance(value, Mapping) else getattr(value, name, None)


def _text_of(result: Any) -> str:
    for name in ("page_content", "text"):
        if isinstance(text := _field(result, name), str):
            return text
    text = _field(_field(result, "text_resource"), "text")
    return text if isinstance(text, str) else ""
