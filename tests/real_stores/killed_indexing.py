"""Indexes a folder in processes that are killed at random moments, or in two at once.

Each run is a process that opens the store, and another one then looks at what is left.
"""

import random
import shutil
import signal
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

from oprag.documents import rebuild
from oprag.errors import IncompleteDocumentError, IndexingError
from oprag.metadata import document_key
from tests.kit.forks import FORKS
from tests.kit.frameworks import Held, InLangChain, InLlamaIndex
from tests.kit.interrupted import content
from tests.real_stores.langchain_places import HashEmbeddings

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


EVERY = 5
"""Kills between two runs that are left to end."""
MOST = 5
"""How many times as many runs are tried until one is killed."""
PATIENCE = 60
"""Seconds that a process may take to open a store."""


class Store(NamedTuple):
    """A store, as every process opens it for itself."""

    framework: str
    """`langchain` or `llamaindex`."""
    kind: str
    """One of `KINDS`."""
    place: str
    """A folder, or a database."""

    def open(self) -> tuple[Callable[[Path], Any], Any]:
        """Give what indexes a folder of texts, and the chunks."""
        if self.framework == "langchain":
            held: Held = InLangChain(_langchain_store(*self[1:], HashEmbeddings()))
        else:
            held = InLlamaIndex(_llamaindex_store(*self[1:]))
        lines: Any = {"tokenizer": _lines, "sentence_spans": _spans}
        options = held.splitting(1, packed=True, **lines)
        options |= {"remove_missing": True, "batch_size": BATCH}
        return lambda texts: held.index(texts, **options), held.chunks


def write(folder: Path, files: dict[str, list[str]]) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    for name, lines in files.items():
        (folder / name).write_bytes("\n".join(lines).encode())


def _spans(text: str) -> list[tuple[int, int]]:
    """Lines as sentences, so that every line is a chunk."""
    found, start = [], 0
    for line in text.splitlines(keepends=True):
        found.append((start, start + len(line)))
        start += len(line)
    return found


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


def forked(task: Callable[..., Any], *arguments: Any) -> Any:
    """The result of a function of this module in a process of its own."""
    with ProcessPoolExecutor(1, mp_context=FORKS) as pool:
        return pool.submit(task, *arguments).result()


def killed_runs(store: Store, clean: Store, texts: Path, kills: int) -> int:
    """Index `BEFORE` and `AFTER` in turn, killed each time, and look at what is left.

    Args:
        store: An empty one.
        clean: Another one, for what a run leaves that nobody disturbs.
        texts: Where the texts are written.
        kills: How many runs are killed.

    Returns:
        How many were killed.
    """
    write(texts, AFTER)
    rows = forked(_contents, clean, texts)
    write(texts, BEFORE)
    forked(_timed, store, texts)
    write(texts, AFTER)
    seconds = forked(_timed, store, texts)
    moments = random.Random(f"{store.framework} {store.kind}")  # noqa: S311 -- no secrets
    killed = number = 0
    while number < kills or not (killed or number > MOST * kills):
        number += 1
        write(texts, BEFORE if number % 2 else AFTER)
        wait = moments.uniform(0, 1.1 * seconds)
        if _killed(store, texts, wait):
            killed += 1
        else:  # it was timed while the machine had more to do
            seconds = min(seconds, wait)
        forked(_check, store)
        if number % EVERY == 0 or number >= kills:
            write(texts, AFTER)
            forked(_repaired, store, texts, rows)
    return killed


def _contents(store: Store, texts: Path) -> Any:
    index, chunks = store.open()
    index(texts)
    return content(chunks)


def _timed(store: Store, texts: Path) -> float:
    index, _ = store.open()
    start = time.perf_counter()
    index(texts)
    return time.perf_counter() - start


def _check(store: Store) -> None:
    """See that every document is its old or its new version."""
    _, chunks = store.open()
    for name in {**BEFORE, **AFTER}:
        own = list(chunks.read({document_key(name): None}))
        known = ["\n".join(files[name]) for files in (BEFORE, AFTER) if name in files]
        stays = name in BEFORE and name in AFTER
        try:
            assert not (own or stays) or rebuild(name, own).text in known, name
        except IncompleteDocumentError:
            assert not stays, name


def _repaired(store: Store, texts: Path, rows: Any) -> None:
    """See that the next run leaves what a new index holds, and another does nothing."""
    index, chunks = store.open()
    index(texts)
    assert content(chunks) == rows
    report = index(texts)
    assert sorted(report.unchanged) == sorted(AFTER)
    assert (report.chunks_added, report.chunks_deleted) == (0, 0)


def _killed(store: Store, texts: Path, wait: float) -> bool:
    """Kill a run some time after its store was opened; say if it was still going on."""
    opened = FORKS.Event()
    process = FORKS.Process(target=_index, args=(store, texts, opened.set))
    process.start()
    assert opened.wait(PATIENCE)
    time.sleep(wait)
    process.kill()
    process.join()
    assert process.exitcode in {0, -signal.SIGKILL}
    return process.exitcode != 0


def _index(store: Store, texts: Path, opened: Callable[[], object]) -> None:
    index, _ = store.open()
    opened()
    index(texts)


def said_by_two(store: Store, clean: Store, texts: Path) -> list[str]:
    """Index into an empty store, then into one that holds `BEFORE`, by two at once.

    Takes what `killed_runs` does.

    Returns:
        What each process said, and whether the store holds what the clean one does.
    """
    write(texts, AFTER)
    wanted = forked(_contents, clean, texts)
    forked(_rows, store)  # two at once do not make it
    said: list[str] = []
    for before in ({}, BEFORE):
        write(texts, before)
        if before:
            forked(_contents, store, texts)
        write(texts, AFTER)
        start, answers = FORKS.Barrier(2), FORKS.SimpleQueue()
        given = (store, texts, start, answers)
        both = [FORKS.Process(target=_say, args=given) for _ in range(2)]
        for process in both:
            process.start()
        for process in both:
            process.join()
        assert [process.exitcode for process in both] == [0, 0]
        said += [answers.get(), answers.get()]
        left = forked(_rows, store)
        said.append("as clean" if left == wanted else f"{len(left)} rows")
    return said


def _rows(store: Store) -> Any:
    return content(store.open()[1])


def _say(store: Store, texts: Path, start: Any, answers: Any) -> None:
    index, _ = store.open()
    start.wait(PATIENCE)
    try:
        report = index(texts)
    except IndexingError as error:
        answers.put(str(error))
    else:
        answers.put("did all" if report.chunks_added else "found it done")
