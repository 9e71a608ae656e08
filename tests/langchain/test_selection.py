"""`selection=` through the components, on a real store."""

from __future__ import annotations

import pytest

from langchain_oprag import LongUnitRetriever, OrderPreservingRetriever
from oprag.units.grouping_documents import group_documents
from tests.langchain import routes
from tests.langchain.corpus import (
    QUERY,
    ListRetriever,
    RecordingStore,
    book,
    chunk,
    words,
)
from tests.support.openai_server import scripted_server

__all__ = ["scripted_server"]

# Four words a chunk; 5, 9, 6 come, best first.
FOUND = [chunk(5), chunk(9), chunk(6)]
TEXT = "".join(document.page_content for document in book(40))


def retriever(**options):
    return OrderPreservingRetriever(
        base_retriever=ListRetriever(documents=FOUND), token_counter=words, **options
    )


@pytest.mark.parametrize(
    ("options", "asked"),
    [
        ({}, 16),
        ({"selection": "recall"}, 1200),
        ({"selection": "recall", "k": 20}, 20),
        ({"selection": "recall", "search_kwargs": {"k": 30}}, 30),
    ],
)
async def test_a_store_is_asked_for_enough_to_choose_from(options, asked):
    store = RecordingStore(book(40))
    wrapped = OrderPreservingRetriever(
        vectorstore=store, token_budget=8, token_counter=words, **options
    )
    wrapped.invoke(QUERY)
    await wrapped.ainvoke(QUERY)
    assert [call["k"] for call in store.asked] == [asked] * 2


class RepeatingStore(RecordingStore):
    """Gives as many documents as it is asked for, and some more: the same ones."""

    more = 0

    def _repeated(self, k):
        distinct = book(3)
        return [distinct[number % 3] for number in range(k + self.more)]

    def similarity_search(self, query, k=4, **kwargs):
        self.asked.append({"k": k, **kwargs})
        return self._repeated(k)

    async def asimilarity_search(self, query, k=4, **kwargs):
        return self.similarity_search(query, k, **kwargs)


@pytest.mark.slow
@pytest.mark.parametrize("more", [-1, 0, 5])
@pytest.mark.parametrize("way", ["invoke", "ainvoke"])
async def test_a_store_that_repeats_itself_is_asked_twice_at_most(
    more, way, scripted_server
):
    store = RepeatingStore()
    store.more = more
    wrapped = OrderPreservingRetriever(
        vectorstore=store, token_budget=128_000, token_counter=words
    )
    units = group_documents({"book.txt": TEXT, "b": "x"}, token_counter=words)
    long_units = LongUnitRetriever(
        vectorstore=store, units=units, documents={"book.txt": TEXT, "b": "x"}, k=2
    )
    chain = routes.chain_of(
        scripted_server(["Yes."]),
        retriever=store.as_retriever(),
        documents={"book.txt": TEXT},
        rungs=[64_000, "full"],
    )

    for runnable, least in ((wrapped, 2_000), (long_units, 16), (chain, 1_000)):
        store.asked.clear()
        if way == "invoke":
            runnable.invoke(QUERY)
        else:
            await runnable.ainvoke(QUERY)
        asked = [call["k"] for call in store.asked]
        assert asked == ([least] if more < 0 else [least, 2 * least])
