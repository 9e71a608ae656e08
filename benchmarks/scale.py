"""Indexing on Ray: how it scales with workers, its own share, its memory; the index.

    python -m benchmarks.scale --documents 400 --json benchmarks/scale.json
    python -m benchmarks.scale --only index --documents 20000 --data DATA

A local cluster of one node and PostgreSQL on loopback (`tests.real_stores.servers`). An
embedding waits as a remote service does and computes nothing. Each worker gets as
many documents, however many there are. Their rate is that of the time in which all of
them work: from when the last one has begun to when the first one has no more. What they
take of it without waiting is oprag's own share: to split, compare, send and write.

The second indexes texts of public sets, each many times under other names, in one
process and on a cluster of two nodes, and compares every row of the two tables.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import tempfile
import threading
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil

from langchain_oprag import index_documents
from oprag.indexing import IndexingReport
from oprag_ray import index_on_ray
from tests.real_stores.servers import HOST, SUPERUSER, postgres_server
from tests.scale.corpus import write
from tests.scale.nodes import cluster_of
from tests.scale.stores import Table

_WORKERS = (1, 4, 16)
_BATCH = 32
_LENGTH = 5_500
"""Characters of a text: about fifteen chunks."""


def main() -> None:
    """Run all parts, print the figures, and write them down."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--documents", type=int, default=50, help="of ten chunks, for each worker"
    )
    parser.add_argument("--seconds", type=float, default=4.0, help="a batch waits")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--only", choices=["scaling", "memory", "index"])
    parser.add_argument("--data", type=Path, help="sets of documents, for `index`")
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    if given.only == "index" and given.data is None:
        parser.error("--only index needs --data")
    figures: dict[str, Any] = {
        "documents": given.documents,
        "seconds_per_batch": given.seconds,
        "chunks_per_batch": _BATCH,
        "load": os.getloadavg()[0],
    }
    with (
        tempfile.TemporaryDirectory() as place,
        postgres_server() as port,
        cluster_of(*((2, 2) if given.only == "index" else (1, 8))) as cluster,
    ):
        bench = _Bench(f"{SUPERUSER}@{HOST}:{port}/postgres", cluster.address, place)
        if given.only == "index":
            figures["index"] = bench.index(given.documents, given.data, given.workers)
        if given.only in {None, "scaling"}:
            figures["scaling"] = bench.scaling(given.documents, given.seconds)
        if given.only in {None, "memory"}:
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

    def scaling(self, documents: int, seconds: float) -> dict[str, Any]:
        """Chunks per second by workers, and without any waiting."""
        rates = {n: self._run(documents * n, seconds, n)[0] for n in _WORKERS}
        own = self._run(documents * _WORKERS[-1], 0, 1)[0]
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
            number: self._run(number, 0, 1)[1] for number in (documents, 10 * documents)
        }

    def index(self, documents: int, data: Path, workers: int) -> dict[str, Any]:
        """What one process makes of texts, and the cluster."""
        folder = _texts(data, self._place / "texts", documents)
        found: dict[str, Any] = {}
        for name in ("process", "cluster"):
            table = self._indexed(name)
            began = time.monotonic()
            if name == "process":
                report = index_documents(
                    folder, table.opened(table.embeddings()), show_progress=False
                )
            else:
                report = self._on_cluster(folder, table, workers=workers)
            found[name] = {
                "seconds": round(time.monotonic() - began),
                "report": str(report),
                **self._digest(name),
            }
            print(name, found[name], flush=True)
        process, cluster = ({**f, "seconds": 0} for f in found.values())
        return {**found, "equal": process == cluster}

    def _indexed(self, name: str) -> Table:
        """An empty table that finds the chunks of a document by an index."""
        import psycopg

        table = Table("langchain", self._database, name).made()
        with psycopg.connect(f"postgresql://{self._database}") as connection:
            connection.execute(
                f"CREATE INDEX ON {name} ((langchain_metadata->>'doc_key'))"
            )
        return table

    def _digest(self, name: str) -> dict[str, Any]:
        """How many rows there are, and a hash of all that stands in them."""
        import psycopg

        rows, digest = 0, hashlib.sha256()
        columns = "langchain_id, content, langchain_metadata::text, embedding::text"
        with (
            psycopg.connect(f"postgresql://{self._database}") as connection,
            connection.cursor("rows") as cursor,
        ):
            asked = f"SELECT {columns} FROM {name} ORDER BY langchain_id"  # noqa: S608 -- our own names
            cursor.execute(asked)
            for row in cursor:
                rows += 1
                digest.update(repr(row).encode())
        return {"chunks": rows, "sha256": digest.hexdigest()}

    def _on_cluster(self, folder: Path, table: Table, **how: int) -> IndexingReport:
        return index_on_ray(
            folder, table, address=self._address, show_progress=False, **how
        )

    def _run(
        self, documents: int, seconds: float, workers: int
    ) -> tuple[float, dict[str, int]]:
        folder = write(self._place / f"texts{documents}", documents)
        counted = Path(tempfile.mkdtemp(dir=self._place))
        name = f"t{uuid.uuid4().hex}"
        table = Table("langchain", self._database, name, seconds, counted).made()
        with _watched() as largest:
            self._on_cluster(folder, table, batch_size=_BATCH, workers=workers)
        rate = _rate(counted)
        print(f"{workers} workers: {rate:.1f} chunks per second", flush=True)
        return rate, largest


def _texts(data: Path, folder: Path, documents: int) -> Path:
    """Write so many texts: the documents of all sets in parts, again and again."""
    folder.mkdir()
    parts = [
        text[at : at + _LENGTH]
        for file in sorted(data.glob("*/docs.jsonl"))
        for line in file.read_text("utf-8").split("\n")
        if line
        for text in [json.loads(line)["text"]]
        for at in range(0, len(text), _LENGTH)
    ]
    for number in range(documents):
        text = parts[number % len(parts)]
        (folder / f"{number:06}.txt").write_text(text, encoding="utf-8")
    return folder


def _rate(counted: Path) -> float:
    """Chunks per second while all workers embed."""
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
