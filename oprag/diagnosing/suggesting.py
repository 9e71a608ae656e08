"""Options that order an index where the known keys do not.

A key is suggested only if it passes the checks of retrieval on every document, and if
something else speaks for it: the places that sources prove, the order in which the
store gives the chunks, or numbers that run on without a gap.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from oprag.chunk import Chunk, Span
from oprag.diagnosing.checks import Examined, Group, group_chunks, read_group
from oprag.diagnosing.keys import numeric_keys
from oprag.diagnosing.report import Options
from oprag.errors import PositionError
from oprag.metadata import N_CHUNKS, TOKEN_COUNT
from oprag.positions import DocumentKey, PositionKeys

_LIKE_A_POSITION = re.compile(
    r"index|idx|seq|order|ordinal|pos|offset|start|begin|chunk|num|line|para|part|page"
    r"|slide|row|section|chapter|verse|act|scene|time",
    re.IGNORECASE,
)
_COUNTS = (N_CHUNKS, TOKEN_COUNT)
"""Own numbers that say no position."""

_LIKE_A_NAME = re.compile(
    r"doc|file|source|path|url|uri|title|name|book|work|article", re.IGNORECASE
)


def suggest(
    chunks: Sequence[Examined],
    spans: Sequence[Span | None],
    *,
    document_key: DocumentKey | None,
    position_keys: PositionKeys | None,
) -> Options | None:
    """Return the first options that order all documents, and as `spans` prove it."""
    if not chunks:
        return None
    names = [document_key] if document_key else [None, *_name_keys(chunks)]
    for name in names:
        groups = group_chunks(chunks, name)
        if any(not group.key for group in groups):
            continue
        tried = [position_keys] if position_keys else _position_keys(chunks)
        for keys in tried:
            if _orders(chunks, spans, groups, keys):
                return Options(_plain(keys), name if isinstance(name, str) else None)
    return None


def _plain(keys: PositionKeys | None) -> tuple[str, ...] | None:
    if keys is None or callable(keys):
        return None
    return (keys,) if isinstance(keys, str) else tuple(map(str, keys))


def _name_keys(chunks: Sequence[Examined]) -> list[str]:
    """Keys that hold a text on every chunk, the same one on several."""
    first = chunks[0].hit.metadata if len(chunks) > 1 else {}
    return sorted(
        key
        for key, value in first.items()
        if _text(value) and _LIKE_A_NAME.search(key) and _repeats(chunks, key)
    )


def _repeats(chunks: Iterable[Examined], key: str) -> bool:
    """Whether all have a text there, and two the same."""
    seen: set[str] | None = set()
    for chunk in chunks:
        value = chunk.hit.metadata.get(key)
        if not isinstance(value, str) or not value:
            return False
        if seen is not None:
            if value in seen:
                seen = None  # the others need no more than a text
            else:
                seen.add(value)
    return seen is None


def _text(value: object) -> bool:
    return isinstance(value, str) and bool(value)


def _position_keys(chunks: Sequence[Examined]) -> Iterator[PositionKeys | None]:
    yield None
    keys = [
        key
        for key in numeric_keys(chunks)
        if _LIKE_A_POSITION.search(key) and key not in _COUNTS
    ]
    yield from keys
    for scope in keys:
        yield from ([scope, key] for key in keys if key != scope)


def _orders(
    chunks: Sequence[Examined],
    spans: Sequence[Span | None],
    groups: Sequence[Group],
    keys: PositionKeys | None,
) -> bool:
    for group in groups:
        read = read_group([chunks[i].hit for i in group.members], group.name, keys)
        if isinstance(read, PositionError):
            return False
        proved = [spans[i] for i in group.members]
        if keys is not None and not _supported(read, proved):
            return False
    return True


def _supported(chunks: Sequence[Chunk], proved: Sequence[Span | None]) -> bool:
    """Whether something besides the checks speaks for this order."""
    positions = [chunk.position or () for chunk in chunks]
    known = [
        (span, position)
        for span, position in zip(proved, positions, strict=True)
        if span is not None
    ]
    if known:
        return _ascending([position for _, position in sorted(known)])
    if _ascending(positions):
        return True
    numbers = sorted(position[0] for position in positions if len(position) == 1)
    return len(numbers) == len(positions) and all(
        second - first == 1 for first, second in pairwise(numbers)
    )


def _ascending(positions: Sequence[tuple[float, ...]]) -> bool:
    return all(first <= second for first, second in pairwise(positions))
