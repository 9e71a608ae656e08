"""Finding the places of chunks that a splitter made without them."""

from __future__ import annotations

import gc
import random
import time
from collections.abc import Callable, Iterator, Sequence

from benchmarks.speed.growth import slope
from benchmarks.speed.setup import Setup
from benchmarks.speed.texts import longer
from benchmarks.speed.timing import Measured, race, throughput
from oprag.locating import locate

_LINE = "All work and no play makes Jack a dull boy.\n"
_ALTERED = 10
"""Every so many chunks one is altered."""


def measure(setup: Setup) -> Iterator[Measured]:
    """Measure all rows of the group."""
    text = setup.text
    megabytes = len(text.encode()) / 1e6
    cases = {
        "exact": _split(text, 1000, 200),
        "short": _split(text, 500, 50),
        "whitespace": [" ".join(c.split()) for c in _split(text, 1000, 200)],
    }
    times = race(
        {
            name: lambda chunks=chunks: locate(text, chunks)  # type: ignore[misc]
            for name, chunks in cases.items()
        },
        setup.repeats,
    )
    for name in cases:
        yield throughput(f"locating.{name}", times[name], megabytes)
    yield from _growth(setup)


def _growth(setup: Setup) -> Iterator[Measured]:
    longest = longer(setup.text, max(setup.sizes))
    repeated = _LINE * (max(setup.sizes) // len(_LINE) + 1)
    cases: dict[str, tuple[str, Callable[[list[str]], list[str]]]] = {
        "prose": (longest, list),
        "line": (repeated, list),
        "altered": (longest, _altered),
    }
    for name, (text, prepare) in cases.items():
        points = []
        for size in setup.sizes:
            source = text[:size]
            chunks = prepare(_split(source, 1000, 200))
            points.append((size, _seconds(source, chunks, setup.growth_repeats)))
        facts = {"points": points, "megabytes": max(setup.sizes) / 1e6}
        yield Measured(f"locating.growth.{name}", slope(points), facts=facts)


def _seconds(source: str, chunks: Sequence[str], repeats: int) -> float:
    """The least processor time of a few runs."""
    taken = []
    for _ in range(repeats):
        gc.collect()
        start = time.process_time()
        locate(source, chunks)
        taken.append(time.process_time() - start)
    return min(taken)


def _split(text: str, size: int, overlap: int) -> list[str]:
    from langchain_text_splitters import RecursiveCharacterTextSplitter

    splitter = RecursiveCharacterTextSplitter(chunk_size=size, chunk_overlap=overlap)
    return splitter.split_text(text)


def _altered(chunks: list[str]) -> list[str]:
    """Exchange one letter for another in some of the chunks, always the same ones."""
    draw = random.Random(0)  # noqa: S311 -- not for security
    altered = []
    for number, chunk in enumerate(chunks):
        place = draw.randrange(len(chunk))
        changed = number % _ALTERED == 0
        altered.append(f"{chunk[:place]}§{chunk[place + 1 :]}" if changed else chunk)
    return altered
