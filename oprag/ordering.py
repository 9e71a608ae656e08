"""The idea of the project: retrieved chunks, back in the order the author wrote them.

Retrieval returns chunks best first. A reader, human or model, understands them
better in the order of the document they come from (OP-RAG, arXiv:2409.01666,
section 3; DOS RAG, arXiv:2506.03989, section 3). `document_order` is that step:

    best first:      chunk 7, chunk 2, chunk 9, chunk 3
    document order:  chunk 2, chunk 3, chunk 7, chunk 9

Which chunks are kept is decided before, on the best-first list (`selection.py`).
"""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Iterable, Sequence
from operator import attrgetter
from typing import Any

from oprag.chunk import Chunk
from oprag.errors import InvalidOptionError

_NUMBER = re.compile(r"[+-]?[0-9]{1,300}(\.[0-9]{1,300})?")
"""A number as stores write it into a text."""


def document_order(
    chunks: Iterable[Chunk], *, document_order: str = "best_rank"
) -> list[Chunk]:
    """Put chunks in reading order: documents one after another, each by position.

    Inside a document chunks follow `position`; those without one come last, by
    rank. Equal positions (one chunk retrieved twice) stand by rank.

    Args:
        chunks: In any order; their ranks say how good they are. Not changed.
        document_order: How the documents follow one another. `"best_rank"`: by
            the best rank among a document's chunks. `"first_seen"`: by first
            appearance in `chunks`. `"score_sum"`: by the sum of the scores,
            highest first (only where higher is better). Anything else is a
            metadata key: by its value on the document's best chunk, ascending,
            numbers (also such as `"10"`) before texts. Ties stand by best rank.

    Returns:
        A new list with the same objects: a permutation of the input. Ordering
        it again changes nothing. O(n log n).

    Raises:
        InvalidOptionError: `document_order` needs a score or a metadata value
            that a document does not have.

    Source:
        OP-RAG (arXiv:2409.01666), section 3, orders the chunks of one document.
        How several documents follow one another is this project's choice.
    """
    groups = group_by_document(chunks)
    documents = _documents_in_order(groups, document_order)
    return [
        chunk for document in documents for chunk in _in_reading_order(groups[document])
    ]


def rank_order(chunks: Iterable[Chunk]) -> list[Chunk]:
    """Put chunks best first, as plain retrieval does (`order="score"`)."""
    return sorted(chunks, key=attrgetter("rank"))


def group_by_document(chunks: Iterable[Chunk]) -> dict[str, list[Chunk]]:
    """Chunks of each document, documents and chunks in order of appearance."""
    groups: dict[str, list[Chunk]] = {}
    for chunk in chunks:
        groups.setdefault(chunk.document, []).append(chunk)
    return groups


def _in_reading_order(chunks: Sequence[Chunk]) -> list[Chunk]:
    placed = [chunk for chunk in chunks if chunk.position is not None]
    placed.sort(key=attrgetter("position", "rank"))
    if len(placed) == len(chunks):
        return placed
    return placed + rank_order(chunk for chunk in chunks if chunk.position is None)


def _documents_in_order(groups: dict[str, list[Chunk]], how: str) -> list[str]:
    if how == "first_seen" or len(groups) < 2:  # noqa: PLR2004 -- nothing to order
        return list(groups)
    best = {name: min(c.rank for c in chunks) for name, chunks in groups.items()}
    if how == "best_rank":
        return sorted(groups, key=best.__getitem__)
    if how == "score_sum":
        sums = {name: _score_sum(name, chunks) for name, chunks in groups.items()}
        return sorted(groups, key=lambda name: (-sums[name], best[name]))
    values = {name: _value(name, chunks, how) for name, chunks in groups.items()}
    return sorted(groups, key=lambda name: (values[name], best[name]))


def _score_sum(document: str, chunks: Sequence[Chunk]) -> float:
    scores = [chunk.score for chunk in chunks]
    known = [score for score in scores if score is not None and not math.isnan(score)]
    if len(known) < len(scores):
        message = (
            f'document_order="score_sum" needs a score on every chunk, and a chunk of '
            f"document {document!r} has none. Use a retriever that reports scores, or "
            'document_order="best_rank".'
        )
        raise InvalidOptionError(message, option="document_order", value="score_sum")
    return math.fsum(known)


def _value(document: str, chunks: Sequence[Chunk], key: str) -> tuple[bool, float, str]:
    """Sort key of a document: numbers first, ascending, then texts."""
    best = min(chunks, key=lambda chunk: chunk.rank)
    value = best.metadata.get(key)
    number = _as_number(value)
    if value is None or (number is not None and math.isnan(number)):
        message = (
            f"document_order={key!r} is read as a metadata key, and the best chunk of "
            f"document {document!r} does not have it. The named orders are "
            '"best_rank", "first_seen" and "score_sum".'
        )
        raise InvalidOptionError(message, option="document_order", value=key)
    return (True, 0, str(value)) if number is None else (False, number, "")


def _as_number(value: Any) -> float | None:
    """The number that a value is, of whatever type; None for a text that is none."""
    if isinstance(value, str):
        text = value.strip()
        if not _NUMBER.fullmatch(text):
            return None
        return float(text) if "." in text else int(text)
    try:
        return operator.index(value)  # exact, where `float` is not
    except TypeError:
        pass
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        return None
