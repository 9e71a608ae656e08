"""The same chunks bring the same neighbours, however they are retrieved."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_core.documents import Document
from langchain_core.vectorstores import InMemoryVectorStore
from llama_index.core import VectorStoreIndex

import langchain_oprag
import llamaindex_oprag
from oprag.chunk import Hit
from oprag.context import ContextOptions, Widening, arrange
from oprag.documents import SearchedChunks, SearchFilter
from tests.kit.tenants import Tenants, words
from tests.stores.langchain_places import HashEmbeddings
from tests.stores.llamaindex_fakes import ChecksumEmbedding

TENANTS = Tenants("a" * 30, open=9)
OPTIONS: tuple[dict[str, Any], ...] = (
    {"widen": 1},
    {"widen": 2, "merge": True},
    {"widen": "fill", "token_budget": 70, "token_counter": words},
    {"widen": 2, "token_budget": 30, "token_counter": words, "order": "score"},
    {
        "widen": "fill",
        "token_budget": 70,
        "token_counter": words,
        "selection": "recall",
    },
)


class Ranked(InMemoryVectorStore):
    """Finds what it is told to."""

    best_first: list[Document]

    def similarity_search(self, *_: Any, **__: Any) -> list[Document]:
        return self.best_first


@pytest.fixture(scope="module")
def index() -> VectorStoreIndex:
    return VectorStoreIndex(TENANTS.nodes(), embed_model=ChecksumEmbedding())


@pytest.mark.parametrize("given", OPTIONS, ids=range(len(OPTIONS)))
def test_the_same_hits_are_widened_alike(index: VectorStoreIndex, given: Any):
    base = index.as_retriever(similarity_top_k=3)
    found = llamaindex_oprag.OrderPreservingRetriever(base, **given).retrieve("?")
    of_nodes = [
        (n.node.text, n.metadata["oprag_rank"], n.metadata["oprag_citation"])
        for n in found
    ]

    hits = base.retrieve("?")
    widen, rest = given["widen"], {k: v for k, v in given.items() if k != "widen"}
    options = ContextOptions(**rest)
    plain = [Hit(n.node.text, n.node.metadata, n) for n in hits]
    widening = Widening(plain, widen, options, fills=False)
    store = llamaindex_oprag.chunk_store(index)
    chunks = SearchedChunks(store, SearchFilter())
    near = widening.neighbours(chunks.read(widening.requests()))
    beside = [Hit(n.chunk.text, n.chunk.metadata, n.chunk) for n in near]
    told = widening.behind(len(near), stored=True)
    passages = arrange([*plain, *beside], options, neighbours=told).passages

    assert of_nodes == [(p.text, p.rank, p.citation) for p in passages]

    documents = {d.page_content: d for d in TENANTS.documents()}
    vectors = Ranked(HashEmbeddings())
    vectors.add_documents([*documents.values()])
    vectors.best_first = [documents[each.node.text] for each in hits]
    retriever = langchain_oprag.OrderPreservingRetriever(
        base_retriever=vectors.as_retriever(search_kwargs={"k": 3}), **given
    )

    assert of_nodes == [
        (d.page_content, d.metadata["oprag_rank"], d.metadata["oprag_citation"])
        for d in retriever.invoke("?")
    ]
