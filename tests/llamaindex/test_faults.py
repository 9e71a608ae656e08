"""Faults of LlamaIndex's own positions: an error or the right order, never disorder.

Each was measured in llama-index-core 0.14. The ways out that the errors name are
tested where they are: exact node parsers, other keys.
"""

from __future__ import annotations

import logging
import random
from collections.abc import Sequence

import pytest
from llama_index.core import Document, StorageContext, VectorStoreIndex
from llama_index.core.ingestion import IngestionPipeline
from llama_index.core.node_parser import (
    HierarchicalNodeParser,
    MarkdownNodeParser,
    NodeParser,
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


@pytest.fixture(autouse=True)
def _quiet(caplog):
    """Small chunk sizes are meant here; LlamaIndex warns of each."""
    caplog.set_level(logging.ERROR)


def markdown(sections: int = 8) -> str:
    draw = random.Random(sections)  # noqa: S311 -- a fixed text
    lines = []
    paragraphs = iter(range(1000))
    for section in range(sections):
        lines.append(f"{'#' * draw.choice([1, 2, 3])} Section {section}")
        lines += [
            f"Paragraph §{next(paragraphs)}§ " + "says the same. " * draw.randint(1, 12)
            for _ in range(draw.randint(1, 6))
        ]
    return "\n\n".join(lines)


def split(*parsers: NodeParser, text: str | None = None) -> list[BaseNode]:
    documents = [Document(text=text or markdown(), id_="d")]
    nodes = IngestionPipeline(transformations=list(parsers)).run(documents=documents)
    return list(nodes)


def sentences(size: int, overlap: int = 0) -> SentenceSplitter:
    return SentenceSplitter(chunk_size=size, chunk_overlap=overlap)


def samples(nodes: Sequence[BaseNode], least: int = 1) -> list[list[NodeWithScore]]:
    """Some nodes at a time in any order, as retrievals give them."""
    draw = random.Random(7)  # noqa: S311 -- a fixed sequence
    return [
        [
            NodeWithScore(node=node)
            for node in draw.sample(
                list(nodes), draw.randint(least, min(8, len(nodes)))
            )
        ]
        for _ in range(SAMPLES)
    ]


def outcomes(nodes: Sequence[BaseNode], least: int = 1) -> list[str]:
    """For each sample `ordered`, or the name of the error. Disorder fails here."""
    place = {node.node_id: i for i, node in enumerate(nodes)}
    found = []
    for sample in samples(nodes, least):
        try:
            ordered = OrderPreservingPostprocessor().postprocess_nodes(sample)
        except PositionError as error:
            named = "documents=" in str(error)
            found.append(type(error).__name__ if named else "a useless error")
            continue
        places = [place[node.node_id] for node in ordered]
        assert places == sorted(places)
        assert len(places) == len(sample)
        found.append("ordered")
    return found


class TestChainedParsers:
    """The second parser's offsets count from a section, or are not found."""

    @pytest.mark.parametrize("size", [60, 200])
    def test_order_is_right_or_an_error(self, size):
        nodes = split(MarkdownNodeParser(), sentences(size))
        text = markdown()
        wrong = [
            n for n in nodes if text[n.start_char_idx or 0 :][: len(n.text)] != n.text
        ]
        assert len(wrong) > len(nodes) / 3

        found = outcomes(nodes)

        assert found.count("ordered") < SAMPLES / 4


class TestHierarchicalParsers:
    """Below the top level, offsets count from the parent."""

    @pytest.fixture
    def parser(self) -> HierarchicalNodeParser:
        return HierarchicalNodeParser.from_defaults(
            chunk_sizes=[400, 120, 40], chunk_overlap=0
        )

    def test_leaves_are_refused(self, parser):
        leaves = get_leaf_nodes(split(parser))
        # One alone needs no position.
        assert set(outcomes(leaves, least=2)) == {"PositionError"}


class TestSearchedOffsets:
    """LlamaIndex finds a chunk by search from one past the start of the last one.

    In text that repeats itself the spans are wrong though the text there is equal.
    That cannot be seen, and so `merge=True` should not be used over LlamaIndex's own
    parsers there. The search only moves forward, so the order holds.
    """

    @pytest.mark.parametrize(
        "text",
        ["word " * 600, "a b c d e f g h\n" * 200, "| 1 | 2 |\n" * 200],
        ids=["words", "lines", "table"],
    )
    def test_periodic_text(self, text):
        parser = TokenTextSplitter(chunk_size=32, chunk_overlap=8)
        nodes = split(parser, text=text)
        assert all(text[n.start_char_idx : n.end_char_idx] == n.text for n in nodes)
        ends = [node.end_char_idx for node in nodes]
        assert ends[-1] < len(text) / 2  # far from where the last chunk is

        positions = [node.start_char_idx for node in nodes]
        assert positions == sorted(set(positions))
        kept = order(nodes[::-1])
        assert told(kept) == told(nodes)


class TestPagesOfOneFile:
    """A reader gives each page an id of its own, and every page starts at 0."""

    @pytest.fixture
    def nodes(self) -> list[BaseNode]:
        pages = [
            Document(
                text="\n\n".join(
                    f"Page {page} says §{page * 10 + i}§." for i in range(9)
                ),
                metadata={"file_path": "book.pdf", "page_label": str(page)},
            )
            for page in range(1, 13)
        ]
        return list(sentences(30).get_nodes_from_documents(pages))

    def test_pages_and_nodes_are_ordered(self, nodes):
        assert len(nodes) > 12
        assert len({node.ref_doc_id for node in nodes}) == 12

        assert set(outcomes(nodes)) == {"ordered"}
        assert told(order(nodes[::-1])) == told(nodes)


class TestStores:
    def test_a_collection_that_langchain_built(self, tmp_path):
        """Positions survive only in the metadata, and no node has a source."""
        chroma = pytest.importorskip("langchain_chroma")
        import chromadb
        from langchain_core.documents import Document as LangChainDocument
        from langchain_core.embeddings import DeterministicFakeEmbedding

        client = chromadb.PersistentClient(str(tmp_path))
        fake = DeterministicFakeEmbedding(size=DIMENSIONS)
        store = chroma.Chroma("lease", fake, client=client)
        clauses = [text for text in TEXT.split("\n\n") if text]
        store.add_documents(
            [
                LangChainDocument(
                    text, metadata={"source": "lease", "start_index": TEXT.find(text)}
                )
                for text in clauses
            ]
        )
        collection = client.get_collection("lease")
        lease = VectorStoreIndex.from_vector_store(
            ChromaVectorStore(chroma_collection=collection), embed_model=WordEmbedding()
        )

        nodes = lease.as_retriever(similarity_top_k=9).retrieve(QUESTION)
        ordered = order_scored(nodes)

        assert {node.node.ref_doc_id for node in nodes} <= {None, "None"}
        assert {node.node.start_char_idx for node in nodes} == {None}
        assert numbers_of(ordered) == sorted(numbers_of(nodes))
        (whole, *_) = order_scored(nodes, merge=True)
        assert whole.metadata["oprag_end"] > whole.metadata["oprag_start"]

    def test_a_node_without_a_source_comes_back_without_a_name(self, tmp_path):
        """Its three id fields are the string "None" in the store."""
        import chromadb

        client = chromadb.PersistentClient(str(tmp_path))
        collection = client.create_collection("loose")
        storage = StorageContext.from_defaults(
            vector_store=ChromaVectorStore(chroma_collection=collection)
        )
        loose = VectorStoreIndex(
            [TextNode(text="one", start_char_idx=0, end_char_idx=3)],
            storage_context=storage,
            embed_model=WordEmbedding(),
        )
        (stored,) = collection.get()["metadatas"]
        assert stored["ref_doc_id"] == "None"

        nodes = loose.as_retriever().retrieve("one")
        with pytest.raises(MissingDocumentError, match="document_key="):
            order_scored(nodes)


def order(nodes: Sequence[BaseNode], **options: object) -> list[BaseNode]:
    found = order_scored([NodeWithScore(node=node) for node in nodes], **options)
    return [node.node for node in found]


def order_scored(
    nodes: Sequence[NodeWithScore], **options: object
) -> list[NodeWithScore]:
    return OrderPreservingPostprocessor(**options).postprocess_nodes(list(nodes))
