"""The text of a document of many chunks, out of Chroma."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from benchmarks.speed.embedding import Hashes
from benchmarks.speed.setup import Setup
from benchmarks.speed.texts import longer, whole_document
from benchmarks.speed.timing import Measured, race, share

_NAME = "long.txt"
_BATCH = 4_000


def measure(setup: Setup) -> Iterator[Measured]:
    """Measure all rows of the group: chunks with and without overlap."""
    for ending, overlap in (("", 0), (".overlap", 16)):
        yield _measured(f"rebuilding{ending}", setup, overlap)


def ours(setup: Setup) -> dict[str, Callable[[], object]]:
    """What oprag does, to compare one commit with another: out of a store in memory."""
    from langchain_core.vectorstores import InMemoryVectorStore

    from langchain_oprag import OffsetTokenSplitter, document_source

    store = InMemoryVectorStore(Hashes(2))
    splitter = OffsetTokenSplitter(chunk_size=64, chunk_overlap=16)
    text = longer(setup.text, setup.n_chunks * 300)
    store.add_documents(splitter.create_documents([text], [{"source": _NAME}]))
    source = document_source(store)
    return {"overlap": lambda: source.get(_NAME)}


def _measured(key: str, setup: Setup, overlap: int) -> Measured:
    import chromadb
    from langchain_chroma import Chroma

    from langchain_oprag import OffsetTokenSplitter
    from langchain_oprag.stores import chunk_store
    from oprag.documents import rebuild

    splitter = OffsetTokenSplitter(chunk_size=64, chunk_overlap=overlap)
    text, chunks = whole_document(splitter, setup.text, _NAME, setup.n_chunks)
    store = Chroma(key.replace(".", "-"), client=chromadb.EphemeralClient())
    for first in range(0, len(chunks), _BATCH):
        batch = chunks[first : first + _BATCH]
        store._collection.add(  # noqa: SLF001 -- with vectors of our own
            ids=[chunk.id for chunk in batch],
            documents=[chunk.page_content for chunk in batch],
            metadatas=[chunk.metadata for chunk in batch],
            embeddings=[[1.0, 0.0]] * len(batch),
        )
    reader, doc_key = chunk_store(store), chunks[0].metadata["doc_key"]
    stored = [*reader.read({doc_key: None})]
    assert len(stored) == len(chunks)
    assert rebuild(_NAME, stored).text == text
    times = race(
        {
            "fetch": lambda: [*reader.read({doc_key: None})],
            "oprag": lambda: rebuild(_NAME, stored),
        },
        setup,
    )
    return share(key, times["oprag"], times["fetch"])
