"""The distance of a context's passages from the order of their documents."""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections.abc import Hashable, Iterable


def wrong_order(places: Iterable[tuple[Hashable, float]]) -> float | None:
    """Return the share of pairs of passages that are in the wrong order.

    0 in document order, 1 in reverse, about a half in random or score order. Kendall's
    τ is 1 minus twice the share. Pairs of two documents have no order of their own and
    are not counted; neither are two passages at one place. Takes n log n steps.

    Args:
        places: (document, position) of each passage, in the order in which the
            reader gets them. Positions are offsets or ordinals.

    Returns:
        None without a pair.

    Source:
        Kendall 1938. The reference measurement of order-preserving retrieval counts
        the share of wrong pairs.
    """
    seen: dict[Hashable, list[float]] = {}
    pairs = wrong = 0
    for document, position in places:
        before = seen.setdefault(document, [])
        later = len(before) - bisect_right(before, position)
        pairs += later + bisect_left(before, position)
        wrong += later
        insort(before, position)
    return wrong / pairs if pairs else None
