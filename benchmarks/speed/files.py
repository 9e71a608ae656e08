"""Files of ours that a query runs through: counted, not timed."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.speed.setup import Setup
from benchmarks.speed.timing import Measured


def measure(_: Setup) -> Iterator[Measured]:
    """Count the files of a query by each framework, beside its own splitter."""
    from tests.docs.walks import files_of

    for framework in ("langchain", "llamaindex"):
        count = len(files_of(f"{framework}-foreign"))
        yield Measured(f"files.{framework}", count)
