"""Metadata that no store gives back, or that no one expects, end in no raw error."""

import contextlib

import pytest
from langchain_core.documents import Document
from langchain_core.embeddings import DeterministicFakeEmbedding
from langchain_core.vectorstores import InMemoryVectorStore
from llama_index.core.schema import NodeWithScore, TextNode

import langchain_oprag
import llamaindex_oprag
from oprag import OpragError, order_context, render
from oprag.errors import IndexingError, InvalidOptionError, UnreadableFileError
from tests.langchain.corpus import ListRetriever

ODD_NUMBERS = [
    *(float("-inf"), float("inf"), float("nan"), 1e308),
    *(10**400, -(10**400), "9" * 400, 2**63),
]
NUMBER_KEYS = [
    *("char_start", "char_end", "start_index", "chunk_index", "n_chunks"),
    *("part_index", "page", "page_label", "text_length", "token_count"),
]
ODD_NAMES = [5, ["a"], {"a": 1}, b"a", "", None]


def entrances(metadatas):
    """Every public way in for two chunks."""
    texts = ["one", "two"]
    documents = [
        Document(text, metadata=metadata)
        for text, metadata in zip(texts, metadatas, strict=True)
    ]
    nodes = [
        TextNode(text=text, metadata=metadata)
        for text, metadata in zip(texts, metadatas, strict=True)
    ]
    full = {"a": "one two"}
    retriever = langchain_oprag.OrderPreservingRetriever(
        base_retriever=ListRetriever(documents=documents)
    )
    return {
        "order_context": lambda: render(order_context(texts, metadatas)),
        "retriever": lambda: retriever.invoke("anything"),
        "compressor": lambda: langchain_oprag.OrderPreservingCompressor(
            merge=True, documents=full
        ).compress_documents(documents, "anything"),
        "postprocessor": lambda: (
            llamaindex_oprag.OrderPreservingPostprocessor().postprocess_nodes(
                [NodeWithScore(node=node) for node in nodes]
            )
        ),
        "langchain doctor": lambda: langchain_oprag.diagnose(
            documents, documents=full
        ).to_dict(),
        "llamaindex doctor": lambda: llamaindex_oprag.diagnose(
            nodes, documents=full
        ).to_dict(),
        "annotate_positions": lambda: langchain_oprag.annotate_positions(
            documents, full
        ),
    }


ENTRANCES = list(entrances([{}, {}]))


@pytest.mark.parametrize("entrance", ENTRANCES)
def test_an_odd_number_is_no_position_or_an_error_of_ours(entrance):
    for number in ODD_NUMBERS:
        for key in NUMBER_KEYS:
            first = {"source": "a", "start_index": 0, key: number}
            second = {"source": "a", "start_index": 4, key: 4}
            with contextlib.suppress(OpragError):
                entrances([first, second])[entrance]()


@pytest.mark.parametrize("entrance", ENTRANCES)
def test_a_name_that_is_no_string_is_none(entrance):
    for name in ODD_NAMES:
        own = {"doc_key": "a" * 16, "doc_uri": name, "n_chunks": 2}
        first = {**own, "chunk_index": 0, "char_start": 0, "char_end": 3}
        second = {**own, "chunk_index": 1, "char_start": 4, "char_end": 7}
        with contextlib.suppress(OpragError):
            entrances([first, second])[entrance]()


def test_the_key_is_shown_where_the_name_is_no_string():
    metadata = {"doc_key": "a" * 16, "doc_uri": 5, "char_start": 0, "char_end": 3}

    (passage,) = order_context(["one"], [metadata])

    assert passage.citation == f"{'a' * 16}, characters 0-3"


def store():
    return InMemoryVectorStore(DeterministicFakeEmbedding(size=4))


def test_what_chroma_reserves_is_refused_by_name_or_left_out():
    document = Document("one", metadata={"source": "a", "chroma:document": "x"})

    with pytest.raises(IndexingError, match="'chroma:document'") as caught:
        langchain_oprag.index_documents([document], store())
    assert isinstance(caught.value.__cause__, UnreadableFileError)
    with pytest.raises(InvalidOptionError, match="'error' or 'drop'"):
        langchain_oprag.index_documents(
            [document], store(), unsupported_metadata="keep"
        )
    report = langchain_oprag.index_documents(
        [document], store(), unsupported_metadata="drop"
    )
    assert report.added == ("a",)
