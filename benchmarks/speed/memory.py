"""What indexing holds in memory: a stream of documents into Chroma."""

from __future__ import annotations

import tempfile
import tracemalloc
from collections.abc import Iterator
from itertools import islice

from benchmarks.speed.embedding import Hashes
from benchmarks.speed.setup import Setup
from benchmarks.speed.timing import Measured

_SIZE = 100_000  # characters of one document
_DIMENSIONS = 8
"""Chroma holds the vectors in memory, whoever adds them."""


def measure(setup: Setup) -> Iterator[Measured]:
    """Measure the row of the group.

    The first half fills all caches. Whatever is held of the corpus shows in how much
    higher the peak is in the second. Python's objects are counted: what Chroma's own
    index holds in memory grows with every chunk, whoever adds it.
    """
    import chromadb
    from langchain_chroma import Chroma
    from langchain_core.documents import Document

    from langchain_oprag import OffsetTokenSplitter, index_documents

    def documents() -> Iterator[Document]:
        for number in range(setup.megabytes * 1_000_000 // _SIZE):
            start = number * 997 % max(len(setup.text) - _SIZE, 1)
            text = f"{number} {setup.text[start : start + _SIZE]}"
            yield Document(text, metadata={"source": f"{number}.txt"})

    stream = documents()
    half = setup.megabytes * 1_000_000 // _SIZE // 2
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        client = chromadb.PersistentClient(folder)
        store = Chroma("speed-memory", Hashes(_DIMENSIONS), client=client)
        splitter = OffsetTokenSplitter()
        tracemalloc.start()
        index_documents(islice(stream, half), store, splitter=splitter)
        first = _peak()
        index_documents(stream, store, splitter=splitter)
        second = _peak()
        tracemalloc.stop()
        stored = client.get_collection("speed-memory").count()
    indexed = setup.megabytes / 2
    facts = {"half": indexed, "peaks": [first, second], "chunks": stored}
    grown = max(second - first, 0.0)
    yield Measured("memory.chroma", 100 * grown / indexed, facts=facts)


def _peak() -> float:
    """The most that Python objects held since the last call, in megabytes."""
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.reset_peak()
    return peak / 1e6
