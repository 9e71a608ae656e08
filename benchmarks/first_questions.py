"""`python -m benchmarks.first_questions`: what a first and a second question cost.

An index as most people have it: pages that a splitter cut with an overlap, without
positions. Beside the bare query of the store: the first question, which looks at the
index and reads the chunks of the pages that it meets; the same again; and another one.
It writes `first_questions.md` beside it.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import platform
import random
import re
import tempfile
import time
import tracemalloc
import warnings
from collections.abc import Callable, Iterator
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
from tests.real_stores.servers import HOST, SUPERUSER, postgres_server

_DIMENSIONS = 32
_PAGES = 12
"""Pages of a document."""
_K = 8
_ASKED = 7
"""Questions of each kind; the fastest counts."""
_BATCH = 2_000
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
            whole = Document(
                "\n".join(lines), metadata={"source": source, "page": page}
            )
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
    kept: float
    """Megabytes that are held after ten questions."""
    marked: int
    """Questions with chunks that nothing puts in order."""


def measure(name: str, store: VectorStore, chunks: int) -> Measured:
    """Ask a store that holds so many chunks."""
    pages = chunks // (_PAGES // 2)
    questions = [
        f"What of topic{number * 7 % pages}?" for number in range(3 * _ASKED + 1)
    ]
    store.similarity_search("warm", k=_K)
    bare = _least(lambda q: store.similarity_search(q, k=_K), questions[:_ASKED])
    marked = 0
    firsts, seconds, others = list[float](), list[float](), list[float]()
    for question in questions[:_ASKED]:
        retriever = OrderPreservingRetriever(store, k=_K, on_problem="warn")
        for times, asked in (
            (firsts, question),
            (seconds, question),
            (others, questions[_ASKED + len(firsts)]),
        ):
            began = time.process_time()
            found = retriever.invoke(asked)
            times.append(time.process_time() - began)
            places = map(place_of, found)
            marked += any(place and place.problem for place in places)
    tracemalloc.start()
    kept = OrderPreservingRetriever(store, k=_K, on_problem="warn")
    for question in questions[:10]:
        kept.invoke(question)
    size, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    least = [min(each) * 1e3 for each in (firsts, seconds, others)]
    return Measured(
        name, chunks, bare, *least, _awaited(store, questions), size / 1e6, marked
    )


def _awaited(store: VectorStore, questions: list[str]) -> float:
    """Return how long a first question takes that is awaited."""
    times = []
    for question in questions[-_ASKED:]:
        retriever = OrderPreservingRetriever(store, k=_K, on_problem="warn")
        began = time.process_time()
        asyncio.run(retriever.ainvoke(question))
        times.append(time.process_time() - began)
    return min(times) * 1e3


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
    *("chunks", "bare query", "first", "the same again", "another", "first awaited"),
    "kept after ten, MB",
    f"not ordered, of {3 * _ASKED}",
)
_STORES = ("in memory", "FAISS", "Chroma", "Qdrant, in a folder", "PostgreSQL")
_TOO_SLOW = {("Qdrant, in a folder", 100_000)}
"""Its client looks at all points of a folder in Python; a server does not."""


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.first_questions")
    parser.add_argument("--chunks", type=int, nargs="*", default=[1_000, 100_000])
    parser.add_argument("--stores", nargs="*", choices=_STORES, default=_STORES)
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    rows = []
    for name in given.stores:
        for chunks in given.chunks:
            if (name, chunks) in _TOO_SLOW:
                continue
            with ExitStack() as stack:
                store = _opened(name, stack)
                wanted = islice(_chunks(), chunks)
                while some := [*islice(wanted, _BATCH)]:
                    store.add_documents(some)
                rows.append(measure(name, store, chunks))
                print(rows[-1], flush=True)
    table = _as_markdown(rows)
    Path(__file__).with_suffix(".md").write_text(table, encoding="utf-8")


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
        " | ".join(["| store", *_COLUMNS, ""]).rstrip(),
        "|---|--:|--:|--:|--:|--:|--:|--:|--:|",
    ]
    for row in rows:
        numbers = (row.bare, row.first, row.second, row.another, row.awaited, row.kept)
        shown = " | ".join(f"{number:.1f}" for number in numbers)
        lines.append(f"| {row.store} | {row.chunks:,} | {shown} | {row.marked} |")
    return "\n".join([*lines, ""])


if __name__ == "__main__":
    main()
