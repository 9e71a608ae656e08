"""Indexes and retrieved nodes that many tests start from."""

import pytest
from llama_index.core import VectorStoreIndex
from llama_index.core.schema import NodeWithScore

from tests.llamaindex.corpus import QUESTION, index
from tests.llamaindex.recording import RecordingLLM


@pytest.fixture
def lease() -> VectorStoreIndex:
    """The lease in the in-memory store, one clause per node."""
    return index()


@pytest.fixture
def hits(lease: VectorStoreIndex) -> list[NodeWithScore]:
    """Ten clauses, best first, which is not the order of the lease."""
    return lease.as_retriever(similarity_top_k=10).retrieve(QUESTION)


@pytest.fixture
def llm() -> RecordingLLM:
    return RecordingLLM()
