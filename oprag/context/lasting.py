"""The ranks that results keep where a second component gets what a first handed out.

Such a list stands in reading order: what is best in it, the ranks in its metadata say.
A list in any other order was ranked anew (by a reranker, by fusion), and its
own order counts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import is_

from oprag.chunk import Chunk
from oprag.errors import InvalidOptionError
from oprag.ordering import DocumentOrder, document_order, rank_order

_NO_CHANCE = 3
"""So many results that stand behind others of their document, all in reading order, do
not come from a ranking: of five of two documents, one in sixty orders is such."""


def handed_out(
    ranks: Sequence[int],
    documents: Sequence[str],
    reads_on: Callable[[], bool],
    as_told: Callable[[], bool] | None = None,
) -> bool:
    """Whether results come as a component handed them out, so that their ranks last.

    They do best first (`order="score"`), or in reading order with the documents by
    their best ranks. A few may have been taken out since, a document's best among
    them, and documents may follow one another otherwise: where enough results stand
    in reading order for that not to be chance.

    Args:
        ranks: In the list that was given.
        documents: Of which document each is.
        reads_on: Whether the results of each document stand together and in its order.
        as_told: Whether they stand as the component itself is told to put documents;
            None where it is told nothing else.
    """
    best: dict[str, int] = {}
    for document, rank in zip(documents, ranks, strict=True):
        best[document] = min(rank, best.get(document, rank))
    # Only parts of one chunk have the same; else they are of several searches.
    if len({*ranks}) < len({*zip(documents, ranks, strict=True)}):
        return False
    if _ascending(ranks):
        return True
    behind = len(ranks) - len(best)
    if (behind >= _NO_CHANCE or _ascending([*best.values()])) and reads_on():
        return True
    return as_told is not None and as_told()


def _ascending(ranks: Sequence[int]) -> bool:
    return [*ranks] == sorted(ranks)


def with_lasting_ranks(
    chunks: list[Chunk], ranks: Sequence[int], how: DocumentOrder
) -> list[Chunk]:
    """Put results of another component best first again, with the ranks they had.

    Args:
        chunks: As they came, checked; ranked by their places in the list.
        ranks: Those that they have in their metadata (`written_ranks`).
        how: In which order documents follow one another; see `document_order`.

    Returns:
        The chunks best first; as they came, where their order is their relevance.
    """
    pairs = zip(chunks, ranks, strict=True)
    ranked = [chunk._replace(rank=rank) for chunk, rank in pairs]
    documents = [chunk.document for chunk in chunks]

    def reads_on() -> bool:
        return _reads_on(ranked, "first_seen")

    told = (
        None if how in {"best_rank", "first_seen"} else lambda: _reads_on(ranked, how)
    )
    return (
        rank_order(ranked) if handed_out(ranks, documents, reads_on, told) else chunks
    )


def _reads_on(ranked: Sequence[Chunk], how: DocumentOrder) -> bool:
    """Whether chunks stand in reading order, with the documents in an order."""
    try:
        ordered = document_order(ranked, document_order=how)
    except InvalidOptionError:  # not every document has what it goes by
        return False
    return all(map(is_, ordered, ranked))
