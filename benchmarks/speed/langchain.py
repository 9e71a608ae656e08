"""400 chunks through LangChain's components, and many more."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from benchmarks.speed.assembling import against_objects, growth, kinds, uncounted
from benchmarks.speed.embedding import Hashes
from benchmarks.speed.retrieved import N_STORED, K, Retrieved, pieces, place
from benchmarks.speed.setup import Setup
from benchmarks.speed.timing import Measured


def measure(setup: Setup) -> Iterator[Measured]:
    """Measure all rows of the group."""
    found = _retrieved(pieces(setup.text))
    yield from against_objects(
        "langchain", found, {"uncounted": uncounted(found)}, setup
    )
    yield growth("langchain", found, setup)


def ours(setup: Setup) -> dict[str, Callable[[], object]]:
    """What oprag does, to compare one commit with another."""
    found = _retrieved(pieces(setup.text))
    return {**kinds(found), "uncounted": uncounted(found)}


def _retrieved(texts: dict[str, str]) -> Retrieved:
    import chromadb
    from langchain_chroma import Chroma
    from langchain_core.documents import Document

    from langchain_oprag import OffsetTokenSplitter, OrderPreservingCompressor

    chunks = OffsetTokenSplitter().create_documents(
        list(texts.values()), [{"source": name} for name in texts]
    )
    client = chromadb.EphemeralClient()
    store = Chroma("speed-langchain", Hashes(), client=client)
    store.add_documents(chunks[:N_STORED])
    objects = store.similarity_search("all", k=min(N_STORED, len(chunks)))
    objects.sort(key=lambda each: place(each.metadata))

    def copied(document: Document, metadata: dict[str, Any]) -> Document:
        return Document(document.page_content, id=document.id, metadata=metadata)

    return Retrieved(
        objects,
        lambda: store.similarity_search("which", k=K),
        OrderPreservingCompressor,
        lambda each: each.metadata,
        copied,
    )
