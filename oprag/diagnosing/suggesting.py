"""Options that order an index where the known keys do not.

A key is suggested only if it passes the checks of retrieval on every document, and if
something else speaks for it: the places that sources prove, the order in which the
store gives the chunks, or numbers that run on without a gap.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise, permutations

from oprag.chunk import Chunk
from oprag.diagnosing.checks import Examined, Group, group_chunks, read_group
from oprag.diagnosing.report import Options
from oprag.errors import PositionError
from oprag.metadata import N_CHUNKS, TOKEN_COUNT
from oprag.positions import DocumentKey, PositionKeys, as_number

_LIKE_A_POSITION = re.compile(
    r"index|idx|seq|order|ordinal|pos|offset|start|begin|chunk|num|line|para|part|page"
    r"|slide|row|section|chapter|verse|act|scene|time",
    re.IGNORECASE,
)
_LIKE_A_NAME = re.compile(
    r"doc|file|source|path|url|uri|title|name|book|work|article", re.IGNORECASE
)


def suggest(
    chunks: Sequence[Examined],
    starts: Sequence[int],
    *,
    position_keys: PositionKeys | None,
    document_key: DocumentKey | None,
) -> Options | None:
    """Return the first options that order all documents.

    Args:
        chunks: All of the store.
        starts: Where each chunk begins in its source, where that is proved; else -1.
        position_keys: The only ones to try; None for all that look like one.
        document_key: The same.
    """
    if not chunks:
        return None
    for name in [document_key] if document_key else [None, *_name_keys(chunks)]:
        groups = group_chunks(chunks, name)
        if all(group.key for group in groups):
            for keys in [position_keys] if position_keys else _position_keys(chunks):
                if all(_orders(chunks, starts, group, keys) for group in groups):
                    said = name if isinstance(name, str) else None
                    return Options(_plain(keys), said)
    return None


def _plain(keys: PositionKeys | None) -> tuple[str, ...] | None:
    if keys is None or callable(keys):
        return None
    return (keys,) if isinstance(keys, str) else tuple(map(str, keys))


def _name_keys(chunks: Sequence[Examined]) -> list[str]:
    """Keys that hold a text on every chunk, the same one on several."""
    names = {key for key in chunks[0].hit.metadata if _LIKE_A_NAME.search(str(key))}
    seen: dict[str, set[str]] = {key: set() for key in names}
    repeated = set()
    for chunk in chunks:
        for key in list(names):
            value = chunk.hit.metadata.get(key)
            if not isinstance(value, str) or not value:
                names.remove(key)
            elif key not in repeated and value in seen[key]:
                repeated.add(key)
                seen[key].clear()
            elif key not in repeated:
                seen[key].add(value)
    return sorted(names & repeated)


def _position_keys(chunks: Sequence[Examined]) -> Iterator[PositionKeys | None]:
    """The known ones; then keys with a number on every chunk, and pairs of them."""
    yield None
    keys = sorted(
        key
        for key in chunks[0].hit.metadata
        if _LIKE_A_POSITION.search(str(key)) and key not in (N_CHUNKS, TOKEN_COUNT)
    )
    for chunk in chunks:
        keys = [k for k in keys if as_number(chunk.hit.metadata.get(k)) is not None]
    yield from keys
    yield from map(list, permutations(keys, 2))


def _orders(
    chunks: Sequence[Examined],
    starts: Sequence[int],
    group: Group,
    keys: PositionKeys | None,
) -> bool:
    read = read_group([chunks[i].hit for i in group.members], group.name, keys)
    if isinstance(read, PositionError):
        return False
    return keys is None or _supported(read, [starts[i] for i in group.members])


def _supported(chunks: Sequence[Chunk], starts: Sequence[int]) -> bool:
    """Whether something besides the checks speaks for this order."""
    positions = [chunk.position or () for chunk in chunks]
    if any(start >= 0 for start in starts):
        return agrees(positions, starts)
    if _ascending(positions):
        return True
    numbers = sorted(position[0] for position in positions if len(position) == 1)
    return len(numbers) == len(positions) and all(
        second - first == 1 for first, second in pairwise(numbers)
    )


def agrees(positions: Sequence[tuple[float, ...]], starts: Sequence[int]) -> bool:
    """Whether positions follow one another as the proved starts do (-1: unproved)."""
    proved = sorted((s, p) for s, p in zip(starts, positions, strict=True) if s >= 0)
    return _ascending([position for _, position in proved])


def _ascending(positions: Sequence[tuple[float, ...]]) -> bool:
    return all(first <= second for first, second in pairwise(positions))
