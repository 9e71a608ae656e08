"""Faults of LlamaIndex's own positions: an error or the right order, never disorder.

Each was measured in llama-index-core 0.14. The ways out that the errors name are
tested where they are: exact node parsers, other keys.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any

import chromadb
import pytest
from llama_index.core import Document, VectorStoreIndex
from llama_index.core.ingestion import IngestionPipeline
from llama_index.core.node_parser import TokenTextSplitter
from llama_index.core.schema import BaseNode, NodeWithScore
from llama_index.vector_stores.chroma import ChromaVectorStore

from llamaindex_oprag import OrderPreservingPostprocessor
from tests.kit.handed_out import ids_and_texts
from tests.llamaindex.corpus import QUESTION, TEXT, numbers_of
from tests.llamaindex.recording import DIMENSIONS, WordEmbedding


@pytest.fixture(autouse=True)
def _quiet(caplog):
    """Small chunk sizes are meant here; LlamaIndex warns of each."""
    caplog.set_level(logging.ERROR)


def split(*parsers: Any, text: str) -> list[BaseNode]:
    documents = [Document(text=text, id_="d")]
    return [*IngestionPipeline(transformations=[*parsers]).run(documents=documents)]


def order(nodes: Sequence[NodeWithScore], **options: Any) -> list[NodeWithScore]:
    return OrderPreservingPostprocessor(**options).postprocess_nodes(list(nodes))


@pytest.mark.parametrize(
    "text",
    ["word " * 600, "a b c d e f g h\n" * 200, "| 1 | 2 |\n" * 200],
    ids=["words", "lines", "table"],
)
def test_in_text_that_repeats_itself_spans_are_wrong_and_the_order_holds(text):
    """LlamaIndex searches from one past the start of the last chunk.

    The text at a wrong span is equal, so that it cannot be seen: `merge=True` should
    not be used over LlamaIndex's own parsers there.
    """
    nodes = split(TokenTextSplitter(chunk_size=32, chunk_overlap=8), text=text)
    assert nodes[-1].end_char_idx < len(text) / 2  # far from where the last chunk is

    kept = order([NodeWithScore(node=node) for node in nodes[::-1]])
    assert ids_and_texts(kept) == ids_and_texts(nodes)


def test_a_collection_that_langchain_built(tmp_path):
    """Positions survive only in the metadata, and no node has a source."""
    chroma = pytest.importorskip("langchain_chroma")
    from langchain_core.embeddings import DeterministicFakeEmbedding

    client = chromadb.PersistentClient(str(tmp_path))
    fake = DeterministicFakeEmbedding(size=DIMENSIONS)
    clauses = [text for text in TEXT.split("\n\n") if text]
    chroma.Chroma("lease", fake, client=client).add_texts(
        clauses,
        [{"source": "lease", "start_index": TEXT.find(text)} for text in clauses],
    )
    lease = VectorStoreIndex.from_vector_store(
        ChromaVectorStore(chroma_collection=client.get_collection("lease")),
        embed_model=WordEmbedding(),
    )

    nodes = lease.as_retriever(similarity_top_k=9).retrieve(QUESTION)

    assert {node.node.ref_doc_id for node in nodes} <= {None, "None"}
    assert numbers_of(order(nodes)) == sorted(numbers_of(nodes))
