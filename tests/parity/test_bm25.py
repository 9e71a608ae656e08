"""`bm25=True` gives the same through both frameworks: texts, ranks, places, errors."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_core.retrievers import BaseRetriever
from langchain_core.vectorstores import InMemoryVectorStore
from llama_index.core import VectorStoreIndex
from llama_index.core.base.base_retriever import BaseRetriever as LlamaRetriever

import langchain_oprag
import llamaindex_oprag
from oprag.documents import Bm25, SearchedChunks, SearchFilter
from oprag.errors import InvalidOptionError
from tests.parity.test_widening import Ranked
from tests.stores.langchain_places import HashEmbeddings
from tests.stores.llamaindex_fakes import ChecksumEmbedding
from tests.support.tenants import Tenants, words

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
        vectorstore=vectors, search_kwargs={"k": 3}, bm25=True, **given
    )

    assert of_nodes == [
        (d.page_content, d.metadata["oprag_rank"], d.metadata["oprag_citation"])
        for d in retriever.invoke(QUESTION)
    ]
    assert "s0044x" in str(of_nodes)


def test_both_stores_rank_the_same_ids():
    index = VectorStoreIndex(TENANTS.nodes(), embed_model=ChecksumEmbedding())
    vectors = InMemoryVectorStore(HashEmbeddings())
    vectors.add_documents(TENANTS.documents())
    ranked = []
    for store in (
        llamaindex_oprag.chunk_store(index),
        langchain_oprag.chunk_store(vectors),
    ):
        chunks = SearchedChunks(store, SearchFilter(), "bm25")
        best = Bm25(store).fused(QUESTION, [], 9, chunks)
        ranked.append([each.id for each in best if not isinstance(each, int)])

    assert ranked[0] == ranked[1]
    assert len(ranked[0]) == 3


def test_both_say_alike_what_cannot_be_searched_by_words():
    class Listed(BaseRetriever):
        def _get_relevant_documents(self, query: str, **_: Any) -> list[Any]:
            return []

    class ListedNodes(LlamaRetriever):
        def _retrieve(self, query_bundle: Any) -> list[Any]:
            return []

    ListedNodes.__name__ = ListedNodes.__qualname__ = "Listed"
    said = []
    for make in (
        lambda: langchain_oprag.OrderPreservingRetriever(
            base_retriever=Listed(), bm25=True
        ),
        lambda: llamaindex_oprag.OrderPreservingRetriever(ListedNodes(), bm25=True),
    ):
        with pytest.raises(InvalidOptionError) as caught:
            make()
        said.append(str(caught.value))

    assert said[0] == said[1]
