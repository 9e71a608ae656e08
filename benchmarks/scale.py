"""Indexing on Ray: how it scales with embedders, its own share, and its memory.

    python -m benchmarks.scale --documents 400 --json benchmarks/scale.json

A local cluster of one node and PostgreSQL on loopback (`tests.stores.servers`). An
embedding waits as a remote service does and computes nothing. Each embedder gets as
many documents, however many there are. Their rate is that of the time in which all of
them work: from when the last one has begun to when the first one has no more. What they
take of it without waiting is oprag's own share: to split, compare, send and write.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
import threading
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil

from oprag.scale import index_on_ray
from tests.scale.corpus import write
from tests.scale.nodes import cluster_of
from tests.scale.stores import Table
from tests.stores.servers import HOST, SUPERUSER, postgres_server

_EMBEDDERS = (1, 4, 16)
_BATCH = 32


def main() -> None:
    """Run all parts, print the figures, and write them down."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--documents", type=int, default=50, help="of ten chunks, for each embedder"
    )
    parser.add_argument("--seconds", type=float, default=4.0, help="a batch waits")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--only", choices=["scaling", "memory"])
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    figures: dict[str, Any] = {
        "documents": given.documents,
        "seconds_per_batch": given.seconds,
        "chunks_per_batch": _BATCH,
        "load": os.getloadavg()[0],
    }
    with (
        tempfile.TemporaryDirectory() as place,
        postgres_server() as port,
        cluster_of(1, 8) as cluster,
    ):
        bench = _Bench(f"{SUPERUSER}@{HOST}:{port}/postgres", cluster.address, place)
        if given.only != "memory":
            figures["scaling"] = bench.scaling(
                given.documents, given.seconds, given.workers
            )
        if given.only != "scaling":
            figures["memory"] = bench.memory(given.documents)
    figures["load_after"] = os.getloadavg()[0]
    print(json.dumps(figures, indent=2))
    if given.json:
        given.json.write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")


class _Bench:
    def __init__(self, database: str, address: str, place: str) -> None:
        import psycopg

        self._database = database
        self._address = address
        self._place = Path(place)
        with psycopg.connect(f"postgresql://{database}") as connection:
            connection.execute("CREATE EXTENSION vector")

    def scaling(self, documents: int, seconds: float, workers: int) -> dict[str, Any]:
        """Chunks per second by embedders, and without any waiting."""
        rates = {
            n: self._run(documents * n, seconds, n, workers)[0] for n in _EMBEDDERS
        }
        own = self._run(documents * _EMBEDDERS[-1], 0, 1, workers)[0]
        return {
            "chunks_per_second": {n: round(rate, 2) for n, rate in rates.items()},
            "share_of_linear": {
                n: round(rate / rates[1] / n, 3) for n, rate in rates.items()
            },
            "own_chunks_per_second": round(own),
        }

    def memory(self, documents: int) -> dict[str, Any]:
        """Largest worker of each kind, in MiB, at n documents and at ten times n."""
        return {
            number: self._run(number, 0, 1, 1)[1]
            for number in (documents, 10 * documents)
        }

    def _run(
        self, documents: int, seconds: float, embedders: int, workers: int
    ) -> tuple[float, dict[str, int]]:
        folder = write(self._place / f"texts{documents}", documents)
        counted = Path(tempfile.mkdtemp(dir=self._place))
        name = f"t{uuid.uuid4().hex}"
        table = Table("langchain", self._database, name, seconds, counted).made()
        with _watched() as largest:
            index_on_ray(
                folder,
                table.opened,
                table.embeddings,
                framework="langchain",
                address=self._address,
                batch_size=_BATCH,
                workers=workers,
                embedders=embedders,
                show_progress=False,
            )
        rate = _rate(counted)
        print(f"{embedders} embedders: {rate:.1f} chunks per second", flush=True)
        return rate, largest


def _rate(counted: Path) -> float:
    """Chunks per second while all embedders work."""
    calls: dict[str, list[tuple[float, int]]] = {}
    for path in counted.iterdir():
        process, moment = path.name.split("-")
        calls.setdefault(process, []).append((int(moment) / 1e9, int(path.read_text())))
    begin = max(min(of_one)[0] for of_one in calls.values())
    end = min(max(of_one)[0] for of_one in calls.values())
    done = [n for of_one in calls.values() for t, n in of_one if begin < t <= end]
    return sum(done) / (end - begin)


@contextmanager
def _watched() -> Iterator[dict[str, int]]:
    """The largest resident memory of the actors of each stage, in MiB."""
    largest: dict[str, int] = {}
    stop = threading.Event()

    def watch() -> None:
        while not stop.wait(0.5):
            for process in psutil.process_iter(["cmdline", "memory_info"]):
                line = " ".join(process.info["cmdline"] or ())
                if "MapBatches(" not in line or process.info["memory_info"] is None:
                    continue
                stage = line.split("MapBatches(", 1)[1].split(")", 1)[0]
                size = process.info["memory_info"].rss // 2**20
                largest[stage] = max(largest.get(stage, 0), size)

    thread = threading.Thread(target=watch)
    thread.start()
    try:
        yield largest
    finally:
        stop.set()
        thread.join()


if __name__ == "__main__":
    main()
