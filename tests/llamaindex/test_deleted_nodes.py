"""Nodes deleted from an index stay away; LlamaIndex leaves it in the docstore."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from llama_index.core import Document, StorageContext, VectorStoreIndex

from llamaindex_oprag import (
    OffsetSentenceNodeParser,
    OrderPreservingRetriever,
    document_source,
)
from oprag.errors import DocumentNotFoundError, IncompleteDocumentError, OpragError
from tests.llamaindex.recording import WordEmbedding

WORD = "Rule1x5"


def filled(vector_store: Any = None) -> VectorStoreIndex:
    parser = OffsetSentenceNodeParser(chunk_size=8)
    stores = StorageContext.from_defaults(vector_store=vector_store)
    return VectorStoreIndex.from_documents(
        documents(),
        transformations=[parser],
        embed_model=WordEmbedding(),
        storage_context=stores,
    )


def documents() -> list[Document]:
    return [
        Document(text=" ".join(f"Rule{d}x{i} holds." for i in range(20)), id_=f"d{d}")
        for d in range(3)
    ]


def delete_node(index: VectorStoreIndex) -> None:
    nodes = index.docstore.docs.values()
    (node,) = (each for each in nodes if f"{WORD} " in each.get_content())
    index.delete_nodes([node.node_id])


def delete_document(index: VectorStoreIndex) -> None:
    index.delete_ref_doc("d1")


DELETES = pytest.mark.parametrize("delete", [delete_node, delete_document])
Delete = Callable[[VectorStoreIndex], None]


async def brought(index: VectorStoreIndex, **options: Any) -> bool:
    """Whether it is among what two retrievers return, one of them asked before."""
    base = index.as_retriever(similarity_top_k=options.pop("top", 3))
    retriever = OrderPreservingRetriever(base, **options)
    found = [retriever.retrieve(WORD), await retriever.aretrieve(WORD)]
    texts = [node.text for nodes in found for node in nodes]
    return any(f"{WORD} " in text for text in texts)


@DELETES
async def test_words_do_not_bring_back_what_was_deleted(delete: Delete):
    index = filled()
    before = OrderPreservingRetriever(index.as_retriever(), bm25=True)
    assert WORD in str([node.text for node in before.retrieve(WORD)])

    delete(index)

    assert not await brought(index, bm25=True)
    assert f"{WORD} " not in str([node.text for node in before.retrieve(WORD)])


@DELETES
async def test_neither_do_neighbours(delete: Delete):
    index = filled()
    assert await brought(index, widen=2, top=50)

    delete(index)

    assert not await brought(index, widen=2, top=50)


@pytest.mark.parametrize(
    ("delete", "error"),
    [(delete_node, IncompleteDocumentError), (delete_document, DocumentNotFoundError)],
)
def test_no_full_text_is_put_together_of_what_was_deleted(
    delete: Delete, error: type[OpragError]
):
    index = filled()
    assert WORD in document_source(index).get("d1")

    delete(index)

    with pytest.raises(error):
        document_source(index).get("d1")
    assert "Rule0x5" in document_source(index).get("d0")
