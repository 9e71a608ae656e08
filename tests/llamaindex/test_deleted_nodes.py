"""Nodes deleted from an index stay away; LlamaIndex leaves it in the docstore."""

from typing import Any

import pytest
from llama_index.core import Document, StorageContext, VectorStoreIndex
from llama_index.core.schema import NodeWithScore

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


def texts(nodes: list[NodeWithScore]) -> str:
    return str([node.text for node in nodes])


@pytest.mark.parametrize("delete", [delete_node, delete_document])
@pytest.mark.parametrize(
    ("top", "options"), [(3, {"bm25": True}), (50, {"widen": 2})], ids=str
)
async def test_neither_words_nor_neighbours_bring_back_what_was_deleted(
    delete, top, options
):
    index = filled()
    base = index.as_retriever(similarity_top_k=top)
    before = OrderPreservingRetriever(base, **options)
    assert f"{WORD} " in texts(before.retrieve(WORD))

    delete(index)

    base = index.as_retriever(similarity_top_k=top)
    after = OrderPreservingRetriever(base, **options)
    for retriever in (before, after):
        assert f"{WORD} " not in texts(retriever.retrieve(WORD))
        assert f"{WORD} " not in texts(await retriever.aretrieve(WORD))


@pytest.mark.parametrize(
    ("delete", "error"),
    [(delete_node, IncompleteDocumentError), (delete_document, DocumentNotFoundError)],
)
def test_no_full_text_is_put_together_of_what_was_deleted(
    delete: Any, error: type[OpragError]
):
    index = filled()
    assert WORD in document_source(index).get("d1")

    delete(index)

    with pytest.raises(error):
        document_source(index).get("d1")
    assert "Rule0x5" in document_source(index).get("d0")
