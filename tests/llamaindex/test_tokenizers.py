"""Tokens are counted as LlamaIndex was told to, if nobody names a counter."""

from collections.abc import Iterator
from typing import Any

import llama_index.core
import pytest
from llama_index.core import Settings

from llamaindex_oprag import (
    OrderPreservingPostprocessor,
    OrderPreservingRetriever,
    OrderPreservingRetrieverTool,
    order_nodes,
)
from tests.llamaindex.corpus import QUESTION, index


@pytest.fixture
def told() -> Iterator[Any]:
    """Let LlamaIndex count bytes."""
    before = llama_index.core.global_tokenizer
    Settings.tokenizer = lambda text: list(text.encode())
    yield lambda nodes: sum(len(node.get_content()) for node in nodes)
    llama_index.core.global_tokenizer = before


def test_a_budget_is_of_the_tokens_of_settings(told):
    retriever = OrderPreservingRetriever(index(), token_budget=300)
    found = index().as_retriever(similarity_top_k=20).retrieve(QUESTION)
    tool = OrderPreservingRetrieverTool.from_defaults(index(), token_budget=300)

    last = OrderPreservingPostprocessor(token_budget=300)
    for nodes in (
        retriever.retrieve(QUESTION),
        last.postprocess_nodes(found),
        order_nodes(found, token_budget=300),
    ):
        assert 150 < told(nodes) <= 300
    assert 150 < len(tool.call(QUESTION).content.encode()) <= 300


def test_a_counter_that_is_named_goes_first(told):
    named = OrderPreservingRetriever(
        index(), token_budget=300, token_counter="approximate"
    )
    assert told(named.retrieve(QUESTION)) > 600


def test_asking_for_a_budget_sets_nothing_in_llamaindex(monkeypatch):
    monkeypatch.setattr(llama_index.core, "global_tokenizer", None)
    OrderPreservingRetriever(index(), token_budget=300).retrieve(QUESTION)
    assert llama_index.core.global_tokenizer is None
