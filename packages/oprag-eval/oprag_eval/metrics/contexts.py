"""A context: the share of the evidence that it holds, and the order of its passages."""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections.abc import Hashable, Iterable
from typing import Literal, NamedTuple, TypeAlias

from oprag.errors import InvalidOptionError

EvidenceKind: TypeAlias = Literal["any", "all"]
"""`"any"`: each span suffices. `"all"`: every span is needed."""

Spans: TypeAlias = Iterable[tuple[int, int]]


class _Share(NamedTuple):
    held: int
    size: int


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
    shares = (share.held == share.size for share in _shares(evidence, kept))
    return any(shares) if kind == "any" else all(shares)


def evidence_coverage(evidence: Spans, kept: Spans, *, kind: EvidenceKind) -> float:
    """Return the share of the evidence's characters that the context holds.

    With `"any"` the share of the span that is covered best; with `"all"` the share
    over all spans, where characters that two of them share count once. It takes and
    raises what `evidence_recall` does.

    Returns:
        From 0 to 1; 1 exactly when `evidence_recall` holds.
    """
    evidence = _united(evidence) if kind == "all" else evidence
    shares = _shares(evidence, kept)
    if kind == "any":
        return max(share.held / share.size for share in shares)
    return sum(share.held for share in shares) / sum(share.size for share in shares)


def _shares(evidence: Spans, kept: Spans) -> list[_Share]:
    united = _united(kept)
    shares = [
        _Share(sum(max(0, min(b, end) - max(a, start)) for a, b in united), end - start)
        for start, end in evidence
    ]
    if not shares:
        message = "evidence is empty: leave such questions out of this metric."
        raise InvalidOptionError(message, option="evidence", value=evidence)
    return shares


def _united(spans: Spans) -> list[tuple[int, int]]:
    """The same characters as spans that are apart, ascending."""
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
