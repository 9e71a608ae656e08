"""Neighbours of hits in what is arranged: behind all hits, with the ranks of these."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from oprag.chunk import Chunk, Hit
from oprag.context.options import ContextOptions, Widen
from oprag.context.selection import LONG_TOKEN
from oprag.errors import InvalidOptionError
from oprag.metadata import RANK
from oprag.positions import as_number


class Neighbours(NamedTuple):
    """What of a list was not retrieved but stands beside hits."""

    brought_by: Sequence[int] = ()
    """For each of the last in the list, the place of the hit that brought it."""
    widen: Widen | None = None
    """How far to read on in full texts, beside the hits of `beside`."""
    beside: frozenset[int] = frozenset()
    """Places of hits whose neighbours are slices of the full texts of `documents`."""
    lacking: InvalidOptionError | None = None
    """What is said where no hit tells what stands beside it."""


ALONE = Neighbours()
"""Nothing but hits."""
ALONE_RANKS: Mapping[int, int] = {}


def retrieved_with_neighbours(hits: Sequence[Hit]) -> Neighbours:
    """Return what `arrange` is told of hits that a widening retriever handed out.

    Args:
        hits: Best first, as it gives them: hits by their ranks, and behind them what
            stands beside these, with the same ranks.

    Returns:
        Which of them were brought by which; `ALONE` where they come in another order.
    """
    ranks = [as_number(hit.metadata.get(RANK)) for hit in hits]
    places: dict[int, int] = {}
    own = 0
    for place, rank in enumerate(ranks):
        if rank is None or rank < max(places, default=0):
            break
        places.setdefault(rank, place)
        own = place + 1
    brought = [places[rank] for rank in ranks[own:] if rank in places]
    return Neighbours(brought) if brought and own + len(brought) == len(hits) else ALONE


def behind(
    own: Sequence[Chunk],
    ranks: Mapping[int, int],
    beside: Sequence[Chunk],
    neighbours: Neighbours,
    options: ContextOptions,
) -> tuple[list[Chunk], dict[int, int]]:
    """Put neighbours behind the hits that they were brought by.

    Args:
        own: The hits, best first.
        ranks: Of each hit, by its place in the list.
        beside: What was read of a store beside them, in the order in which it is
            taken; `rank` is the number in `neighbours.brought_by`.
        neighbours: As `arrange` takes them.
        options: Their `documents` give slices beside hits.

    Returns:
        All of them, each neighbour with a rank behind all others; and the rank of the
        hit that brought it, by this one.

    Raises:
        InvalidSpanError: See `surrounding`.
    """
    places = [neighbours.brought_by[chunk.rank] for chunk in beside]
    pairs = [(c, ranks.get(p, p)) for c, p in zip(beside, places, strict=True)]
    texts = options.source_text() if neighbours.beside else None
    if texts is not None and neighbours.widen is not None:
        from oprag.context.surrounding import surrounding

        budget = options.token_budget
        pairs += surrounding(
            own[: options.top_n],
            {ranks[place] for place in neighbours.beside & ranks.keys()},
            reach=math.inf if neighbours.widen == "fill" else neighbours.widen,
            room=math.inf if budget is None else LONG_TOKEN * budget,
            source_text=texts,
        )
    first = max((chunk.rank for chunk in own), default=-1) + 1
    chunks = [chunk._replace(rank=first + n) for n, (chunk, _) in enumerate(pairs)]
    return [*own, *chunks], {first + n: rank for n, (_, rank) in enumerate(pairs)}
