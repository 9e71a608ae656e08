"""The idea of the project: retrieved chunks, back in the order the author wrote them.

Retrieval returns chunks best first. A reader, human or model, understands them better
in the order of the document they come from (OP-RAG, arXiv:2409.01666, section 3; DOS
RAG, arXiv:2506.03989, section 3). `document_order` is that step:

    best first:      chunk 7, chunk 2, chunk 9, chunk 3
    document order:  chunk 2, chunk 3, chunk 7, chunk 9

The chunks to keep are chosen before that, best first (`oprag/context/budget.py`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from operator import attrgetter
from typing import Any, Literal, TypeAlias

from oprag.chunk import Chunk
from oprag.errors import InvalidOptionError, OpragError

SortDocuments: TypeAlias = Literal["best_rank"] | Callable[[Sequence[Chunk]], Any]
"""The order of documents; see `document_order`."""


def document_order(
    chunks: Iterable[Chunk], *, sort_documents: SortDocuments = "best_rank"
) -> list[Chunk]:
    """Put chunks in reading order: documents one after another, each by position.

    Inside a document, chunks follow `position`. Those without one come last, by rank.
    Equal positions (one chunk retrieved twice, a page whose order is not proved) are in
    rank order, except for the chunks of a chain (`Chunk.among`).

    Args:
        chunks: In any order; their ranks say how good they are. Not changed.
        sort_documents: The order of the documents. `"best_rank"`: by the best rank
            among a document's chunks. A function from the chunks of one document, best
            first, to a sort key: ascending, ties by best rank.

    Returns:
        A new list with the same objects: a permutation of the input. Ordering it again
        changes nothing. O(n log n).

    Raises:
        InvalidOptionError: The function failed, or its keys cannot be compared.

    Source:
        OP-RAG (arXiv:2409.01666), section 3, orders the chunks of one document.
        The order of several documents is this project's choice.
    """
    groups = group_by_document(chunks)
    documents = _documents_in_order(groups, sort_documents)
    return [
        chunk for document in documents for chunk in _sort_by_position(groups[document])
    ]


def rank_order(chunks: Iterable[Chunk]) -> list[Chunk]:
    """Put chunks best first, as plain retrieval does (`order="rank"`)."""
    return sorted(chunks, key=attrgetter("rank"))


def group_by_document(chunks: Iterable[Chunk]) -> dict[str, list[Chunk]]:
    """Group chunks by document, documents and chunks in order of appearance."""
    groups: dict[str, list[Chunk]] = {}
    for chunk in chunks:
        groups.setdefault(chunk.document_key, []).append(chunk)
    return groups


def _sort_by_position(chunks: Sequence[Chunk]) -> list[Chunk]:
    placed = [chunk for chunk in chunks if chunk.position is not None]
    placed.sort(key=attrgetter("position", "among", "rank"))
    if len(placed) == len(chunks):
        return placed
    return placed + rank_order(chunk for chunk in chunks if chunk.position is None)


def _documents_in_order(
    groups: dict[str, list[Chunk]], how: SortDocuments
) -> list[str]:
    if len(groups) < 2:  # noqa: PLR2004 -- nothing to order
        return list(groups)
    best = {name: min(c.rank for c in chunks) for name, chunks in groups.items()}
    by_rank = sorted(groups, key=best.__getitem__)
    if not callable(how):
        return by_rank
    try:
        keys = {name: how(rank_order(groups[name])) for name in by_rank}
        if any(isinstance(key, float) and math.isnan(key) for key in keys.values()):
            raise ValueError("NaN has no place in an order")  # noqa: TRY301 -- as any other
        return sorted(by_rank, key=keys.__getitem__)
    except OpragError:
        raise
    except Exception as error:  # the user's own code may raise anything
        message = (
            "The function given as sort_documents= failed "
            f"({type(error).__name__}: {error}). It is given the chunks of one "
            "document, best first. Let it return what can be sorted for every document."
        )
        raise InvalidOptionError(message, option="sort_documents", value=how) from error
