"""`python -m benchmarks.first_questions`: what a first and a second question cost.

An index as most people have it: pages that a splitter cut with an overlap, without
positions. Beside the bare query of the store: the first question, which looks at the
index and reads the chunks of the pages that it meets; the same again; and another one.
It writes `first_questions.md` beside it. Each row is measured in a process of its own.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import multiprocessing
import platform
import random
import re
import resource
import tempfile
import time
import tracemalloc
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from langchain_core.vectorstores import VectorStore
from langchain_text_splitters import RecursiveCharacterTextSplitter

from langchain_oprag import OrderPreservingRetriever
from oprag import place_of
from tests.real_stores.langchain_places import filters_of
from tests.real_stores.servers import HOST, SUPERUSER, postgres_server

_DIMENSIONS = 32
_PAGES = 12
"""Pages of a document."""
_K = 8
_ASKED = 7
"""Questions of each kind; the fastest counts."""
_BATCH = 2_000
_LARGE = 500_000
"""Chunks of a store that is asked fewer questions."""
_TOPIC = re.compile("topic[0-9]+")


class _Hashed(Embeddings):
    """Vectors by the topic that a text names, so that a question finds its page."""

    def embed_query(self, text: str) -> list[float]:
        topic = _TOPIC.search(text)
        about = random.Random(topic[0] if topic else "")  # noqa: S311 -- a vector
        own = random.Random(hashlib.sha256(text.encode()).digest())  # noqa: S311 -- as above
        return [about.gauss(0, 1) + own.gauss(0, 0.1) for _ in range(_DIMENSIONS)]

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return [*map(self.embed_query, texts)]


def _chunks() -> Iterator[Document]:
    """Yield chunks of documents, one document after the other."""
    chance = random.Random(57)  # noqa: S311 -- texts, no secret
    words = ["".join(chance.choices("abcdefghijklmnop", k=6)) for _ in range(4_000)]
    splitter = RecursiveCharacterTextSplitter(chunk_size=1000, chunk_overlap=200)
    number = 0
    while True:
        source = f"reports/{number}.pdf"
        for page in range(_PAGES):
            topic = f"topic{number * _PAGES + page}"
            lines = [" ".join([topic, *chance.choices(words, k=11)]) for _ in range(36)]
            metadata = {"source": source, "page": page, "tenant": "ab"[number % 2]}
            whole = Document("\n".join(lines), metadata=metadata)
            yield from splitter.split_documents([whole])
        number += 1


class Measured(NamedTuple):
    """Milliseconds of CPU of a question, and what is kept."""

    store: str
    chunks: int
    bare: float
    first: float
    second: float
    another: float
    awaited: float
    awaited_again: float
    of_tenant: float
    """The bare query of one of two tenants, by a filter."""
    tenant_first: float
    tenant_second: float
    kept: float
    """Megabytes that are held after ten questions."""
    grown: float
    """Megabytes that the process grew by with all questions, at its peak."""
    marked: int
    """Questions with chunks that nothing puts in order."""


class _Times(NamedTuple):
    """Seconds of CPU of the questions of each kind."""

    first: list[float]
    again: list[float]
    another: list[float]

    @property
    def least(self) -> list[float]:
        """The fastest of each, in milliseconds."""
        return [min(each) * 1e3 for each in self]


def measure(name: str, store: VectorStore, chunks: int) -> Measured:
    """Ask a store that holds so many chunks."""
    asked = _ASKED if chunks < _LARGE else 2
    pages = chunks // (_PAGES // 2)
    questions = [f"What of topic{number * 7 % pages}?" for number in range(4 * asked)]
    where = {"filter": filters_of(_PLACES[name])[0]}
    if name == "FAISS":
        where["fetch_k"] = chunks
    before = _peak()
    store.similarity_search("warm", k=_K)
    bare = _least(lambda q: store.similarity_search(q, k=_K), questions[:asked])
    tenant = _least(
        lambda q: store.similarity_search(q, k=_K, **where), questions[:asked]
    )
    plain, marked = _ask(store, questions, asked, {})
    filtered, _ = _ask(store, questions, asked, where)
    first, again = _awaited(store, questions[-asked:])
    grown = _peak() - before
    kept = _measure_kept(store, questions)
    of_tenant = tenant, *filtered.least[:2]
    return Measured(
        *(name, chunks, bare, *plain.least, first, again, *of_tenant),
        *(kept, grown, marked),
    )


def _ask(
    store: VectorStore, questions: list[str], asked: int, where: dict[str, Any]
) -> tuple[_Times, int]:
    """Ask a new retriever three times, and again; count what is not in order."""
    times, marked = _Times([], [], []), 0
    for number, question in enumerate(questions[:asked]):
        retriever = OrderPreservingRetriever(store, k=_K, on_problem="warn")
        for spent, text in zip(
            times, (question, question, questions[asked + number]), strict=True
        ):
            began = time.process_time()
            found = retriever.invoke(text, **where)
            spent.append(time.process_time() - began)
            places = map(place_of, found)
            marked += any(place and place.problem for place in places)
    return times, marked


def _awaited(store: VectorStore, questions: list[str]) -> tuple[float, float]:
    """Return how long a first question takes that is awaited, and the same again."""

    async def ask(question: str) -> list[float]:
        retriever = OrderPreservingRetriever(store, k=_K, on_problem="warn")
        spent = []
        for _ in range(2):
            began = time.process_time()
            await retriever.ainvoke(question)
            spent.append(time.process_time() - began)
        return spent

    times = [asyncio.run(ask(question)) for question in questions]
    return min(first for first, _ in times) * 1e3, min(t for _, t in times) * 1e3


def _measure_kept(store: VectorStore, questions: list[str]) -> float:
    tracemalloc.start()
    retriever = OrderPreservingRetriever(store, k=_K, on_problem="warn")
    for question in questions[: _ASKED + 3]:
        retriever.invoke(question)
    size, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return size / 1e6


def _peak() -> float:
    """Return the most memory that the process has had, in megabytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3


def _least(ask: Callable[[str], Any], questions: list[str]) -> float:
    times = []
    for question in questions:
        began = time.process_time()
        ask(question)
        times.append(time.process_time() - began)
    return min(times) * 1e3


def _opened(name: str, stack: ExitStack) -> VectorStore:
    """Return an empty store; what it needs ends with the stack."""
    made = _Hashed()
    folder = stack.enter_context(tempfile.TemporaryDirectory())
    if name == "in memory":
        from langchain_core.vectorstores import InMemoryVectorStore

        return InMemoryVectorStore(made)
    if name == "FAISS":
        import faiss
        from langchain_community.docstore.in_memory import InMemoryDocstore
        from langchain_community.vectorstores import FAISS

        index = faiss.IndexFlatL2(_DIMENSIONS)
        return FAISS(made, index, InMemoryDocstore(), {})
    if name == "Chroma":
        from langchain_chroma import Chroma

        return Chroma("chunks", made, persist_directory=folder)
    if name == "Qdrant, in a folder":
        from langchain_qdrant import QdrantVectorStore
        from qdrant_client import QdrantClient
        from qdrant_client.models import Distance, VectorParams

        client = QdrantClient(path=folder)
        vectors = VectorParams(size=_DIMENSIONS, distance=Distance.COSINE)
        client.create_collection("chunks", vectors_config=vectors)
        stack.callback(client.close)
        return QdrantVectorStore(client, "chunks", made)
    from langchain_postgres import PGEngine, PGVectorStore

    port = stack.enter_context(postgres_server())
    url = f"postgresql+psycopg://{SUPERUSER}@{HOST}:{port}/postgres"
    engine = PGEngine.from_connection_string(url)
    stack.callback(lambda: asyncio.run(engine.close()))
    engine.init_vectorstore_table("chunks", _DIMENSIONS)
    return PGVectorStore.create_sync(engine, made, "chunks")


_COLUMNS = (
    *("bare query", "first", "the same again", "another"),
    *("first awaited", "again awaited"),
    *("bare, one tenant", "first of it", "again"),
    *("kept after ten, MB", "peak, MB more"),
    f"not ordered, of {3 * _ASKED}",
)
_OF_ALL = 6
"""Columns about questions without a filter: two tables fit where one does not."""
_PLACES = {
    "in memory": "langchain-in-memory",
    "FAISS": "langchain-faiss",
    "Chroma": "langchain-chroma",
    "Qdrant, in a folder": "langchain-qdrant",
    "PostgreSQL": "langchain-postgres",
}
_TOO_SLOW = {("Qdrant, in a folder", 100_000)}
"""Its client looks at all points of a folder in Python; a server does not."""


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.first_questions")
    parser.add_argument("--chunks", type=int, nargs="*", default=[1_000, 100_000])
    parser.add_argument("--stores", nargs="*", choices=_PLACES, default=[*_PLACES])
    given = parser.parse_args()
    rows = list[Measured]()
    for chunks in given.chunks:
        for name in given.stores:
            if (name, chunks) not in _TOO_SLOW:
                rows.append(_measure_apart(name, chunks))
                print(rows[-1], flush=True)
                table = _as_markdown(rows)
                Path(__file__).with_suffix(".md").write_text(table, encoding="utf-8")


def _measure_apart(name: str, chunks: int) -> Measured:
    """Measure in a process of its own, whose memory is that of one store."""
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=context) as processes:
        return processes.submit(_fill_and_measure, name, chunks).result()


def _fill_and_measure(name: str, chunks: int) -> Measured:
    warnings.simplefilter("ignore")
    with ExitStack() as stack:
        store = _opened(name, stack)
        wanted = islice(_chunks(), chunks)
        while some := [*islice(wanted, _BATCH)]:
            store.add_documents(some)
        return measure(name, store, chunks)


def _as_markdown(rows: list[Measured]) -> str:
    lines = [
        "# What a first and a second question cost",
        "",
        "Made by `python -m benchmarks.first_questions`, Python "
        + platform.python_version(),
        "on two cores. Milliseconds of CPU of the application's process: the machine",
        f"had other work too, the fastest of {_ASKED}; a server's own are not counted.",
        f"k={_K}. Pages cut at 1000/200, {_PAGES} pages a document, without positions.",
        "The first question reads the chunks of each document that it meets, and looks",
        "at 200 chunks of the index.",
        "",
        *_list_columns(rows, slice(_OF_ALL)),
        "",
        "With a filter that admits the chunks of one tenant, and memory:",
        "",
        *_list_columns(rows, slice(_OF_ALL, None)),
        "",
        "A store in memory of more than 20,000 chunks is not read: there overlaps put",
        "nothing in order.",
        "",
    ]
    return "\n".join(lines)


def _list_columns(rows: list[Measured], chosen: slice) -> list[str]:
    """Return the lines of a table of some columns."""
    columns = ["chunks", *_COLUMNS[chosen]]
    lines = [
        " | ".join(["| store", *columns, ""]).rstrip(),
        "|---" + "|--:" * len(columns) + "|",
    ]
    for store, chunks, *numbers, marked in rows:
        shown = [*(f"{number:.1f}" for number in numbers), str(marked)]
        cells = [store, f"{chunks:,}", *shown[chosen]]
        lines.append(f"| {' | '.join(cells)} |")
    return lines


if __name__ == "__main__":
    main()
