"""400 nodes through LlamaIndex's components."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from benchmarks.speed.assembling import against_objects, kinds, shown
from benchmarks.speed.embedding import embedded
from benchmarks.speed.retrieved import N_STORED, K, Retrieved, pieces, place
from benchmarks.speed.setup import Setup
from benchmarks.speed.timing import Measured


def measure(setup: Setup) -> Iterator[Measured]:
    """Measure all rows of the group."""
    found = _retrieved(pieces(setup.text))
    yield from against_objects("llamaindex", found, {"shown": shown(found)}, setup)


def ours(setup: Setup) -> dict[str, Callable[[], object]]:
    """What oprag does, to compare one commit with another."""
    found = _retrieved(pieces(setup.text))
    return {**kinds(found), "shown": shown(found)}


def _retrieved(texts: dict[str, str]) -> Retrieved:
    import chromadb
    from llama_index.core.schema import Document, NodeWithScore, TextNode
    from llama_index.core.vector_stores.types import VectorStoreQuery
    from llama_index.vector_stores.chroma import ChromaVectorStore

    from llamaindex_oprag import OffsetTokenNodeParser, OrderPreservingPostprocessor

    nodes = OffsetTokenNodeParser()(
        [Document(text=text, id_=name) for name, text in texts.items()]
    )[:N_STORED]
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
        old = each.node
        node = TextNode(id_=old.node_id, text=old.text, metadata=metadata)
        return NodeWithScore(node=node, score=each.score)

    objects = fetch("all", len(nodes))
    objects.sort(key=lambda each: place(each.node.metadata))
    return Retrieved(
        objects,
        lambda: fetch("which", K),
        component,
        lambda each: each.node.metadata,
        copied,
    )
