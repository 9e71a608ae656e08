"""The same retrieved chunks through plain Python and every component."""

import asyncio
from collections.abc import Sequence
from typing import Any, NamedTuple

from langchain_core.documents import Document
from llama_index.core.schema import NodeWithScore, TextNode

import langchain_oprag
import llamaindex_oprag
from langchain_oprag import OrderPreservingCompressor, order_documents
from llamaindex_oprag import OrderPreservingPostprocessor, order_nodes
from oprag import Passage, Place, order_context, place_of
from tests.langchain.corpus import ListRetriever
from tests.llamaindex.components import Retrieved


class Result(NamedTuple):
    """The results, in order."""

    texts: list[str]
    metadatas: list[dict[str, Any]]
    passages: Sequence[Passage] = ()
    """Of plain Python, whose results have no metadata of ours."""

    def places(self) -> list[Place | None]:
        """Return the place of each, None in plain Python."""
        pairs = zip(self.texts, self.metadatas, strict=True)
        return [place_of({"text": text, "metadata": m}) for text, m in pairs]

    def problems(self) -> list[str | None]:
        if self.passages:
            return [passage.chunks[0].problem for passage in self.passages]
        return [place and place.problem for place in self.places()]


def plain(texts: Sequence[str], metadatas: Sequence[dict[str, Any]], **options: Any):
    passages = order_context(texts, metadatas, **options)
    chunks = [passage.chunks[0] for passage in passages]
    metadatas = [dict(chunk.metadata) for chunk in chunks]
    return Result([p.text for p in passages], metadatas, passages)


def documents(texts: Sequence[str], metadatas: Sequence[dict[str, Any]]):
    return [
        Document(t, metadata=dict(m)) for t, m in zip(texts, metadatas, strict=True)
    ]


def nodes(texts: Sequence[str], metadatas: Sequence[dict[str, Any]]):
    """Nodes that show the model none of their metadata, as plain texts do."""
    return [
        NodeWithScore(
            node=TextNode(text=t, metadata=dict(m), excluded_llm_metadata_keys=list(m)),
            score=1 / (i + 1),
        )
        for i, (t, m) in enumerate(zip(texts, metadatas, strict=True))
    ]


def langchain_retriever(texts, metadatas, **options):
    base = ListRetriever(documents=documents(texts, metadatas))
    return langchain_oprag.OrderPreservingRetriever(base_retriever=base, **options)


def llamaindex_retriever(texts, metadatas, **options):
    return llamaindex_oprag.OrderPreservingRetriever(
        Retrieved(nodes(texts, metadatas)), **options
    )


def _documents(found: Sequence[Document]) -> Result:
    return Result([d.page_content for d in found], [d.metadata for d in found])


def _nodes(found: Sequence[NodeWithScore]) -> Result:
    return Result([n.node.text for n in found], [n.node.metadata for n in found])


COMPONENTS = {
    "order_context": plain,
    "langchain retriever": lambda t, m, **o: _documents(
        langchain_retriever(t, m, **o).invoke("?")
    ),
    "langchain retriever, async": lambda t, m, **o: _documents(
        asyncio.run(langchain_retriever(t, m, **o).ainvoke("?"))
    ),
    "compressor": lambda t, m, **o: _documents(
        OrderPreservingCompressor(**o)(documents(t, m))
    ),
    "compressor, async": lambda t, m, **o: _documents(
        asyncio.run(
            OrderPreservingCompressor(**o).acompress_documents(documents(t, m), "?")
        )
    ),
    "compressor as a runnable": lambda t, m, **o: _documents(
        OrderPreservingCompressor(**o).invoke(documents(t, m))
    ),
    "compressor as a runnable, async": lambda t, m, **o: _documents(
        asyncio.run(OrderPreservingCompressor(**o).ainvoke(documents(t, m)))
    ),
    "order_documents": lambda t, m, **o: _documents(
        order_documents(documents(t, m), **o)
    ),
    "llamaindex retriever": lambda t, m, **o: _nodes(
        llamaindex_retriever(t, m, **o).retrieve("?")
    ),
    "llamaindex retriever, async": lambda t, m, **o: _nodes(
        asyncio.run(llamaindex_retriever(t, m, **o).aretrieve("?"))
    ),
    "llamaindex postprocessor": lambda t, m, **o: _nodes(
        OrderPreservingPostprocessor(**o).postprocess_nodes(nodes(t, m))
    ),
    "llamaindex postprocessor, async": lambda t, m, **o: _nodes(
        asyncio.run(OrderPreservingPostprocessor(**o).apostprocess_nodes(nodes(t, m)))
    ),
    "order_nodes": lambda t, m, **o: _nodes(order_nodes(nodes(t, m), **o)),
}
"""Each takes texts, metadatas and options."""
