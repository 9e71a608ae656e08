"""The ranks that results keep where a second component gets what a first handed out.

Such a list stands in reading order: what is best in it, the ranks in its metadata say.
Several such lists, one behind another, are of several searches: their best stand side
by side. A list in any other order was ranked anew (by a reranker, by fusion), and its
own order counts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from operator import is_

from oprag.chunk import Chunk
from oprag.context.results import written_ranks
from oprag.errors import InvalidOptionError
from oprag.metadata import RANK
from oprag.ordering import document_order, rank_order

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
    chunks: list[Chunk], ranks: Sequence[int], how: str
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


def _reads_on(ranked: Sequence[Chunk], how: str) -> bool:
    """Whether chunks stand in reading order, with the documents in an order."""
    try:
        ordered = document_order(ranked, document_order=how)
    except InvalidOptionError:  # not every document has what it goes by
        return False
    return all(map(is_, ordered, ranked))


def side_by_side(chunks: list[Chunk]) -> list[Chunk]:
    """Put the best of several lists before what is second in each, and so on.

    Args:
        chunks: As they were read, duplicates among them.

    Returns:
        The chunks best first, ranked by their new places; as they came, where they are
        no lists of several searches, each whole and as a component handed it out.
    """
    lists = sum([chunk.metadata.get(RANK) == 0 for chunk in chunks])
    if lists < 2 or len(chunks) - lists < _NO_CHANCE:  # noqa: PLR2004 -- one alone
        return chunks
    names = [chunk.name for chunk in chunks]
    ranks = written_ranks([chunk.metadata for chunk in chunks], names)
    if ranks is None:
        return chunks
    ranked = [c._replace(rank=rank) for c, rank in zip(chunks, ranks, strict=True)]
    parts = len({*ranks}) == len({(chunk.document, chunk.rank) for chunk in ranked})
    one = ranks == sorted(ranks) or _reads_on(ranked, "first_seen")
    if parts and one:  # one list, with parts of chunks
        return chunks
    # Where a list may begin so that it and those behind it are whole, from the end.
    begins = {len(chunks)}
    for first in reversed(range(len(chunks))):
        if not begins.isdisjoint(_ends(chunks, ranks, first)):
            begins.add(first)
    if 0 not in begins:
        return chunks
    order = sorted(range(len(chunks)), key=ranks.__getitem__)
    return [chunks[place]._replace(rank=rank) for rank, place in enumerate(order)]


def _ends(chunks: Sequence[Chunk], ranks: Sequence[int], first: int) -> Iterator[int]:
    """Where a whole list that begins there may end."""
    seen: set[int] = set()
    documents: set[str] = set()
    reads_on = best_first = True
    last = 0
    for place in range(first, len(chunks)):
        chunk, rank = chunks[place], ranks[place]
        if place > first:
            before = chunks[place - 1]
            follows = (
                _place(before, ranks[place - 1]) <= _place(chunk, rank)
                if before.document == chunk.document
                else chunk.document not in documents
            )
            reads_on = reads_on and follows
            best_first = best_first and ranks[place - 1] < rank
        if rank in seen or not (reads_on or best_first):
            return
        seen.add(rank)
        documents.add(chunk.document)
        last = max(last, rank)
        if last == len(seen) - 1:
            yield place + 1


def _place(chunk: Chunk, rank: int) -> tuple[bool, tuple[float, ...]]:
    """By what chunks of one document are put in order."""
    return chunk.position is None, chunk.position or (rank,)
