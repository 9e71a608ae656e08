"""A million chunks: what order, budget and `widen` add to a query, and the doctor.

    python -m benchmarks.million --chunks 1000000 --json benchmarks/million.json

PostgreSQL with pgvector on loopback (`tests.real_stores.servers`), vectors of 32
dimensions that cost nothing, an HNSW index; with `--index none` the table as LangChain
makes it, whose searches look at every vector. The doctor runs in a process of its own,
so that its peak of memory is its own.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from tests.real_stores.servers import HOST, SUPERUSER, postgres_server

SIZE = 32
_PER_DOCUMENT = 100
_CHUNK_TOKENS = 64
_K = 40
_BUDGET = 8_000
_QUERIES = 60
_WARM = 5
_TABLE = "chunks"
_INDEXES = {"hnsw": "", "ivfflat": "WITH (lists = 1000)"}
_EXACT = "none"
_PROBES = 10


def main() -> None:
    """Run both parts, print the figures, and write them down."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--chunks", type=int, default=100_000)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--index", choices=[*_INDEXES, _EXACT], default="hnsw")
    parser.add_argument("--doctor", metavar="URL", help=argparse.SUPPRESS)
    parser.add_argument("--only", choices=["queries", "doctor"])
    given = parser.parse_args()
    if given.doctor:
        print(json.dumps(_diagnose(given.doctor)))
        return
    figures: dict[str, Any] = {"chunks": given.chunks, "load": os.getloadavg()[0]}
    with postgres_server() as port:
        url = f"{SUPERUSER}@{HOST}:{port}/postgres"
        figures |= _fill(url, given.chunks, given.index)
        if given.only != "doctor":
            figures["queries"] = _measure_queries(url, given.chunks)
        if given.only != "queries":
            figures["doctor"] = _measure_doctor(url)
    figures["load_after"] = os.getloadavg()[0]
    print(json.dumps(figures, indent=2))
    if given.json:
        given.json.write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")


def _fill(url: str, chunks: int, index: str) -> dict[str, Any]:
    import psycopg

    began = time.perf_counter()
    with _opened(url, create=True), psycopg.connect(f"postgresql://{url}") as database:
        draw = random.Random(0)  # noqa: S311 -- not for security
        columns = "langchain_id, content, embedding, langchain_metadata"
        with database.cursor().copy(f"COPY {_TABLE} ({columns}) FROM STDIN") as copy:
            for each in _documents(chunks):
                vector = [round(draw.gauss(0, 1), 4) for _ in range(SIZE)]
                row = (each.id, each.page_content, str(vector))
                copy.write_row((*row, json.dumps(each.metadata)))
        filled = time.perf_counter() - began
        database.execute("SET maintenance_work_mem = '2GB'")
        if index != _EXACT:
            database.execute(
                f"CREATE INDEX of_vectors ON {_TABLE} USING {index} "
                f"(embedding vector_cosine_ops) {_INDEXES[index]}"
            )
        database.execute(f"ALTER DATABASE postgres SET ivfflat.probes = {_PROBES}")
        database.commit()
        database.autocommit = True
        database.execute("VACUUM ANALYZE")
        sizes = database.execute(
            f"SELECT pg_table_size('{_TABLE}'), "  # noqa: S608 -- no value of anybody's
            "pg_relation_size(to_regclass('of_vectors')), avg(length(content)), "
            f"avg(length(langchain_metadata::text)) FROM {_TABLE}"
        ).fetchone()
    assert sizes is not None
    return {
        "split_and_copy_s": round(filled, 1),
        "index": index,
        "index_s": round(time.perf_counter() - began - filled, 1),
        "table_bytes_per_chunk": round(sizes[0] / chunks),
        "index_bytes_per_chunk": round((sizes[1] or 0) / chunks),
        "text_characters": round(float(sizes[2])),
        "metadata_characters": round(float(sizes[3])),
    }


def _documents(chunks: int) -> Iterator[Any]:
    """Chunks of documents of words drawn at random, as oprag's splitter makes them."""
    from langchain_core.documents import Document

    from langchain_oprag import OffsetTokenSplitter

    draw = random.Random(1)  # noqa: S311 -- not for security
    letters = "abcdefghilmnoprstu"
    words = ["".join(draw.choices(letters, k=draw.randint(2, 8))) for _ in range(5_000)]
    splitter = OffsetTokenSplitter(
        chunk_size=_CHUNK_TOKENS, chunk_overlap=0, tokenizer=_words
    )
    for number in range(-(-chunks // _PER_DOCUMENT)):
        text = " ".join(draw.choices(words, k=_CHUNK_TOKENS * _PER_DOCUMENT))
        name = f"folder-{number % 97}/document-{number:07}.txt"
        yield from splitter.split_documents(
            [Document(text, metadata={"source": name, "tenant": "a"})]
        )


def _words(text: str) -> int:
    return len(text.split())


class _Vectors:
    """A vector of each question, drawn by its text: embedding costs nothing here."""

    def embed_query(self, text: str) -> list[float]:
        draw = random.Random(text)  # noqa: S311 -- not for security
        return [draw.gauss(0, 1) for _ in range(SIZE)]

    async def aembed_query(self, text: str) -> list[float]:
        return self.embed_query(text)

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return [*map(self.embed_query, texts)]


class _opened:  # noqa: N801 -- used as a function
    """The table as LangChain's store."""

    def __init__(self, url: str, *, create: bool = False) -> None:
        from langchain_postgres import PGEngine, PGVectorStore

        self._engine = PGEngine.from_connection_string(f"postgresql+psycopg://{url}")
        if create:
            self._engine.init_vectorstore_table(_TABLE, SIZE)
        self.store = PGVectorStore.create_sync(self._engine, _Vectors(), _TABLE)

    def __enter__(self) -> Any:
        return self.store

    def __exit__(self, *_: object) -> None:
        asyncio.run(self._engine.close())


def _measure_queries(url: str, chunks: int) -> dict[str, Any]:
    from langchain_oprag import OrderPreservingRetriever

    with _opened(url) as store:
        options: dict[str, Any] = {
            "vectorstore": store,
            "k": _K,
            "token_budget": _BUDGET,
            "token_counter": _words,
        }
        ways: dict[str, Callable[[str], Any]] = {
            "store": lambda question: store.similarity_search(question, k=_K),
            "ordered": OrderPreservingRetriever(**options).invoke,
            "widened": OrderPreservingRetriever(**options, widen="fill").invoke,
        }
        times: dict[str, list[float]] = {name: [] for name in ways}
        processor: dict[str, list[float]] = {name: [] for name in ways}
        found = 0
        for turn in range(_QUERIES + _WARM):
            # The same question one after the other; the first ones warm up.
            for name in sorted(ways, reverse=bool(turn % 2)):
                began, used = time.perf_counter(), time.process_time()
                result = ways[name](f"question {turn} of {chunks}")
                times[name].append(time.perf_counter() - began)
                processor[name].append(time.process_time() - used)
                found = len(result)
    medians, used_ms = (
        {
            name: round(1000 * statistics.median(each[_WARM:]), 2)
            for name, each in measured.items()
        }
        for measured in (times, processor)
    )
    added = {
        name: round(medians[name] / medians["store"] - 1, 3)
        for name in ("ordered", "widened")
    }
    return {
        "k": _K,
        "median_ms": medians,
        "processor_ms": used_ms,
        "added": added,
        "results": found,
    }


def _measure_doctor(url: str) -> dict[str, Any]:
    command = [sys.executable, "-m", "benchmarks.million", "--doctor", url]
    ran = subprocess.run(command, check=True, capture_output=True, text=True)  # noqa: S603 -- this file
    figures: dict[str, Any] = json.loads(ran.stdout.splitlines()[-1])
    return figures


def _diagnose(url: str) -> dict[str, Any]:
    from langchain_oprag import diagnose

    with _opened(url) as store:
        before = _peak()
        began = time.perf_counter()
        found = diagnose(store)
        seconds = time.perf_counter() - began
    return {
        "verdict": found.verdict,
        "chunks": found.chunks,
        "documents": found.documents,
        "seconds": round(seconds, 1),
        "chunks_per_second": round(found.chunks / seconds),
        "peak_mib": round(_peak() / 1024),
        "peak_before_mib": round(before / 1024),
        "temporary_folder": tempfile.gettempdir(),
    }


def _peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


if __name__ == "__main__":
    main()
