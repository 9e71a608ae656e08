"""The place of a result, read from its reserved keys."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from oprag.chunk import PROVED, Proof, Span
from oprag.citations import LONGEST_CITATION, as_line, derive_citation, name_counted
from oprag.landmarks import find_address, read_landmarks
from oprag.positions.identity import identify_result
from oprag.positions.position import read_position, read_proof
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
        proof in PROVED and as_long and written.is_verbatim,
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


def _field(value: Any, name: str) -> Any:
    return value.get(name) if isinstance(value, Mapping) else getattr(value, name, None)


def _text_of(result: Any) -> str:
    for name in ("page_content", "text"):
        if isinstance(text := _field(result, name), str):
            return text
    text = _field(_field(result, "text_resource"), "text")
    return text if isinstance(text, str) else ""
