"""What neighbours take beside the query that finds the hits, out of Chroma.

A store has to be asked twice, for the hits and for what is beside them. So each row is
also compared with these two calls of Chroma, without oprag.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from operator import add
from typing import Any

from benchmarks.speed.embedding import Hashes
from benchmarks.speed.setup import Setup
from benchmarks.speed.texts import longer, whole_document
from benchmarks.speed.timing import Measured, Times, as_long, race

_DOCUMENTS, _HITS = 10, (10, 40)
_BATCH = 5_000


def measure(setup: Setup) -> Iterator[Measured]:
    """Measure all rows of the group: one neighbour, two, and as many as fit."""
    import chromadb
    from langchain_chroma import Chroma

    store = Chroma("widening", Hashes(8), client=chromadb.EphemeralClient())
    _fill(store, setup)
    for hits in _HITS:
        work = _work(store, hits)
        beside = _ids_beside(store, work["1"], hits)
        work["query"] = lambda hits=hits: store.similarity_search("question", k=hits)  # type: ignore[misc]
        work["ids"] = lambda beside=beside: store.get(beside)  # type: ignore[misc]
        times = race(work, setup)
        query, ids = times["query"], times["ids"]
        both = Times([*map(add, query.wall, ids.wall)], [*map(add, query.cpu, ids.cpu)])
        yield as_long(f"widening.{hits}.calls", both, query)
        yield as_long(f"widening.{hits}.1", times["1"], query)
        yield as_long(f"widening.{hits}.1.calls", times["1"], both)
    for name in ("2", "fill"):
        yield as_long(f"widening.{hits}.{name}", times[name], query)


def ours(setup: Setup) -> dict[str, Callable[[], object]]:
    """What oprag does, to compare one commit with another: out of a store in memory."""
    from langchain_core.vectorstores import InMemoryVectorStore

    from langchain_oprag import OffsetTokenSplitter

    store = InMemoryVectorStore(Hashes(8))
    splitter = OffsetTokenSplitter(chunk_size=64)
    text = longer(setup.text, 20_000)
    store.add_documents(splitter.create_documents([text], [{"source": "a"}]))
    return {"fill": _work(store, max(_HITS))["fill"]}


def _work(store: Any, hits: int) -> dict[str, Callable[[], Any]]:
    from langchain_oprag import OrderPreservingRetriever

    def asking(**options: Any) -> Callable[[], Any]:
        search = {"k": hits}
        made = OrderPreservingRetriever(
            base_retriever=store.as_retriever(search_kwargs=search), **options
        )
        return lambda: made.invoke("question")

    return {
        "1": asking(widen=1),
        "2": asking(widen=2),
        "fill": asking(widen="fill", token_budget=10_000),
    }


def _ids_beside(store: Any, widened: Callable[[], Any], hits: int) -> list[str]:
    """Return the ids of the neighbours that are read."""
    own = {each.id for each in store.similarity_search("question", k=hits)}
    return [each.id for each in widened() if each.id not in own]


def _fill(store: Any, setup: Setup) -> None:
    """Put chunks there as `index_documents` does, with vectors of our own."""
    from langchain_oprag import OffsetTokenSplitter
    from oprag.metadata import make_indexed_id

    splitter = OffsetTokenSplitter(chunk_size=64, chunk_overlap=0)
    whole, _ = whole_document(splitter, setup.text, "0.txt", setup.n_widened)
    for number in range(_DOCUMENTS):
        chunks = splitter.create_documents([whole], [{"source": f"{number}.txt"}])
        texts = [f"{number} {chunk.page_content}" for chunk in chunks]
        ids = [make_indexed_id(chunk.metadata, i) for i, chunk in enumerate(chunks)]
        vectors = store.embeddings.embed_documents(texts)
        for first in range(0, len(chunks), _BATCH):
            last = first + _BATCH
            store._collection.add(  # noqa: SLF001 -- nothing public takes vectors
                ids=ids[first:last],
                documents=[chunk.page_content for chunk in chunks[first:last]],
                metadatas=[chunk.metadata for chunk in chunks[first:last]],
                embeddings=vectors[first:last],
            )
