"""What a run is given."""

from __future__ import annotations

from typing import Any, NamedTuple


class Setup(NamedTuple):
    """The text and how much is done with it."""

    text: str
    repeats: int = 5
    """Turns of every comparison, at least."""
    least_seconds: float = 2.0
    """What takes little time has more turns, until so many seconds are over."""
    most_turns: int = 1_000
    """And no more than so many."""
    sizes: tuple[int, ...] = (2_000_000, 4_000_000, 8_000_000, 16_000_000)
    """Characters, where growth is measured."""
    growth_repeats: int = 3
    """Runs of every size."""
    n_chunks: int = 20_000
    """Chunks of the document that is rebuilt."""
    n_widened: int = 10_000
    """Chunks of each of ten documents in which hits are widened."""
    n_many: int = 100_000
    """Chunks that are put in order at once."""
    megabytes: int = 8
    """Text that is indexed where memory is measured."""
    imports: int = 7
    """Times that every package is imported."""


FULL: dict[str, Any] = {
    "sizes": (1_000_000, 3_000_000, 10_000_000, 30_000_000, 100_000_000),
    "growth_repeats": 1,
    "megabytes": 100,
}
"""What the long run does otherwise."""
SMALL: dict[str, Any] = {
    "repeats": 1,
    "least_seconds": 0.0,
    "most_turns": 1,
    "sizes": (20_000, 40_000),
    "growth_repeats": 1,
    "n_chunks": 500,
    "n_widened": 100,
    "n_many": 1_000,
    "megabytes": 1,
    "imports": 1,
}
"""What the shortest run does otherwise: every row, to see that each runs."""
