"""Results of the adapters, read back as passages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from oprag.chunk import Chunk, Hit, Passage, Span
from oprag.context.results import (
    Result,
    is_placed,
    single_passage,
    spans_of,
    written_problem,
)
from oprag.metadata import (
    CHAR_END,
    CHAR_START,
    CITATION,
    EXACT,
    PART_INDEX,
    PROBLEM,
    RANK,
    RESULT_KEYS,
)
from oprag.positions import as_number, known_document, read_chunks, read_documents


def read_passages(hits: Sequence[Hit]) -> list[Passage]:
    """Return the passage of each result, in the order given.

    Args:
        hits: Results of any component, or other retrieved texts. Of a result its
            metadata say where it stands (`place_metadata`). Of others
            it is read where it can be, and their rank is their place in the list.

    Returns:
        One passage per hit, of one chunk that has the hit's object as its `source`.
    """
    documents = read_documents(hits, problems={})
    strangers = [
        rank
        for rank, (hit, (_, name)) in enumerate(zip(hits, documents, strict=True))
        if not is_placed(hit.metadata, name)
    ]
    read = read_chunks(
        [hits[rank] for rank in strangers],
        [documents[rank] for rank in strangers],
        problems={},
    )
    found = {
        rank: single_passage(chunk._replace(rank=rank))
        for rank, chunk in zip(strangers, read, strict=True)
    }
    return [
        found[rank] if rank in found else _as_written(hit, *documents[rank])
        for rank, hit in enumerate(hits)
    ]


def _as_written(hit: Hit, document: str, name: str) -> Passage:
    metadata = hit.metadata
    part = as_number(metadata.get(PART_INDEX))
    start, end = as_number(metadata.get(CHAR_START)), as_number(metadata.get(CHAR_END))
    span, position = None, None
    if start is not None and end is not None and start <= end:
        span, position = Span(start, end), (part or 0, start, end)
    spans = () if span is None else spans_of(span, metadata)
    chunk = Chunk(
        hit.text,
        document,
        metadata[RANK],
        position,
        span,
        part,
        hit.score,
        None,
        name,
        metadata,
        hit.source,
    )
    exact = span is not None and metadata.get(EXACT) is not False
    return Passage(hit.text, document, (chunk,), spans, exact, cited=metadata[CITATION])


def result_of(passage: Passage, hits: Sequence[Hit] = ()) -> Result:
    """Return what a framework's object for a passage is made of.

    Args:
        passage: Of `read_passages`, `order_context` or any other.
        hits: Of the objects that its chunks came from; none where they came from no
            object of this framework.
    """
    first = passage.chunks[0]
    hit = hits[0] if hits else Hit(first.text, first.metadata)
    known, _ = known_document(hit) or ("", "")
    texts = [chunk.text for chunk in passage.chunks]
    whole = not hits or texts == [each.text for each in hits]
    problem = written_problem(first.metadata, first.name)
    return Result.of_passage(
        passage, whole=whole, named=known != passage.document, problem=problem
    )


def without_place(
    metadata: Mapping[str, Any], name: str | None = None
) -> dict[str, Any]:
    """Return a copy without what oprag wrote of where a result stands.

    Args:
        metadata: Of a result, or of any chunk.
        name: See `is_placed`.
    """
    own = {*RESULT_KEYS} if RANK in metadata and is_placed(metadata, name) else set()
    own.discard(PROBLEM)
    if PROBLEM in metadata and written_problem(metadata, name) is not None:
        own.add(PROBLEM)
    return {key: value for key, value in metadata.items() if key not in own}
