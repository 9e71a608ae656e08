"""A list of pieces of which few are read: the others are not made, and not even listed.

A budget takes some hundred pieces of thousands.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from typing import overload

from oprag.chunk import Chunk

_AT_ONCE = 32
"""So many pieces are made together, which is quicker than one by one."""


class PieceChunks(Sequence[Chunk]):
    """Pieces as chunks, made when they are asked for.

    Whether there are any, a look through them and what is behind the first of them
    (`pieces[3:]`) list no more than that needs.

    Args:
        order: Their numbers, in any order.
        made: Makes the chunks of some numbers.
        rest: Lists those that come behind these; called once at most.
    """

    def __init__(
        self,
        order: Sequence[int],
        made: Callable[[Sequence[int]], list[Chunk]],
        rest: Callable[[], Sequence[Chunk]] = tuple,
    ) -> None:
        self._order = order
        self._made = made
        self._rest = functools.cache(rest)

    def __len__(self) -> int:
        return len(self._order) + len(self._rest())

    def __bool__(self) -> bool:
        return bool(self._order or self._rest())

    def __iter__(self) -> Iterator[Chunk]:
        for first in range(0, len(self._order), _AT_ONCE):
            yield from self._made(self._order[first : first + _AT_ONCE])
        yield from self._rest()

    @overload
    def __getitem__(self, at: int) -> Chunk: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[Chunk]: ...
    def __getitem__(self, at: int | slice) -> Chunk | Sequence[Chunk]:
        listed = len(self._order)
        if isinstance(at, slice):
            start = at.start or 0
            if 0 <= start <= listed and at.stop is None and at.step is None:
                return PieceChunks(self._order[start:], self._made, self._rest)
        elif 0 <= at < listed:
            return self._made([self._order[at]])[0]
        every: list[Chunk] = [*self]
        return every[at]
