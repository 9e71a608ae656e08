"""Chunks as a Chroma collection gives them back, in either framework's classes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from benchmarks.speed.embedding import Hashes, embedded

__all__ = ["FRAMEWORKS", "Retrieved", "retrieved"]

FRAMEWORKS = ("langchain", "llamaindex")
_N_STORED = 2_000
_K = 400


class Retrieved(NamedTuple):
    """What a framework fetched, and what is done with it."""

    objects: list[Any]
    """Chunks of a few documents, in document order."""
    query: Callable[[], object]
    """The query that fetches 400 chunks."""
    component: Callable[..., Callable[[list[Any]], object]]
    """Makes oprag's component out of options, as a function of the objects."""
    without: Callable[..., Any]
    """A copy of an object without some of its metadata."""
    renamed: Callable[[Any, int], Any]
    """A copy of an object that belongs to another document, by a number."""


def retrieved(framework: str, text: str) -> Retrieved:
    """Store chunks of a text in Chroma and fetch them."""
    size = len(text) // 5
    texts = {f"{number}.txt": text[number * size :][:size] for number in range(5)}
    return {"langchain": _langchain, "llamaindex": _llamaindex}[framework](texts)


def _langchain(texts: dict[str, str]) -> Retrieved:
    import chromadb
    from langchain_chroma import Chroma
    from langchain_core.documents import Document

    from langchain_oprag import OffsetTokenSplitter, OrderPreservingCompressor

    chunks = OffsetTokenSplitter().create_documents(
        list(texts.values()), [{"source": name} for name in texts]
    )
    client = chromadb.EphemeralClient()
    store = Chroma("speed-langchain", Hashes(), client=client)
    store.add_documents(chunks[:_N_STORED])
    objects = store.similarity_search("all", k=min(_N_STORED, len(chunks)))
    objects.sort(key=lambda each: _place(each.metadata))

    def copied(document: Document, metadata: dict[str, Any]) -> Document:
        return Document(document.page_content, id=document.id, metadata=metadata)

    return Retrieved(
        objects,
        lambda: store.similarity_search("which", k=_K),
        OrderPreservingCompressor,
        lambda each, *keys: copied(each, _less(each.metadata, keys)),
        lambda each, number: copied(each, _renamed(each.metadata, number)),
    )


def _llamaindex(texts: dict[str, str]) -> Retrieved:
    import chromadb
    from llama_index.core.schema import Document, NodeWithScore
    from llama_index.core.vector_stores.types import VectorStoreQuery
    from llama_index.vector_stores.chroma import ChromaVectorStore

    from llamaindex_oprag import OffsetTokenNodeParser, OrderPreservingPostprocessor

    nodes = OffsetTokenNodeParser()(
        [Document(text=text, id_=name) for name, text in texts.items()]
    )[:_N_STORED]
    client = chromadb.EphemeralClient()
    store = ChromaVectorStore(client.create_collection("speed-llamaindex"))
    for node in nodes:
        node.embedding = embedded(node.get_content())
    store.add(nodes)

    def fetch(text: str, k: int) -> list[Any]:
        query = VectorStoreQuery(query_embedding=embedded(text), similarity_top_k=k)
        found = store.query(query)
        pairs = zip(found.nodes or [], found.similarities or [], strict=True)
        return [NodeWithScore(node=node, score=score) for node, score in pairs]

    def component(**options: Any) -> Callable[[list[Any]], object]:
        return OrderPreservingPostprocessor(**options).postprocess_nodes

    def copied(each: Any, metadata: dict[str, Any]) -> Any:
        node = each.node.model_copy(update={"metadata": metadata})
        return NodeWithScore(node=node, score=each.score)

    objects = fetch("all", len(nodes))
    objects.sort(key=lambda each: _place(each.node.metadata))
    return Retrieved(
        objects,
        lambda: fetch("which", _K),
        component,
        lambda each, *keys: copied(each, _less(each.node.metadata, keys)),
        lambda each, number: copied(each, _renamed(each.node.metadata, number)),
    )


def _place(metadata: dict[str, Any]) -> tuple[str, int]:
    return metadata["doc_uri"], metadata["chunk_index"]


def _less(metadata: dict[str, Any], keys: tuple[str, ...]) -> dict[str, Any]:
    return {key: value for key, value in metadata.items() if key not in keys}


def _renamed(metadata: dict[str, Any], number: int) -> dict[str, Any]:
    return {**metadata, "doc_key": f"{metadata['doc_key']}-{number}"}
