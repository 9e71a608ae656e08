"""Sets of chunk numbers, small enough for millions of chunks."""

from __future__ import annotations

from collections.abc import Container, Iterable


class Numbers(Container[int]):
    """A set of chunk numbers: one bit for each chunk.

    Args:
        numbers: Those to begin with.
    """

    def __init__(self, numbers: Iterable[int] = ()) -> None:
        self._bits = bytearray()
        self.update(numbers)

    def add(self, number: int) -> None:
        """Put a number in."""
        at, bit = divmod(number, 8)
        if at >= len(self._bits):
            self._bits.extend(bytes(at + 1 - len(self._bits)))
        self._bits[at] |= 1 << bit

    def update(self, numbers: Iterable[int]) -> None:
        """Put several in."""
        for number in numbers:
            self.add(number)

    def __contains__(self, number: object) -> bool:
        if not isinstance(number, int):
            return False
        at, bit = divmod(number, 8)
        return at < len(self._bits) and bool(self._bits[at] & 1 << bit)

    def __len__(self) -> int:
        return self._value().bit_count()

    def __le__(self, other: Numbers) -> bool:
        return not self._value() & ~other._value()

    def __or__(self, other: Numbers) -> Numbers:
        size = max(len(self._bits), len(other._bits))
        joined = Numbers()
        joined._bits[:] = (self._value() | other._value()).to_bytes(size, "little")
        return joined

    def _value(self) -> int:
        return int.from_bytes(self._bits, "little")
