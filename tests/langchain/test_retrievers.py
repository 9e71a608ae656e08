"""`OrderPreservingRetriever`: what comes back, in which order, what is asked for."""

import pytest
from langchain_core.runnables import ConfigurableField

from langchain_oprag import OrderPreservingCompressor, OrderPreservingRetriever
from oprag.errors import UnfilledBudgetWarning
from tests.kit.words import words
from tests.langchain.corpus import QUERY, RecordingStore, book, numbers

# How many: k


@pytest.mark.parametrize(
    ("in_search_kwargs", "own", "at_call", "asked", "returned"),
    [
        (None, None, None, 4, 4),  # LangChain's default
        (None, 2, None, 2, 2),
        (None, 9, None, 9, 9),
        (None, 2, 9, 9, 9),
        (5, None, None, 5, 5),
        (5, 2, None, 5, 2),  # asked as it is set, then cut
        (5, 9, None, 9, 9),
        (5, 9, 1, 5, 1),
        (5, None, 9, 9, 9),
    ],
)
def test_a_store_is_asked_for_the_larger_k(
    in_search_kwargs, own, at_call, asked, returned
):
    store = RecordingStore(book(40))
    search_kwargs = {} if in_search_kwargs is None else {"k": in_search_kwargs}
    retriever = OrderPreservingRetriever(
        base_retriever=store.as_retriever(search_kwargs=search_kwargs), k=own
    )

    result = retriever.invoke(QUERY, k=at_call)

    assert store.asked == [{"k": asked}]
    assert len(result) == returned
    best = store.similarity_search(QUERY, k=returned)
    assert numbers(result) == sorted(numbers(best))


@pytest.mark.parametrize(
    "wrap",
    [
        lambda retriever: retriever,
        lambda retriever: retriever.with_config(tags=["x"]),
        lambda retriever: retriever.bind(k=3),
        lambda retriever: retriever.with_retry(),
        lambda retriever: retriever.configurable_fields(
            search_kwargs=ConfigurableField("search_kwargs")
        ),
    ],
    ids=["plain", "with_config", "bind", "with_retry", "configurable_fields"],
)
def test_k_reaches_a_store_retriever_inside_of_langchains_wrappers(wrap):
    store = RecordingStore(book(40))
    base = wrap(store.as_retriever())

    result = OrderPreservingRetriever(base_retriever=base, k=9).invoke(QUERY)

    assert store.asked == [{"k": 9}]
    assert len(result) == 9


# How many: the token budget


def test_it_raises_the_candidates_of_mmr_along():
    store = RecordingStore(book(100))
    retriever = OrderPreservingRetriever(
        base_retriever=store.as_retriever(search_type="mmr"),
        token_budget=160,
        token_counter=words,
    )

    assert len(retriever.invoke(QUERY)) == 40
    asked = [(search["k"], search["fetch_k"]) for search in store.asked]
    assert asked == [(16, 20), (32, 32), (64, 64)]


def test_a_score_threshold_holds_while_a_budget_asks_for_more():
    store = RecordingStore(book(100))
    scored = store.similarity_search_with_score(QUERY, k=100)
    above = sorted(numbers([document for document, cosine in scored if cosine >= 0.2]))
    retriever = OrderPreservingRetriever(
        base_retriever=store.as_retriever(
            search_type="similarity_score_threshold",
            search_kwargs={"score_threshold": 0.6},
        ),
        token_budget=10_000,
        token_counter=words,
    )

    assert 16 < len(above) < 40
    assert numbers(retriever.invoke(QUERY)) == above


def test_a_budget_that_everything_fits_into_is_reported_once(caplog):
    caplog.set_level("INFO", "oprag")
    compressor = OrderPreservingCompressor(token_budget=100, token_counter=words)
    with pytest.warns(UnfilledBudgetWarning, match="all 5 retrieved chunks fit"):
        compressor(book(5))
    compressor(book(5))
    assert caplog.text.count("all 5 retrieved chunks fit") == 2
