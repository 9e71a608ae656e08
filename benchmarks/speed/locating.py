"""Finding the places of chunks that a splitter made without them."""

from __future__ import annotations

import gc
import math
import random
import time
from collections.abc import Callable, Iterator, Sequence

from benchmarks.speed.growth import slope
from benchmarks.speed.setup import Setup
from benchmarks.speed.texts import longer
from benchmarks.speed.timing import Measured, race, ratio, throughput
from oprag.locating import locate

_LINE = "All work and no play makes Jack a dull boy.\n"
_ALTERED = 10
"""Every so many chunks one is altered."""


def measure(setup: Setup) -> Iterator[Measured]:
    """Measure all rows of the group."""
    text = setup.text
    functions = ours(setup)
    long = {"peer": lambda: _split(text, 1000, 200), **functions}
    short = {"peer": lambda: _split(text, 500, 50), "short": long.pop("short")}
    times = race(long, setup)
    for name in ("exact", "whitespace"):
        yield ratio(f"locating.{name}", times["peer"], times[name])
    megabytes = len(text.encode()) / 1e6
    yield throughput("locating.speed", times["exact"], megabytes)
    times = race(short, setup)
    yield ratio("locating.short", times["peer"], times["short"])
    yield from _growth(setup)


def ours(setup: Setup) -> dict[str, Callable[[], object]]:
    """What oprag does, to compare one commit with another."""
    text = setup.text
    long = _split(text, 1000, 200)
    cases = {
        "exact": long,
        "whitespace": [" ".join(chunk.split()) for chunk in long],
        "short": _split(text, 500, 50),
    }
    return {
        name: lambda chunks=chunks: locate(text, chunks)  # type: ignore[misc]
        for name, chunks in cases.items()
    }


def _growth(setup: Setup) -> Iterator[Measured]:
    longest = longer(setup.text, max(setup.sizes))
    repeated = _LINE * (max(setup.sizes) // len(_LINE) + 1)
    cases: dict[str, tuple[str, Callable[[list[str]], list[str]]]] = {
        "prose": (longest, list),
        "line": (repeated, list),
        "altered": (longest, _altered),
    }
    for name, (text, prepare) in cases.items():
        sources = {size: text[:size] for size in setup.sizes}
        chunks = {n: prepare(_split(s, 1000, 200)) for n, s in sources.items()}
        # In turns, so that what disturbs one size disturbs the others as well.
        points = [(size, math.inf) for size in setup.sizes]
        for _ in range(setup.growth_repeats):
            points = [
                (size, min(least, _seconds(sources[size], chunks[size])))
                for size, least in points
            ]
        facts = {"points": points, "megabytes": max(setup.sizes) / 1e6}
        yield Measured(f"locating.growth.{name}", slope(points), facts=facts)


def _seconds(source: str, chunks: Sequence[str]) -> float:
    """The processor time of one run."""
    gc.collect()
    start = time.process_time()
    locate(source, chunks)
    return time.process_time() - start


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
