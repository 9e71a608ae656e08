"""Neighbours and hits by words are the same, however chunks are retrieved."""

from typing import Any

import pytest
from langchain_core.documents import Document
from langchain_core.vectorstores import InMemoryVectorStore, VectorStore
from llama_index.core import VectorStoreIndex
from llama_index.core.vector_stores.types import (
    BasePydanticVectorStore,
    VectorStoreQueryResult,
)

import langchain_oprag
import llamaindex_oprag
from oprag import place_of
from oprag.errors import InvalidOptionError, PositionWarning
from tests.kit.tenants import SIZE, Tenants
from tests.kit.words import words
from tests.real_stores.langchain_places import HashEmbeddings
from tests.real_stores.llamaindex_fakes import ChecksumEmbedding

TENANTS = Tenants("a" * 30, open=9)
QUESTION = "s0008x, s0045x o0011x and s0047x"
WIDENED: tuple[dict[str, Any], ...] = (
    {"widen": 1},
    {"widen": 2, "merge": True},
    {"widen": "fill", "token_budget": 70, "token_counter": words},
    {"widen": 2, "token_budget": 30, "token_counter": words, "order": "rank"},
    {
        "widen": "fill",
        "token_budget": 70,
        "token_counter": words,
        "selection": "recall",
    },
)


class Ranked(InMemoryVectorStore):
    """Finds the hits that it is made with."""

    best_first: list[Document]

    def similarity_search(self, *_: Any, **__: Any) -> list[Document]:
        return self.best_first


class UnreadVectors(VectorStore):
    """A store of LangChain whose chunks nobody knows how to read."""

    def similarity_search(self, *_: Any, **__: Any) -> list[Document]:
        return TENANTS.documents()[:2]

    @classmethod
    def from_texts(cls, *_: Any, **__: Any) -> Any:
        return cls()


class UnreadNodes(BasePydanticVectorStore):
    """The same of LlamaIndex."""

    stores_text: bool = True

    @property
    def client(self) -> Any:
        return None

    def add(self, nodes: Any, **_: Any) -> list[str]:
        return [node.node_id for node in nodes]

    def delete(self, *_: Any, **__: Any) -> None:
        raise NotImplementedError

    def query(self, *_: Any, **__: Any) -> VectorStoreQueryResult:
        found = TENANTS.nodes()[:2]
        for node in found:
            node.relationships.clear()
        return VectorStoreQueryResult(found, [1.0, 0.5], ["a", "b"])


class LoadedNodes(UnreadNodes):
    """A store that loads nodes by their ids, as links name them: they have none."""

    def get_nodes(self, *_: Any, **__: Any) -> list[Any]:
        return []


WITH_WORDS: tuple[dict[str, Any], ...] = (
    {},
    {"merge": True},
    {"order": "rank"},
    {"widen": 1},
    {"token_budget": 12, "token_counter": words},
    {"token_budget": 16, "token_counter": words, "selection": "recall"},
)


@pytest.fixture(scope="module")
def base() -> Any:
    index = VectorStoreIndex(TENANTS.nodes(), embed_model=ChecksumEmbedding())
    return index.as_retriever(similarity_top_k=3)


def in_both(base: Any, question: str, **given: Any) -> list[tuple[str, int, str]]:
    """Texts, ranks and citations, the same from both frameworks."""
    found = llamaindex_oprag.OrderPreservingRetriever(base, **given).retrieve(question)
    of_nodes = [(n.node.text, place_of(n).rank, place_of(n).citation) for n in found]
    vectors = Ranked(HashEmbeddings())
    vectors.add_documents(TENANTS.documents())
    ids = [each.node.node_id for each in base.retrieve(question)]
    vectors.best_first = vectors.get_by_ids(ids)
    retriever = langchain_oprag.OrderPreservingRetriever(
        base_retriever=vectors.as_retriever(search_kwargs={"k": 3}), **given
    )
    assert of_nodes == [
        (d.page_content, place_of(d).rank, place_of(d).citation)
        for d in retriever.invoke(question)
    ]
    return of_nodes


@pytest.mark.parametrize("given", WIDENED, ids=range(len(WIDENED)))
def test_the_same_hits_are_widened_alike(base: Any, given: Any):
    found = in_both(base, "?", **given)

    assert sum(words(text) for text, *_ in found) > 3 * SIZE


@pytest.mark.parametrize("given", WITH_WORDS, ids=list)
def test_the_same_hits_and_words_give_the_same(base: Any, given: Any):
    assert "s0044x" in str(in_both(base, QUESTION, bm25=True, **given))


@pytest.mark.parametrize("more", [{"widen": 1}, {"bm25": True}], ids=str)
def test_ordered_results_inside_are_widened_and_fused_by_their_ranks(more: Any):
    given = {"token_budget": 24, "token_counter": words, **more}
    vectors, index = (
        InMemoryVectorStore(HashEmbeddings()),
        VectorStoreIndex(TENANTS.nodes(), embed_model=ChecksumEmbedding()),
    )
    vectors.add_documents(TENANTS.documents())
    lc, li = langchain_oprag, llamaindex_oprag
    inside = index.as_retriever(similarity_top_k=9)

    once, twice = (
        lc.OrderPreservingRetriever(vectorstore=each, **given).invoke(QUESTION)
        for each in (vectors, lc.OrderPreservingVectorStore(vectors))
    )
    assert [d.page_content for d in twice] == [d.page_content for d in once]
    once, twice = (
        li.OrderPreservingRetriever(each, **given).retrieve(QUESTION)
        for each in (inside, li.OrderPreservingRetriever(inside))
    )
    assert [n.text for n in twice] == [n.text for n in once]


def index_of(store: Any) -> Any:
    return VectorStoreIndex.from_vector_store(store, embed_model=ChecksumEmbedding())


def test_a_store_that_cannot_be_read_is_refused_at_once():
    makers: list[Any] = [
        lambda: langchain_oprag.OrderPreservingRetriever(UnreadVectors(), widen=1),
        lambda: llamaindex_oprag.OrderPreservingRetriever(
            index_of(UnreadNodes()), widen=1
        ),
    ]
    for make in makers:
        with pytest.raises(InvalidOptionError, match="no store is known here"):
            make()


def test_nodes_without_links_in_a_store_that_follows_links_alone_are_told():
    retriever = llamaindex_oprag.OrderPreservingRetriever(
        index_of(LoadedNodes()), widen=1
    )
    with pytest.warns(PositionWarning, match="no store is known here"):
        assert len(retriever.retrieve("?")) == 2
