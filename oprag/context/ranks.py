"""The ranks of a list of hits: its order, or the ranks that oprag wrote on results.

A component may be given the results of another one, in reading order. Then the ranks
that were written on the results count, and not their order in the list.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from operator import is_, itemgetter
from typing import NamedTuple, TypeVar

from oprag.chunk import Chunk, Hit
from oprag.context.options import ContextOptions
from oprag.ordering import document_order, rank_order
from oprag.positions import identify_documents, read_chunks
from oprag.result_key import is_result, read_written

_T = TypeVar("_T")


def sort_by_rank(
    found: Sequence[_T], hits: Sequence[Hit], options: ContextOptions
) -> list[_T]:
    """Return the found objects best first: a component's results by their ranks."""
    if not hits or not is_result(hits[0].metadata):
        return [*found]
    by, keys = options.document_key, options.position_keys
    documents = identify_documents(
        hits, document_key=by, position_keys=keys, problems={}
    )
    chunks = read_chunks(hits, documents, position_keys=keys, problems={})
    ranks = _read_ranks(chunks, options) or range(len(found))
    return [
        found[number] for number in sorted(range(len(found)), key=ranks.__getitem__)
    ]


class RankedChunks(NamedTuple):
    """Chunks best first, and where these stand in the list of hits."""

    chunks: list[Chunk]
    places: dict[int, list[int]] | None
    """The indices of the hits of each rank, in the list that was given; None if each
    rank is the index. Slices of one hit share its rank."""

    def list_places(self, ranks: Iterable[int]) -> list[int]:
        """Return the indices of the hits of these ranks, ascending."""
        if self.places is None:
            return sorted(ranks)
        places = []
        for rank in ranks:
            places += self.places.get(rank, [])
        return sorted(places)


def rank_chunks(chunks: list[Chunk], options: ContextOptions) -> RankedChunks:
    """Rank chunks, and sort them best first.

    A list in a component's output order keeps the ranks written on it. If several such
    lists of different documents are joined, the best of each come first. Any other
    list is ranked by list order.

    Args:
        chunks: Ranked by the list of hits.
        options: See `ContextOptions`.
    """
    ranks = _read_ranks(chunks, options)
    if ranks is None:
        return RankedChunks(chunks, None)
    places: dict[int, list[int]] = {}
    ranked = []
    for chunk, rank in zip(chunks, ranks, strict=True):
        places.setdefault(rank, []).append(chunk.rank)
        ranked.append(chunk._replace(rank=rank))
    return RankedChunks(rank_order(ranked), places)


def _read_ranks(chunks: Sequence[Chunk], options: ContextOptions) -> list[int] | None:
    """Return the ranks on results in their component's order; None for other lists."""
    ranks = []
    for chunk in chunks:
        written = read_written(chunk.metadata)
        if written is None or written.rank is None:
            return None
        ranks.append(written.rank)
    if not ranks:
        return None
    pairs = [*zip(ranks, chunks, strict=True)]
    if ranks != sorted(ranks):
        as_written = [chunk._replace(rank=rank) for rank, chunk in pairs]
        if not _is_in_order(as_written, options):
            return None
    # Slices of one hit share a rank; so do hits of different documents in joined lists.
    hits = [(rank, chunk.document_key) for rank, chunk in pairs]
    if len({*hits}) == len({*ranks}):
        return ranks
    best = dict.fromkeys(sorted(hits, key=itemgetter(0)))
    numbers = {hit: number for number, hit in enumerate(best)}
    return [numbers[hit] for hit in hits]


def _is_in_order(chunks: Sequence[Chunk], options: ContextOptions) -> bool:
    """Return whether chunks are in a component's output order."""
    best_first = rank_order(chunks)
    return any(
        all(map(is_, document_order(best_first, sort_documents=how), chunks))
        for how in ("best_rank", options.sort_documents)
    )
