"""`OrderPreservingVectorStore`: in the place of a vector store, in document order."""

import inspect
from itertools import pairwise

import pytest
from langchain_chroma import Chroma
from langchain_core.documents import Document
from langchain_core.vectorstores import InMemoryVectorStore, VectorStore

from langchain_oprag import OffsetTokenSplitter, OrderPreservingVectorStore
from oprag.errors import InvalidOptionError
from tests.kit.words import words
from tests.langchain.corpus import (
    EMBEDDING,
    QUERY,
    RecordingStore,
    book,
    chunk,
    numbers,
)

VECTOR = EMBEDDING.embed_query(QUERY)
FILTERED = {"source": "other.txt"}
CHUNKS = [*book(40), *(chunk(number, "other.txt") for number in range(20))]


class WithUnitScores(InMemoryVectorStore):
    """Scores between 0 and 1, as a threshold takes them."""

    def _select_relevance_score_fn(self):
        return lambda cosine: (1 + cosine) / 2


def in_memory(folder):
    return WithUnitScores(EMBEDDING)


def chroma(folder):
    return Chroma("book", EMBEDDING, str(folder), relevance_score_fn=_of_distance)


def _of_distance(distance):
    return 1 / (1 + distance)


@pytest.fixture(params=[in_memory, chroma])
def inner(request, tmp_path):
    store = request.param(tmp_path)
    store.add_documents(book(40))
    return store


SEARCHES = {
    "text": ("similarity_search", QUERY, {}),
    "vector": ("similarity_search_by_vector", VECTOR, {}),
    "score": ("similarity_search_with_score", QUERY, {}),
    "relevance": ("similarity_search_with_relevance_scores", QUERY, {}),
    "mmr": ("max_marginal_relevance_search", QUERY, {"fetch_k": 30}),
    "mmr by vector": ("max_marginal_relevance_search_by_vector", VECTOR, {}),
    "search": ("search", QUERY, {"search_type": "similarity"}),
    "search mmr": ("search", QUERY, {"search_type": "mmr"}),
    "search threshold": (
        "search",
        QUERY,
        {"search_type": "similarity_score_threshold", "score_threshold": 0.0},
    ),
}


def documents_of(found):
    return [each[0] if isinstance(each, tuple) else each for each in found]


def inverted(found):
    """Pairs of neighbours that stand the wrong way round."""
    return sum(
        first > second for first, second in pairwise(numbers(documents_of(found)))
    )


async def searched(store, how, awaited, **more):
    method, asked, given = SEARCHES[how]
    if not awaited:
        return getattr(store, method)(asked, **given, **more)
    return await getattr(store, f"a{method}")(asked, **given, **more)


# Every search


@pytest.mark.parametrize("awaited", [False, True], ids=["sync", "async"])
@pytest.mark.parametrize("how", SEARCHES)
async def test_every_search_finds_the_same_in_document_order(inner, how, awaited):
    if isinstance(inner, Chroma) and awaited and "mmr by vector" in how:
        pytest.skip("Chroma has no awaited search of this kind")
    best_first = await searched(inner, how, awaited, k=6)
    ordered = await searched(OrderPreservingVectorStore(inner), how, awaited, k=6)

    assert inverted(best_first) > 0
    assert inverted(ordered) == 0
    assert {*numbers(documents_of(ordered))} == {*numbers(documents_of(best_first))}
    if "search" not in how and isinstance(best_first[0], tuple):
        scores = {document.id: score for document, score in best_first}
        assert {document.id: score for document, score in ordered} == scores


def test_neighbours_have_no_score_of_their_own():
    text = Document("One day. Two days. Three.", metadata={"source": "a"})
    chunks = OffsetTokenSplitter(chunk_size=3, tokenizer=words).split_documents([text])
    store = InMemoryVectorStore(EMBEDDING)
    store.add_documents(chunks)

    apart, merged = (
        OrderPreservingVectorStore(store, widen=1, merge=merge)
        for merge in (False, True)
    )

    assert len(merged.similarity_search_with_score(QUERY, k=1)) == 1
    with pytest.raises(InvalidOptionError, match="merge=True"):
        apart.similarity_search_with_score(QUERY, k=1)


def test_a_base_class_that_learns_to_search_in_another_way_is_noticed():
    methods = {
        name
        for name, value in vars(VectorStore).items()
        if inspect.isfunction(value) and not name.startswith("_")
    }
    # These four call the others.
    ours = {*vars(OrderPreservingVectorStore)} | {"search", "asearch", "as_retriever"}

    assert methods <= ours


@pytest.mark.parametrize("how", ["text", "vector", "score", "mmr", "mmr by vector"])
async def test_without_a_k_a_token_budget_is_filled(inner, how):
    store = OrderPreservingVectorStore(inner, token_budget=100, token_counter=words)

    for awaited in [False, True]:
        if awaited and isinstance(inner, Chroma) and how == "mmr by vector":
            continue
        found = await searched(store, how, awaited)
        assert len(found) == 25
        assert inverted(found) == 0


def test_filters_reach_the_store(tmp_path):
    inner = chroma(tmp_path)
    inner.add_documents(CHUNKS)
    store = OrderPreservingVectorStore(inner, token_budget=200, token_counter=words)

    for how in ("text", "vector", "score", "mmr", "mmr by vector"):
        method, asked, _ = SEARCHES[how]
        found = documents_of(getattr(store, method)(asked, filter=FILTERED))
        assert {each.metadata["source"] for each in found} == {"other.txt"}
        assert len(found) == 20
    store = OrderPreservingVectorStore(inner)
    by_retriever = store.as_retriever(search_kwargs={"filter": FILTERED, "k": 5})
    assert {d.metadata["source"] for d in by_retriever.invoke(QUERY)} == {"other.txt"}


# Searches that only some stores have


class WithOtherSearches(RecordingStore):
    def hybrid_search(self, words, *, alpha=0.5, **kwargs):
        self.asked.append({"alpha": alpha, **kwargs})
        return self.similarity_search(words, 6)

    async def ahybrid_search(self, words, k=4, **kwargs):
        return self.similarity_search_with_score(words, k)

    def search_pages(self, words):
        return {"pages": []}


async def test_any_search_of_a_store_is_in_order_or_refused():
    inner = WithOtherSearches(book(40))
    store = OrderPreservingVectorStore(inner, token_budget=20, token_counter=words)

    assert inverted(inner.hybrid_search("x")) > 0
    assert inverted(store.hybrid_search("x", alpha=1, only=2)) == 0
    assert {"alpha": 1, "only": 2} in inner.asked
    found = await store.ahybrid_search("x", k=9)
    assert inverted(found) == 0
    assert len(found) == 5
    with pytest.raises(InvalidOptionError, match=r"search_pages .* a dict"):
        store.search_pages("x")


# Writes, and what else a store has


def test_other_attributes_are_those_of_the_store(tmp_path):
    store = OrderPreservingVectorStore(chroma(tmp_path))

    assert store.get()["ids"] == []
    with pytest.raises(AttributeError, match="'nowhere'"):
        _ = store.nowhere
    assert not hasattr(store, "_collection")
