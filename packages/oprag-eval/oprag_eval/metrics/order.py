"""How far the passages of a context are from the order of their documents."""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections.abc import Hashable, Iterable
from typing import NamedTuple


class OrderStatistics(NamedTuple):
    """Pairs of passages of one document, counted over all documents."""

    pairs: int
    """Pairs at different places of one document."""
    wrong: int
    """Those of them of which the later passage comes first."""

    @property
    def wrong_share(self) -> float | None:
        """Share of pairs in the wrong order; None without a pair.

        0 in document order, 1 in reverse, about a half in random or score order.
        """
        return self.wrong / self.pairs if self.pairs else None

    @property
    def kendall_tau(self) -> float | None:
        """Kendall's τ against the document's order; None without a pair.

        (right − wrong) / pairs, that is 1 − 2 · `wrong_share`, from −1 to 1.
        """
        return 1 - 2 * self.wrong / self.pairs if self.pairs else None


def order_statistics(places: Iterable[tuple[Hashable, float]]) -> OrderStatistics:
    """Count the pairs of passages that stand in the wrong order.

    Pairs of two documents have no order of their own and are not counted; neither
    are two passages at one place. Takes n log n steps, not n².

    Args:
        places: (document, position) of each passage, in the order in which the
            reader gets them. Positions are offsets or ordinals.

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
    return OrderStatistics(pairs, wrong)
