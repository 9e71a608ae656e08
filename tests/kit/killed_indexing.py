"""Indexes a folder in processes that are killed at random moments, or in two at once.

A script of its own: packages are imported once, before any thread is started; each run
is a fork that opens the store, and another one then looks at what is left.
"""

from __future__ import annotations

import importlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
import traceback
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from oprag.documents import rebuild
from oprag.errors import IncompleteDocumentError, IndexingError
from oprag.metadata import document_key
from tests.kit.frameworks import Held, InLangChain, InLlamaIndex
from tests.kit.interrupted import content
from tests.stores.langchain_places import HashEmbeddings

ROOT = Path(__file__).parents[2]

SIZE = 8
BATCH = 3
"""Chunks written at once: few, so that there are many moments in between."""

COLLECTION = "chunks"

BEFORE = {
    "changed.txt": [f"Old sentence {n} of the first text." for n in range(12)],
    "same.txt": [f"Line {n} stays." for n in range(6)],
    "gone.txt": [f"Line {n} goes." for n in range(6)],
    "shorter.txt": [f"Line {n} of many." for n in range(9)],
}
AFTER = {
    "changed.txt": [
        f"{'New' if n % 3 else 'Old'} sentence {n} of the first text."
        for n in range(12)
    ],
    "same.txt": BEFORE["same.txt"],
    "shorter.txt": BEFORE["shorter.txt"][:4],
    "added.txt": [f"Line {n} is new." for n in range(7)],
}
"""Lines by file: one changed in places, one cut, one gone, one new, one as it was."""

KINDS = ("chroma", "qdrant", "postgres")
"""Stores in a folder, and tables of a server."""


class Opened(NamedTuple):
    index: Callable[[Path], Any]
    """Indexes a folder of texts."""
    chunks: Any


def write(folder: Path, files: dict[str, list[str]]) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    for name, lines in files.items():
        (folder / name).write_bytes("\n".join(lines).encode())


def spans(text: str) -> list[tuple[int, int]]:
    """Lines as sentences, so that every line is a chunk."""
    found, start = [], 0
    for line in text.splitlines(keepends=True):
        found.append((start, start + len(line)))
        start += len(line)
    return found


def killed_runs(
    framework: str, kind: str, places: tuple[str, str], texts: Path, kills: int
) -> int:
    """Index `BEFORE` and `AFTER` in turn, killed each time, and look at what is left.

    Args:
        framework: `langchain` or `llamaindex`.
        kind: One of `KINDS`.
        places: Two empty folders, or databases.
        texts: Where the texts are written.
        kills: How many runs are killed.

    Returns:
        How many were killed.
    """
    return int(_script("kills", framework, kind, *places, texts, kills))


def said_by_two(
    framework: str, kind: str, places: tuple[str, str], texts: Path
) -> list[str]:
    """Index into an empty store, then into one that holds `BEFORE`, by two at once.

    Takes what `killed_runs` does.

    Returns:
        What each process said, and whether the store holds what the clean one does.
    """
    said: list[str] = json.loads(_script("two", framework, kind, *places, texts))
    return said


def _script(task: str, *arguments: object) -> str:
    done = subprocess.run(
        [sys.executable, "-m", __name__, task, *map(str, arguments)],
        cwd=ROOT,
        capture_output=True,
        check=False,
        text=True,
    )
    assert done.returncode == 0, done.stderr + done.stdout
    return done.stdout.splitlines()[-1]


def open_store(framework: str, kind: str, place: str) -> Opened:
    if framework == "langchain":
        held: Held = InLangChain(_langchain_store(kind, place, HashEmbeddings()))
    else:
        held = InLlamaIndex(_llamaindex_store(kind, place))
    lines: Any = {"tokenizer": _lines, "sentence_spans": spans}
    options = held.splitting(1, packed=True, **lines)
    options |= {"remove_missing": True, "batch_size": BATCH}
    return Opened(lambda texts: held.index(texts, **options), held.chunks)


def _langchain_store(kind: str, place: str, embedding: Any) -> Any:
    if kind == "chroma":
        from langchain_chroma import Chroma

        return Chroma(COLLECTION, embedding, persist_directory=place)
    if kind == "qdrant":
        from langchain_qdrant import QdrantVectorStore
        from qdrant_client import QdrantClient, models

        client = QdrantClient(path=place)
        if not client.collection_exists(COLLECTION):
            size = models.VectorParams(size=SIZE, distance=models.Distance.COSINE)
            client.create_collection(COLLECTION, vectors_config=size)
        return QdrantVectorStore(client, COLLECTION, embedding)
    from langchain_postgres import PGEngine, PGVectorStore

    engine = PGEngine.from_connection_string(f"postgresql+psycopg://{place}")
    if not _has_table(place):
        engine.init_vectorstore_table(COLLECTION, SIZE)
    return PGVectorStore.create_sync(engine, embedding, COLLECTION)


def _has_table(place: str) -> bool:
    import psycopg

    with psycopg.connect(f"postgresql://{place}") as connection:
        asked = "SELECT to_regclass(%s)"
        (row,) = connection.execute(asked, [COLLECTION]).fetchall()
    return row[0] is not None


def _llamaindex_store(kind: str, place: str) -> Any:
    if kind == "chroma":
        import chromadb
        from llama_index.vector_stores.chroma import ChromaVectorStore

        client = chromadb.PersistentClient(place)
        return ChromaVectorStore(client.get_or_create_collection(COLLECTION))
    if kind == "qdrant":
        from llama_index.vector_stores.qdrant import QdrantVectorStore
        from qdrant_client import QdrantClient

        client = QdrantClient(path=place)
        return QdrantVectorStore(COLLECTION, client=client, index_doc_id=False)
    from llama_index.vector_stores.postgres import PGVectorStore

    return PGVectorStore(
        connection_string=f"postgresql+psycopg2://{place}",
        async_connection_string=f"postgresql+asyncpg://{place}",
        table_name=COLLECTION,
        embed_dim=SIZE,
    )


def _lines(text: str) -> int:
    """A token counter for which every line is one token."""
    return len(text.splitlines())


PACKAGES = {
    ("langchain", "chroma"): ("langchain_chroma",),
    ("langchain", "qdrant"): ("langchain_qdrant",),
    ("langchain", "postgres"): ("langchain_postgres", "psycopg"),
    ("llamaindex", "chroma"): ("chromadb", "llama_index.vector_stores.chroma"),
    ("llamaindex", "qdrant"): ("llama_index.vector_stores.qdrant",),
    ("llamaindex", "postgres"): ("llama_index.vector_stores.postgres",),
}
EVERY = 5
"""Kills between two runs that are left to end."""
_MOST = 5
"""How many times as many runs are tried until one is killed."""


def _kills(
    framework: str, kind: str, place: str, clean: str, texts: Path, kills: str
) -> int:
    def opened(where: str = place) -> Opened:
        return open_store(framework, kind, where)

    write(texts, AFTER)
    rows = forked(lambda: _contents(opened(clean), texts))
    write(texts, BEFORE)
    forked(lambda: opened().index(texts))
    write(texts, AFTER)
    seconds = forked(lambda: _timed(opened(), texts))
    moments = random.Random(f"{framework} {kind}")  # noqa: S311 -- no secrets
    killed = number = 0
    most = int(kills)
    while number < most or not (killed or number > _MOST * most):
        number += 1
        write(texts, BEFORE if number % 2 else AFTER)
        wait = moments.uniform(0, 1.1 * seconds)
        if _killed(opened, texts, wait):
            killed += 1
        else:  # it was timed while the machine had more to do
            seconds = min(seconds, wait)
        forked(lambda: _check(opened()))
        if number % EVERY == 0 or number >= most:
            write(texts, AFTER)
            forked(lambda: _repaired(opened(), texts, rows))
    return killed


def _contents(opened: Opened, texts: Path) -> Any:
    opened.index(texts)
    return content(opened.chunks)


def _timed(opened: Opened, texts: Path) -> float:
    start = time.perf_counter()
    opened.index(texts)
    return time.perf_counter() - start


def _check(opened: Opened) -> None:
    """See that every document is its old or its new version."""
    for name in {**BEFORE, **AFTER}:
        own = list(opened.chunks.read({document_key(name): None}))
        known = ["\n".join(files[name]) for files in (BEFORE, AFTER) if name in files]
        stays = name in BEFORE and name in AFTER
        try:
            assert not (own or stays) or rebuild(name, own).text in known, name
        except IncompleteDocumentError:
            assert not stays, name


def _repaired(opened: Opened, texts: Path, rows: Any) -> None:
    """See that the next run leaves what a new index holds, and another does nothing."""
    opened.index(texts)
    assert json.loads(json.dumps(content(opened.chunks))) == rows
    report = opened.index(texts)
    assert sorted(report.unchanged) == sorted(AFTER)
    assert (report.chunks_added, report.chunks_deleted) == (0, 0)


def _killed(opened: Callable[[], Opened], texts: Path, wait: float) -> bool:
    """Kill a run some time after its store was opened; say if it was still going on."""
    reading, writing = os.pipe()

    def run() -> None:
        index = opened().index
        os.write(writing, b"!")
        index(texts)

    child = _forked(run)
    os.close(writing)
    assert os.read(reading, 1) == b"!"
    os.close(reading)
    time.sleep(wait)
    os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    assert os.WIFSIGNALED(status) or os.WEXITSTATUS(status) == 0
    return os.WIFSIGNALED(status)


def _forked(run: Callable[[], object]) -> int:
    """Start a fork that runs something and ends; its id."""
    child = os.fork()
    if child == 0:
        try:
            run()
            os._exit(0)
        except BaseException:  # noqa: BLE001 -- a fork must not go on as the script
            traceback.print_exc()
            os._exit(1)
    return child


def forked(run: Callable[[], Any]) -> Any:
    """The result of something that a fork runs."""
    reading, writing = os.pipe()

    def write_result() -> None:
        with os.fdopen(writing, "w") as pipe:
            json.dump(run(), pipe, default=str)

    child = _forked(write_result)
    os.close(writing)
    return json.loads(_written(child, reading))


def _written(child: int, reading: int) -> str:
    with os.fdopen(reading) as pipe:
        written = pipe.read()
    assert os.waitpid(child, 0)[1] == 0, "see above"
    return written


def _two(framework: str, kind: str, place: str, clean: str, texts: Path) -> str:
    write(texts, AFTER)
    wanted = forked(lambda: _contents(open_store(framework, kind, clean), texts))
    said = []
    for start in ({}, BEFORE):
        write(texts, start)
        forked(lambda: _filled(open_store(framework, kind, place), texts))
        write(texts, AFTER)
        said += _together(lambda: open_store(framework, kind, place).index, texts)
        left = forked(lambda: content(open_store(framework, kind, place).chunks))
        said.append("as clean" if left == wanted else f"{len(left)} rows")
    return json.dumps(said)


def _filled(opened: Opened, texts: Path) -> None:
    if any(texts.iterdir()):
        opened.index(texts)


def _together(opened: Callable[[], Callable[[Path], Any]], texts: Path) -> list[str]:
    """The output of two processes that begin at the same moment."""
    waiting, start = os.pipe()
    children = []
    for _ in range(2):
        answer, give = os.pipe()

        def run(give: int = give) -> None:
            os.close(start)
            index = opened()
            os.write(give, b".")
            os.read(waiting, 1)
            os.write(give, _said(index, texts).encode())

        children.append((_forked(run), answer))
        os.close(give)
    os.close(waiting)
    for _, answer in children:
        assert os.read(answer, 1) == b"."
    os.close(start)  # now
    return [_written(*each) for each in children]


def _said(index: Callable[[Path], Any], texts: Path) -> str:
    try:
        report = index(texts)
    except IndexingError as error:
        return str(error)
    return "did all" if report.chunks_added else "found it done"


def main(task: str, framework: str, kind: str, *arguments: str) -> None:
    warnings.simplefilter("ignore")
    # Before the first fork, and only once.
    for package in (f"{framework}_oprag.indexing", *PACKAGES[framework, kind]):
        importlib.import_module(package)
    place, clean, texts, *more = arguments
    run: Any = {"kills": _kills, "two": _two}[task]
    sys.stdout.write(f"{run(framework, kind, place, clean, Path(texts), *more)}")


if __name__ == "__main__":
    main(*sys.argv[1:])
