"""The share of the evidence for an answer that a context holds."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, NamedTuple, TypeAlias, get_args

from oprag.errors import InvalidOptionError, PositionError
from oprag_eval.errors import check_one_of

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
        InvalidOptionError: There is no evidence; no such kind.
        PositionError: A span is negative or reversed, or evidence is empty.
    """
    shares = (share.held == share.size for share in _shares(evidence, kept, kind))
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
    shares = _shares(evidence, kept, kind)
    if kind == "any":
        return max(share.held / share.size for share in shares)
    return sum(share.held for share in shares) / sum(share.size for share in shares)


def _shares(evidence: Spans, kept: Spans, kind: EvidenceKind) -> list[_Share]:
    check_one_of("kind", kind, get_args(EvidenceKind))
    needed = [_checked(span) for span in evidence]
    if not needed:
        message = "evidence is empty: leave such questions out of this metric."
        raise InvalidOptionError(message, option="evidence", value=evidence)
    if empty := [span for span in needed if span[0] == span[1]]:
        raise _invalid(empty[0], "is empty")
    united = _united(kept)
    return [
        _Share(sum(max(0, min(b, end) - max(a, start)) for a, b in united), end - start)
        for start, end in needed
    ]


def _united(spans: Spans) -> list[tuple[int, int]]:
    """The same characters as spans that are apart, ascending."""
    united: list[tuple[int, int]] = []
    for start, end in sorted(_checked(span) for span in spans):
        if united and start <= united[-1][1]:
            united[-1] = (united[-1][0], max(end, united[-1][1]))
        else:
            united.append((start, end))
    return united


def _checked(span: tuple[int, int]) -> tuple[int, int]:
    start, end = span
    if start < 0 or end < start:
        raise _invalid((start, end), "is negative or reversed")
    return start, end


def _invalid(span: tuple[int, int], what: str) -> PositionError:
    start, end = span
    message = f"The span {start}-{end} {what}; it takes 0 <= start < end."
    return PositionError(
        message, kind="invalid_span", document="", start=start, end=end
    )
