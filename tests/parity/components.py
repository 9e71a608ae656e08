"""The same retrieved chunks through plain Python and every component."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any, NamedTuple

from langchain_core.documents import Document
from llama_index.core.schema import NodeWithScore, TextNode

import langchain_oprag
import llamaindex_oprag
from oprag import order_context
from tests.langchain.corpus import ListRetriever
from tests.llamaindex.components import Retrieved


class Result(NamedTuple):
    """The results, in order."""

    texts: list[str]
    metadatas: list[dict[str, Any]]


def plain(texts: Sequence[str], metadatas: Sequence[dict[str, Any]], **options: Any):
    passages = order_context(texts, metadatas, **options)
    chunks = [passage.chunks[0] for passage in passages]
    return Result([p.text for p in passages], [dict(c.metadata) for c in chunks])


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
    """Without their ids, which are random."""
    metadatas = [{**n.node.metadata} for n in found]
    for metadata in metadatas:
        metadata.pop("oprag_ids", None)
    return Result([n.node.text for n in found], metadatas)


def _retrieved(texts, metadatas, **options):
    return _documents(langchain_retriever(texts, metadatas, **options).invoke("?"))


def _aretrieved(texts, metadatas, **options):
    retriever = langchain_retriever(texts, metadatas, **options)
    return _documents(asyncio.run(retriever.ainvoke("?")))


def _compressed(texts, metadatas, **options):
    compressor = langchain_oprag.OrderPreservingCompressor(**options)
    return _documents(compressor(documents(texts, metadatas)))


def _acompressed(texts, metadatas, **options):
    compressor = langchain_oprag.OrderPreservingCompressor(**options)
    found = compressor.acompress_documents(documents(texts, metadatas), "?")
    return _documents(asyncio.run(found))


def _llama_retrieved(texts, metadatas, **options):
    return _nodes(llamaindex_retriever(texts, metadatas, **options).retrieve("?"))


def _llama_aretrieved(texts, metadatas, **options):
    retriever = llamaindex_retriever(texts, metadatas, **options)
    return _nodes(asyncio.run(retriever.aretrieve("?")))


def _postprocessed(texts, metadatas, **options):
    postprocessor = llamaindex_oprag.OrderPreservingPostprocessor(**options)
    return _nodes(postprocessor.postprocess_nodes(nodes(texts, metadatas)))


def _apostprocessed(texts, metadatas, **options):
    postprocessor = llamaindex_oprag.OrderPreservingPostprocessor(**options)
    found = postprocessor.apostprocess_nodes(nodes(texts, metadatas))
    return _nodes(asyncio.run(found))


COMPONENTS = {
    "order_context": plain,
    "langchain retriever": _retrieved,
    "langchain retriever, async": _aretrieved,
    "compressor": _compressed,
    "compressor, async": _acompressed,
    "llamaindex retriever": _llama_retrieved,
    "llamaindex retriever, async": _llama_aretrieved,
    "postprocessor": _postprocessed,
    "postprocessor, async": _apostprocessed,
}
"""Each takes texts, metadatas and options."""
