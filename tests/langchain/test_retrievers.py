"""`OrderPreservingRetriever`: what comes back, in which order, what is asked for."""

import asyncio
import copy
import pickle
import threading

import pytest
from langchain_chroma import Chroma
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import ConfigurableField, RunnableLambda
from langchain_core.vectorstores import InMemoryVectorStore
from pydantic import Field

from langchain_oprag import OrderPreservingRetriever
from oprag.errors import (
    BudgetTooSmallError,
    InvalidOptionError,
    MissingPositionError,
    UnfilledBudgetWarning,
)
from tests.handed_out import told
from tests.langchain.corpus import (
    EMBEDDING,
    QUERY,
    ListRetriever,
    RecordingStore,
    book,
    chunk,
    numbers,
    words,
)


@pytest.fixture(params=["in memory", "chroma"])
def vectorstore(request, tmp_path):
    if request.param == "in memory":
        store = InMemoryVectorStore(EMBEDDING)
    else:
        store = Chroma("book", EMBEDDING, str(tmp_path))
    store.add_documents(book(40))
    return store


def listed(*order, **options):
    """A retriever over an opaque one that gives these chunks, best first."""
    base = ListRetriever(documents=[chunk(number) for number in order])
    return OrderPreservingRetriever(base_retriever=base, **options)


# Order


def test_the_best_chunks_come_in_the_order_of_the_book(vectorstore):
    best = numbers(vectorstore.similarity_search(QUERY, k=6))

    result = OrderPreservingRetriever(vectorstore=vectorstore, k=6).invoke(QUERY)

    assert best != sorted(best)
    assert numbers(result) == sorted(best)


async def test_they_do_so_when_awaited(vectorstore):
    best = numbers(await vectorstore.asimilarity_search(QUERY, k=6))

    retriever = OrderPreservingRetriever(vectorstore=vectorstore, k=6)

    assert numbers(await retriever.ainvoke(QUERY)) == sorted(best)


def test_position_ten_comes_after_position_nine():
    assert numbers(listed(10, 9, 100, 1).invoke(QUERY)) == [1, 9, 10, 100]


def test_the_documents_are_copies_of_those_that_were_retrieved():
    retriever = listed(2, 0, 1)
    given = retriever.base_retriever.documents
    before = copy.deepcopy(given)

    found = retriever.invoke(QUERY)

    assert told(found) == told([given[1], given[2], given[0]])
    assert [document.metadata["oprag_rank"] for document in found] == [1, 2, 0]
    assert given == before


def test_score_order_is_there_for_comparison():
    assert numbers(listed(2, 0, 1, order="score").invoke(QUERY)) == [2, 0, 1]


def test_nothing_retrieved_is_nothing_returned():
    assert listed(token_budget=5).invoke(QUERY) == []


def test_a_missing_position_is_an_error_and_not_a_guess():
    found = [Document(text, metadata={"source": "a"}) for text in ("one", "two")]
    base = ListRetriever(documents=found)

    with pytest.raises(MissingPositionError):
        OrderPreservingRetriever(base_retriever=base).invoke(QUERY)


# How many: k


def test_an_opaque_retriever_is_cut_to_the_best_k_before_ordering():
    assert numbers(listed(5, 9, 1, 7, 3, k=2).invoke(QUERY)) == [5, 9]


def test_k_at_the_call_goes_over_k_at_construction():
    retriever = listed(5, 9, 1, 7, 3, k=2)

    assert numbers(retriever.invoke(QUERY, k=4)) == [1, 5, 7, 9]
    assert numbers(retriever.invoke(QUERY)) == [5, 9]


async def test_k_at_the_call_works_when_awaited():
    assert numbers(await listed(5, 9, 1, k=1).ainvoke(QUERY, k=2)) == [5, 9]


def test_k_is_not_passed_on_to_a_retriever_that_would_fail_on_it():
    base = RunnableLambda(lambda query: [chunk(2), chunk(1)])

    assert numbers(
        OrderPreservingRetriever(base_retriever=base, k=2).invoke(QUERY)
    ) == [1, 2]


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
        vectorstore=store, search_kwargs=search_kwargs, k=own
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


def test_a_k_that_is_bound_counts_as_explicit():
    store = RecordingStore(book(40))
    base = store.as_retriever().bind(k=12)

    result = OrderPreservingRetriever(base_retriever=base, k=9).invoke(QUERY)

    assert store.asked == [{"k": 12}]
    assert len(result) == 9


def test_a_k_that_is_configured_counts_as_explicit():
    store = RecordingStore(book(40))
    base = store.as_retriever().configurable_fields(
        search_kwargs=ConfigurableField("search_kwargs")
    )
    retriever = OrderPreservingRetriever(base_retriever=base, k=9)

    retriever.invoke(QUERY, {"configurable": {"search_kwargs": {"k": 12}}})

    assert store.asked == [{"k": 12}]


def test_other_arguments_of_a_call_reach_the_store():
    store = RecordingStore(book(40))
    retriever = OrderPreservingRetriever(vectorstore=store, k=30)

    def odd(document: Document) -> bool:
        return numbers([document])[0] % 2 == 1

    result = retriever.invoke(QUERY, filter=odd)

    assert numbers(result) == list(range(1, 40, 2))
    assert store.asked == [{"k": 30, "filter": odd}]


def test_mmr_looks_at_as_many_candidates_as_it_is_to_return():
    store = RecordingStore(book(40))
    retriever = OrderPreservingRetriever(vectorstore=store, search_type="mmr", k=30)

    assert len(retriever.invoke(QUERY)) == 30
    assert len(retriever.invoke(QUERY, k=3)) == 3
    assert store.asked == [{"k": 30, "fetch_k": 30}, {"k": 3, "fetch_k": 20}]


def test_mmr_keeps_a_larger_number_of_candidates():
    store = RecordingStore(book(40))
    retriever = OrderPreservingRetriever(
        vectorstore=store, search_type="mmr", search_kwargs={"fetch_k": 35}, k=30
    )

    retriever.invoke(QUERY)

    assert store.asked == [{"k": 30, "fetch_k": 35}]


def test_a_chunk_that_came_twice_is_one():
    assert numbers(listed(4, 2, 4, 1, 2).invoke(QUERY)) == [1, 2, 4]


# How many: the token budget


def test_a_budget_asks_a_store_until_it_is_full():
    """200 words hold 50 chunks of 4; asked for are 16, 32, 64."""
    store = RecordingStore(book(300))
    retriever = OrderPreservingRetriever(
        vectorstore=store, token_budget=200, token_counter=words
    )

    result = retriever.invoke(QUERY)

    assert [search["k"] for search in store.asked] == [16, 32, 64]
    best = store.similarity_search(QUERY, k=50)
    assert numbers(result) == sorted(numbers(best))


async def test_it_asks_when_awaited():
    store = RecordingStore(book(300))
    retriever = OrderPreservingRetriever(
        vectorstore=store, token_budget=200, token_counter=words
    )

    result = await retriever.ainvoke(QUERY)

    assert [search["k"] for search in store.asked] == [16, 32, 64]
    assert len(result) == 50


def test_it_stops_when_the_store_has_no_more_and_says_nothing():
    store = RecordingStore(book(20))
    retriever = OrderPreservingRetriever(
        vectorstore=store, token_budget=200, token_counter=words
    )

    assert numbers(retriever.invoke(QUERY)) == list(range(20))
    assert [search["k"] for search in store.asked] == [16, 32]


def test_it_asks_a_store_retriever_that_was_given_no_k():
    store = RecordingStore(book(300))
    base = store.as_retriever().with_config(tags=["x"])
    retriever = OrderPreservingRetriever(
        base_retriever=base, token_budget=200, token_counter=words
    )

    assert len(retriever.invoke(QUERY)) == 50


def test_it_raises_the_candidates_of_mmr_along():
    store = RecordingStore(book(100))
    retriever = OrderPreservingRetriever(
        vectorstore=store, search_type="mmr", token_budget=160, token_counter=words
    )

    assert len(retriever.invoke(QUERY)) == 40
    assert [(s["k"], s["fetch_k"]) for s in store.asked] == [
        (16, 20),
        (32, 32),
        (64, 64),
    ]


def test_a_score_threshold_holds_while_a_budget_asks_for_more():
    store = RecordingStore(book(100))
    scored = store.similarity_search_with_score(QUERY, k=100)
    above = sorted(numbers([document for document, cosine in scored if cosine >= 0.2]))
    retriever = OrderPreservingRetriever(
        vectorstore=store,
        search_type="similarity_score_threshold",
        search_kwargs={"score_threshold": 0.6},  # (1 + cosine) / 2
        token_budget=10_000,
        token_counter=words,
    )

    assert 16 < len(above) < 40
    assert numbers(retriever.invoke(QUERY)) == above


@pytest.mark.parametrize(("options", "call"), [({"k": 3}, {}), ({}, {"k": 3})])
def test_an_explicit_k_caps_what_a_budget_fetches_without_a_warning(options, call):
    store = RecordingStore(book(40))
    retriever = OrderPreservingRetriever(
        vectorstore=store, token_budget=200, token_counter=words, **options
    )

    assert len(retriever.invoke(QUERY, **call)) == 3
    assert store.asked == [{"k": 3}]


def test_the_k_of_a_search_caps_what_a_budget_fetches():
    store = RecordingStore(book(40))
    retriever = OrderPreservingRetriever(
        vectorstore=store, token_budget=200, token_counter=words, search_kwargs={"k": 3}
    )

    with pytest.warns(UnfilledBudgetWarning, match="all 3 retrieved"):
        assert len(retriever.invoke(QUERY)) == 3

    assert store.asked == [{"k": 3}]


def test_an_explicit_k_beyond_the_stores_size_is_no_reason_to_warn():
    store = RecordingStore(book(3))
    retriever = OrderPreservingRetriever(
        vectorstore=store, k=10, token_budget=200, token_counter=words
    )

    assert len(retriever.invoke(QUERY)) == 3


def test_an_opaque_retriever_that_cannot_fill_the_budget_is_reported_once():
    retriever = listed(2, 1, token_budget=200, token_counter=words)

    with pytest.warns(UnfilledBudgetWarning, match="all 2 retrieved"):
        retriever.invoke(QUERY)

    assert numbers(retriever.invoke(QUERY)) == [1, 2]


def test_a_full_budget_is_not_reported():
    retriever = listed(2, 1, 3, token_budget=9, token_counter=words)

    assert numbers(retriever.invoke(QUERY)) == [1, 2]


def test_the_budget_counts_what_stands_between_the_texts():
    """Two chunks take 4 + 4 words, the separator between them 1."""
    options = {"separator": " and ", "token_counter": words}

    assert numbers(listed(2, 1, token_budget=8, **options).invoke(QUERY)) == [2]
    with pytest.warns(UnfilledBudgetWarning):
        assert numbers(listed(2, 1, token_budget=9, **options).invoke(QUERY)) == [1, 2]


def test_a_budget_that_holds_nothing_is_an_error():
    with pytest.raises(BudgetTooSmallError) as caught:
        listed(2, 1, token_budget=3, token_counter=words).invoke(QUERY)

    assert (caught.value.token_budget, caught.value.needed) == (3, 4)


def test_a_token_counter_that_is_assigned_later_counts():
    retriever = listed(2, 1, 3, token_budget=38, token_counter=len)
    assert len(retriever.invoke(QUERY)) == 2

    retriever.token_counter = words
    with pytest.warns(UnfilledBudgetWarning):
        assert len(retriever.invoke(QUERY)) == 3


# Async


class AsyncOnly(BaseRetriever):
    """Refuses to be called synchronously; says in which thread it was awaited."""

    threads: list[int] = Field(default_factory=list)

    def _get_relevant_documents(self, query, *, run_manager):
        raise AssertionError

    async def _aget_relevant_documents(self, query, *, run_manager):
        await asyncio.sleep(0)
        self.threads.append(threading.get_ident())
        return [chunk(2), chunk(1)]


async def test_the_wrapped_retriever_is_awaited_in_the_callers_thread():
    base = AsyncOnly()

    result = await OrderPreservingRetriever(base_retriever=base).ainvoke(QUERY)

    assert numbers(result) == [1, 2]
    assert base.threads == [threading.get_ident()]


async def test_batch_and_stream_work_as_for_every_retriever():
    retriever = listed(2, 1)

    assert [numbers(r) for r in retriever.batch([QUERY, QUERY])] == [[1, 2], [1, 2]]
    assert [numbers(r) for r in await retriever.abatch([QUERY])] == [[1, 2]]
    assert [numbers(r) for r in retriever.stream(QUERY)] == [[1, 2]]


# Construction and options


@pytest.mark.parametrize(
    ("arguments", "found"),
    [
        ({}, "nothing was given"),
        (
            {"base_retriever": ListRetriever(documents=[]), "vectorstore": "store"},
            "base_retriever, vectorstore",
        ),
        (
            {"base_retriever": ListRetriever(documents=[]), "search_type": "mmr"},
            "base_retriever, search_type",
        ),
        ({"vectorstore": "no store"}, "vectorstore"),
    ],
)
def test_exactly_one_thing_is_wrapped(arguments, found):
    with pytest.raises(InvalidOptionError, match=found):
        OrderPreservingRetriever(**arguments)


def test_what_is_wrapped_must_be_a_runnable():
    with pytest.raises(InvalidOptionError, match="base_retriever"):
        OrderPreservingRetriever(base_retriever="retriever")


def test_langchain_checks_the_search_type():
    with pytest.raises(InvalidOptionError, match="search_type"):
        OrderPreservingRetriever(vectorstore=RecordingStore(), search_type="best")


@pytest.mark.parametrize("k", [0, -1, True, 2.0, "3"])
def test_k_is_a_whole_number_from_one_on(k):
    with pytest.raises(InvalidOptionError, match=f"k={k!r} is not possible"):
        listed(k=k)
    with pytest.raises(InvalidOptionError, match=f"k={k!r} is not possible"):
        listed().invoke(QUERY, k=k)
    retriever = listed()
    with pytest.raises(InvalidOptionError, match=f"k={k!r} is not possible"):
        retriever.k = k
    assert retriever.k is None


def test_unknown_options_are_rejected():
    with pytest.raises(InvalidOptionError, match="top_n"):
        listed(top_n=3)


def test_an_option_at_the_call_is_rejected_and_not_swallowed():
    with pytest.raises(InvalidOptionError, match="no argument of a search"):
        listed().invoke(QUERY, token_budget=100)


def test_options_are_assignable():
    retriever = listed(2, 9, 1)
    retriever.k = 2
    retriever.order = "score"

    assert numbers(retriever.invoke(QUERY)) == [2, 9]


def test_options_can_be_configurable_fields():
    retriever = listed(2, 9, 1).configurable_fields(k=ConfigurableField("how_many"))

    result = retriever.invoke(QUERY, {"configurable": {"how_many": 2}})

    assert numbers(result) == [2, 9]


def test_tags_metadata_and_name_are_those_of_every_retriever():
    retriever = listed(tags=["t"], metadata={"m": 1}, name="n")

    assert (retriever.tags, retriever.metadata, retriever.name) == (
        ["t"],
        {"m": 1},
        "n",
    )


# Passing through


def test_it_is_a_retriever():
    assert isinstance(listed(), BaseRetriever)


async def test_an_indexer_adds_documents_through_it():
    retriever = OrderPreservingRetriever(vectorstore=RecordingStore(), k=5)

    retriever.add_documents([chunk(2)])
    await retriever.aadd_documents([chunk(1)])

    assert numbers(retriever.invoke(QUERY)) == [1, 2]


def test_the_wrapped_retrievers_attributes_are_its_own():
    store = RecordingStore(book())
    base = store.as_retriever(search_kwargs={"k": 2})
    retriever = OrderPreservingRetriever(base_retriever=base)

    assert retriever.vectorstore is store
    assert retriever.search_kwargs is base.search_kwargs
    assert retriever.search_type == "similarity"


def test_changing_search_kwargs_through_it_changes_the_search():
    store = RecordingStore(book())
    retriever = OrderPreservingRetriever(vectorstore=store)

    retriever.search_kwargs["k"] = 7

    assert len(retriever.invoke(QUERY)) == 7


def test_its_own_attributes_go_first():
    base = RecordingStore(book()).as_retriever(tags=["inner"])

    assert OrderPreservingRetriever(base_retriever=base, tags=["outer"]).tags == [
        "outer"
    ]


@pytest.mark.parametrize("name", ["nowhere", "_collection", "__len__"])
def test_a_name_that_nobody_has_or_that_is_private_is_no_attribute(name):
    retriever = OrderPreservingRetriever(vectorstore=RecordingStore())
    retriever.vectorstore._collection = "private"

    assert not hasattr(retriever, name)
    with pytest.raises(AttributeError, match=name):
        getattr(retriever, name)


def test_an_attribute_that_is_no_field_cannot_be_assigned():
    with pytest.raises(ValueError, match="search_kwargs"):
        OrderPreservingRetriever(vectorstore=RecordingStore()).search_kwargs = {}


@pytest.mark.parametrize(
    "duplicate",
    [
        lambda retriever: pickle.loads(pickle.dumps(retriever)),  # noqa: S301 -- ours
        copy.copy,
        copy.deepcopy,
        lambda retriever: retriever.model_copy(),
    ],
    ids=["pickle", "copy", "deepcopy", "model_copy"],
)
def test_it_can_be_copied_and_pickled(duplicate):
    retriever = duplicate(listed(2, 9, 1, k=2, token_budget=100, token_counter=words))

    assert numbers(retriever.invoke(QUERY)) == [2, 9]


def test_its_repr_does_not_print_the_full_texts():
    retriever = listed(documents={"book.txt": "a very long text"})

    assert "a very long text" not in repr(retriever)
