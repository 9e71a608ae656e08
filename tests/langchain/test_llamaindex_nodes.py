"""Chunks that LlamaIndex put into a store, as LangChain finds them there."""

from __future__ import annotations

import pytest
from langchain_core.documents import Document

from langchain_oprag import OrderPreservingCompressor
from oprag.errors import PositionError

llama_index = pytest.importorskip("llama_index.core")

TEXT = " ".join(f"Sentence number {number:03} is here." for number in range(60))


def found(*parsers) -> list[Document]:
    """What a LangChain store makes of the rows that LlamaIndex's Chroma store adds."""
    from llama_index.core.vector_stores.utils import node_to_metadata_dict

    nodes = [llama_index.Document(text=TEXT, id_="d")]
    for parser in parsers:
        nodes = parser.get_nodes_from_documents(nodes)
    documents = [
        Document(
            node.get_content(),
            metadata=node_to_metadata_dict(node, remove_text=True, flat_metadata=True),
        )
        for node in nodes
    ]
    return documents[1::2] + documents[::2]


def test_their_positions_are_in_the_stored_node():
    from llama_index.core.node_parser import SentenceSplitter

    documents = found(SentenceSplitter(chunk_size=60, chunk_overlap=0))
    before = [document.model_copy(deep=True) for document in documents]

    ordered = OrderPreservingCompressor().transform_documents(documents)

    texts = [document.page_content for document in ordered]
    assert texts == sorted(texts, key=TEXT.index)
    assert texts != [document.page_content for document in documents]
    assert documents == before
    assert all("start_char_idx" not in document.metadata for document in ordered)


def test_offsets_into_a_parent_are_not_taken_for_the_document():
    from llama_index.core.node_parser import HierarchicalNodeParser

    documents = found(
        HierarchicalNodeParser.from_defaults(chunk_sizes=[120, 60], chunk_overlap=0)
    )

    with pytest.raises(PositionError):
        OrderPreservingCompressor().transform_documents(documents)


def test_json_that_is_no_node_is_passed_over():
    documents = [
        Document(str(start), metadata={"source": "d", "start_index": start, **more})
        for start, more in ((5, {"_node_content": "{"}), (1, {"_node_content": "[]"}))
    ]

    ordered = OrderPreservingCompressor().transform_documents(documents)

    assert [document.page_content for document in ordered] == ["1", "5"]
