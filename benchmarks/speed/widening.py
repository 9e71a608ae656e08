"""What neighbours take beside the search that they are read after, out of Chroma."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from benchmarks.speed.embedding import Hashes
from benchmarks.speed.setup import Setup
from benchmarks.speed.texts import longer, whole_document
from benchmarks.speed.timing import Measured, as_long, race

_DOCUMENTS, _HITS = 10, 40
_BATCH = 5_000


def measure(setup: Setup) -> Iterator[Measured]:
    """Measure all rows of the group: one neighbour, two, and as many as fit.

    Then one with the ids that `index_documents` gives.
    """
    import chromadb
    from langchain_chroma import Chroma

    store = Chroma("widening", Hashes(8), client=chromadb.EphemeralClient())
    _fill(store, setup, indexed=False)
    times = race(_work(store), setup)
    for name in ("1", "2", "fill"):
        yield as_long(f"widening.{name}", times[name], times["search"])
    store.reset_collection()
    _fill(store, setup, indexed=True)
    work = _work(store)
    times = race({name: work[name] for name in ("search", "1")}, setup)
    yield as_long("widening.indexed", times["1"], times["search"])


def ours(setup: Setup) -> dict[str, Callable[[], object]]:
    """What oprag does, to compare one commit with another: out of a store in memory."""
    from langchain_core.vectorstores import InMemoryVectorStore

    from langchain_oprag import OffsetTokenSplitter

    store = InMemoryVectorStore(Hashes(8))
    splitter = OffsetTokenSplitter(chunk_size=64)
    text = longer(setup.text, 20_000)
    store.add_documents(splitter.create_documents([text], [{"source": "a"}]))
    return {"fill": _work(store)["fill"]}


def _work(store: Any) -> dict[str, Callable[[], object]]:
    from langchain_oprag import OrderPreservingRetriever

    def asking(**options: Any) -> Callable[[], object]:
        search = {"k": _HITS}
        made = OrderPreservingRetriever(
            base_retriever=store.as_retriever(search_kwargs=search), **options
        )
        return lambda: made.invoke("question")

    return {
        "search": asking(),
        "1": asking(widen=1),
        "2": asking(widen=2),
        "fill": asking(widen="fill", token_budget=10_000),
    }


def _fill(store: Any, setup: Setup, *, indexed: bool) -> None:
    from langchain_oprag import OffsetTokenSplitter
    from oprag.metadata import make_indexed_id

    splitter = OffsetTokenSplitter(chunk_size=64, chunk_overlap=0)
    for number in range(_DOCUMENTS):
        name = f"{number}.txt"
        _, chunks = whole_document(splitter, setup.text, name, setup.n_widened)
        texts = [f"{number} {chunk.page_content}" for chunk in chunks]
        ids = [chunk.id for chunk in chunks]
        if indexed:
            ids = [make_indexed_id(chunk.metadata, i) for i, chunk in enumerate(chunks)]
        vectors = store.embeddings.embed_documents(texts)
        for first in range(0, len(chunks), _BATCH):
            last = first + _BATCH
            store._collection.add(  # noqa: SLF001 -- with vectors of our own
                ids=ids[first:last],
                documents=[chunk.page_content for chunk in chunks[first:last]],
                metadatas=[chunk.metadata for chunk in chunks[first:last]],
                embeddings=vectors[first:last],
            )
