"""`bm25=True` gives the same through both frameworks: texts, ranks, places, errors."""

from __future__ import annotations

from typing import Any

import pytest
from llama_index.core import VectorStoreIndex

import langchain_oprag
import llamaindex_oprag
from tests.kit.tenants import Tenants, words
from tests.parity.test_widening import Ranked
from tests.stores.langchain_places import HashEmbeddings
from tests.stores.llamaindex_fakes import ChecksumEmbedding

TENANTS = Tenants("a" * 30, open=9)
QUESTION = "s0008x, s0045x o0011x and s0047x"
OPTIONS: tuple[dict[str, Any], ...] = (
    {},
    {"merge": True},
    {"order": "score"},
    {"widen": 1},
    {"token_budget": 12, "token_counter": words},
    {"token_budget": 16, "token_counter": words, "selection": "recall"},
)


@pytest.mark.parametrize("given", OPTIONS, ids=list)
def test_the_same_hits_and_words_give_the_same(given: Any):
    index = VectorStoreIndex(TENANTS.nodes(), embed_model=ChecksumEmbedding())
    base = index.as_retriever(similarity_top_k=3)
    nodes = llamaindex_oprag.OrderPreservingRetriever(base, bm25=True, **given)
    of_nodes = [
        (n.node.text, n.metadata["oprag_rank"], n.metadata["oprag_citation"])
        for n in nodes.retrieve(QUESTION)
    ]

    documents = {d.page_content: d for d in TENANTS.documents()}
    vectors = Ranked(HashEmbeddings())
    vectors.add_documents([*documents.values()])
    hits = base.retrieve(QUESTION)
    vectors.best_first = vectors.get_by_ids([each.node.node_id for each in hits])
    retriever = langchain_oprag.OrderPreservingRetriever(
        base_retriever=vectors.as_retriever(search_kwargs={"k": 3}), bm25=True, **given
    )

    assert of_nodes == [
        (d.page_content, d.metadata["oprag_rank"], d.metadata["oprag_citation"])
        for d in retriever.invoke(QUESTION)
    ]
    assert "s0044x" in str(of_nodes)
