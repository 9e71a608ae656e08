"""The common case, fast: chunks that stand in the source word for word, in a chain.

A chain reaches from the first character to the last, each chunk beginning inside
the one before it or right after it. One chain is found by looking where the next
chunk is expected. That there is no other follows from its overlaps alone.

Suppose there were another, and call a chunk's shift how far it stands further
right in that one. The first and the last chunk of a chain cannot shift. A chunk's
shift exceeds that of the chunk before it by no more than the two overlap, or there
would be a gap. So where the shifts rise, to a value above 0 or from one below 0 up
to 0, two chunks overlap by some `w` and

- the second chunk also stands 1 to `w` characters further right, or
- the first chunk also stands 1 to `w` characters further left.

Neither anywhere: no other chain. Characters are counted without white space, which
chunks may differ in. Where no chunks overlap there is nothing to look at.
"""

from __future__ import annotations

from collections.abc import Sequence

from oprag.locating.squeezing import squeeze

_PROBE = 24
"""Characters, without white space, whose return would show a second place."""


def chain(source: str, bodies: Sequence[str]) -> list[int] | None:
    """Find the only chain of the bodies through the whole source.

    Args:
        source: The text that was split.
        bodies: Its chunks in order, stripped of white space, none empty.

    Returns:
        Where each body starts in the source, in characters, or None: there is no
        chain, or another one cannot be ruled out this way.
    """
    starts: list[int] = []
    low = end = 0
    previous = ""
    for body in bodies:
        start = end
        while source[start : start + 1].isspace():
            start += 1
        if not source.startswith(body, start):
            low = max(low, end - len(body))
            start = source.rfind(body, low, start + len(body) - 1)
            if start < 0 or _may_move(source, previous, body, start, end):
                return None
        starts.append(start)
        low, end = start, start + len(body)
        previous = body
    return None if source[end:].strip() else starts


def _may_move(source: str, first: str, second: str, start: int, end: int) -> bool:
    """Whether one of two overlapping bodies may stand elsewhere in the overlap.

    Args:
        source: The text.
        first: The body that ends at `end`, behind `start`.
        second: The body that starts at `start`, before `end`.
        start: Where they begin to overlap.
        end: Where they cease to.
    """
    shared = squeeze(source[start:end])
    before = squeeze(source[max(start - 2 * _PROBE, 0) : start])
    after = squeeze(source[end : end + 2 * _PROBE])
    size = min(_PROBE, len(shared), len(before), len(after))
    if size and not _returns(before, shared, after, shared[-size:], shared[:size]):
        return False
    # The ends return, or there is no room to see it: look at the whole bodies.
    tail, head = squeeze(first), squeeze(second)
    reach = 2 * max(len(first), len(second))
    before = squeeze(source[max(start - reach, 0) : start])
    after = squeeze(source[end : end + reach])
    if start > reach:
        tail = tail[max(len(tail) - len(before), 0) :]
    if end + reach < len(source):
        head = head[: len(after)]
    return _returns(before, shared, after, tail, head)


def _returns(before: str, shared: str, after: str, tail: str, head: str) -> bool:
    """Whether the first body's tail stands further left or the second's head right.

    By no more than the two share. Both are searched in the text around that.
    """
    if (shared + after).find(head, 1, len(shared) + len(head)) >= 0:
        return True
    low = max(len(before) - len(tail), 0)
    return (before + shared).find(tail, low, len(before) + len(shared) - 1) >= 0
