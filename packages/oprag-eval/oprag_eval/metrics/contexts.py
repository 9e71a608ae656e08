"""A context: whether it holds the evidence, and the order of its passages."""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections.abc import Hashable, Iterable
from typing import Literal, TypeAlias

from oprag.errors import InvalidOptionError

EvidenceKind: TypeAlias = Literal["any", "all"]
"""`"any"`: each span suffices. `"all"`: every span is needed."""

Spans: TypeAlias = Iterable[tuple[int, int]]


def evidence_recall(evidence: Spans, kept: Spans, *, kind: EvidenceKind) -> bool:
    """Return whether the context holds the evidence whole.

    A span is held when every character of it lies in a kept span; several kept
    spans may hold it together. With `"any"` one held span is enough, with `"all"`
    every one must be held.

    Args:
        evidence: Spans of the document, in characters, end exclusive, at least one,
            none empty.
        kept: Spans of the same document that are in the context, in any order; they
            may overlap.
        kind: See above.

    Raises:
        InvalidOptionError: There is no evidence.
    """
    united = _united(kept)
    held = [any(a <= start and end <= b for a, b in united) for start, end in evidence]
    if not held:
        message = "evidence is empty: leave such questions out of this metric."
        raise InvalidOptionError(message, option="evidence", value=evidence)
    return any(held) if kind == "any" else all(held)


def _united(spans: Spans) -> list[tuple[int, int]]:
    """Return the same characters as spans that are apart, ascending."""
    united: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if united and start <= united[-1][1]:
            united[-1] = (united[-1][0], max(end, united[-1][1]))
        else:
            united.append((start, end))
    return united


def wrong_order(places: Iterable[tuple[Hashable, float]]) -> float | None:
    """Return the share of pairs of passages that are in the wrong order.

    0 in document order, 1 in reverse, about a half in random or score order. Kendall's
    τ is 1 minus twice the share. Passages of two documents have no order: such a
    pair is not counted. Two passages at one place are not counted either. Takes n log n
    steps.

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
