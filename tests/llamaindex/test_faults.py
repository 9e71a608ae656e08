"""Faults of LlamaIndex's own positions: an error or the right order, never disorder.

Each was measured in llama-index-core 0.14. The ways out that the errors name are
tested where they are: exact node parsers, other keys.
"""

from __future__ import annotations

import logging
import random
from collections.abc import Sequence
from typing import Any

import chromadb
import pytest
from llama_index.core import Document, StorageContext, VectorStoreIndex
from llama_index.core.ingestion import IngestionPipeline
from llama_index.core.node_parser import (
    HierarchicalNodeParser,
    MarkdownNodeParser,
    SentenceSplitter,
    TokenTextSplitter,
    get_leaf_nodes,
)
from llama_index.core.schema import BaseNode, NodeWithScore, TextNode
from llama_index.vector_stores.chroma import ChromaVectorStore

from llamaindex_oprag import OrderPreservingPostprocessor
from oprag.errors import MissingDocumentError, PositionError
from tests.kit.handed_out import told
from tests.llamaindex.corpus import QUESTION, TEXT, numbers_of
from tests.llamaindex.recording import DIMENSIONS, WordEmbedding

SAMPLES = 60
SECTIONS = "\n\n".join(
    f"{'#' * (1 + number % 3)} Section {number}\n\n"
    + "\n\n".join(
        f"Paragraph §{10 * number + n}§ " + "says the same. " * (1 + n * number % 9)
        for n in range(1 + number % 5)
    )
    for number in range(9)
)
PAGES = [
    Document(
        text="\n\n".join(f"Page {page} says §{page * 10 + i}§." for i in range(9)),
        metadata={"file_path": "book.pdf", "page_label": str(page)},
    )
    for page in range(1, 13)
]


@pytest.fixture(autouse=True)
def _quiet(caplog):
    """Small chunk sizes are meant here; LlamaIndex warns of each."""
    caplog.set_level(logging.ERROR)


def split(*parsers: Any, text: str = SECTIONS) -> list[BaseNode]:
    documents = [Document(text=text, id_="d")]
    return [*IngestionPipeline(transformations=[*parsers]).run(documents=documents)]


def sentences(size: int) -> SentenceSplitter:
    return SentenceSplitter(chunk_size=size, chunk_overlap=0)


def order(nodes: Sequence[NodeWithScore], **options: Any) -> list[NodeWithScore]:
    return OrderPreservingPostprocessor(**options).postprocess_nodes(list(nodes))


def outcomes(nodes: Sequence[BaseNode]) -> list[str]:
    """For some nodes at a time `ordered`, or the error's name. Disorder fails here."""
    draw = random.Random(7)  # noqa: S311 -- a fixed sequence
    place = {node.node_id: i for i, node in enumerate(nodes)}
    found = []
    for _ in range(SAMPLES):
        # One alone needs no position.
        sample = draw.sample([*nodes], draw.randint(2, min(8, len(nodes))))
        try:
            ordered = order([NodeWithScore(node=node) for node in sample])
        except PositionError as error:
            assert "documents=" in error.message  # noqa: PT017 -- beside disorder
            found.append(type(error).__name__)
            continue
        places = [place[node.node_id] for node in ordered]
        assert places == sorted(places)
        assert len(places) == len(sample)
        found.append("ordered")
    return found


@pytest.mark.parametrize("size", [60, 200])
def test_behind_another_parser_offsets_count_from_a_section_or_are_not_found(size):
    nodes = split(MarkdownNodeParser(), sentences(size))
    wrong = [n for n in nodes if not SECTIONS.startswith(n.text, n.start_char_idx or 0)]
    assert len(wrong) > len(nodes) / 3

    assert outcomes(nodes).count("ordered") < SAMPLES / 4


def test_below_the_top_level_of_a_hierarchy_offsets_count_from_the_parent():
    parser = HierarchicalNodeParser.from_defaults([400, 120, 40], chunk_overlap=0)

    assert {*outcomes(get_leaf_nodes(split(parser)))} == {"PositionError"}


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
    assert told(kept) == told(nodes)


def test_pages_with_ids_of_their_own_that_start_at_0_are_ordered():
    nodes = sentences(30).get_nodes_from_documents(PAGES)
    assert len({node.ref_doc_id for node in nodes}) == 12

    assert {*outcomes(nodes)} == {"ordered"}


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


def test_a_node_without_a_source_comes_back_without_a_name(tmp_path):
    """Its three id fields are the string "None" in the store."""
    collection = chromadb.PersistentClient(str(tmp_path)).create_collection("loose")
    storage = StorageContext.from_defaults(
        vector_store=ChromaVectorStore(chroma_collection=collection)
    )
    loose = VectorStoreIndex(
        [TextNode(text="one", start_char_idx=0, end_char_idx=3)],
        storage_context=storage,
        embed_model=WordEmbedding(),
    )
    assert collection.get()["metadatas"][0]["ref_doc_id"] == "None"

    with pytest.raises(MissingDocumentError, match="document_key="):
        order(loose.as_retriever().retrieve("one"))
