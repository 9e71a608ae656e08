"""Documents beside those that were found, through LangChain."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_core.documents import Document
from langchain_core.runnables import RunnableLambda
from langchain_core.vectorstores import InMemoryVectorStore

from langchain_oprag import OrderPreservingRetriever
from oprag.errors import InvalidOptionError
from tests.stores.langchain_places import HashEmbeddings
from tests.support.tenants import SIZE, Tenants, words

TENANTS = Tenants("ab" * 20)
COUNTED: dict[str, Any] = {"token_counter": words, "separator": " "}


class Counting(InMemoryVectorStore):
    """Notes how many chunks each search asked for."""

    asked: list[int]

    def similarity_search(self, query: str, k: int = 4, **given: Any) -> list[Document]:
        self.asked.append(k)
        return super().similarity_search(query, k, **given)


@pytest.fixture
def store() -> Counting:
    made = Counting(HashEmbeddings())
    made.asked = []
    made.add_documents(TENANTS.documents())
    return made


async def found(retriever: Any) -> list[Document]:
    """What it finds, awaited too."""
    documents = retriever.invoke("?")
    assert await retriever.ainvoke("?") == documents
    return documents


async def test_a_budget_is_filled_with_hits_and_their_neighbours(store):
    budget = 21 * SIZE
    retriever = OrderPreservingRetriever(
        vectorstore=store, widen=1, token_budget=budget, **COUNTED
    )

    documents = await found(retriever)

    assert store.asked[0] == 16
    assert 16 <= len(documents) <= 21
    indexes = [d.metadata["chunk_index"] for d in documents]
    for document in documents:
        if document.metadata.get("doc_uri").startswith("shared"):
            beside = {document.metadata["chunk_index"] + side for side in (-1, 1)}
            assert beside & {*indexes}


async def test_filling_asks_for_twenty_and_for_more_while_all_fits(store):
    for budget, asked in ((30 * SIZE, [20]), (1_000, [20, 40, 80])):
        store.asked.clear()
        retriever = OrderPreservingRetriever(
            vectorstore=store, widen="fill", token_budget=budget, **COUNTED
        )

        documents = retriever.invoke("?")

        assert store.asked == asked
        total = sum(words(document.page_content) for document in documents)
        assert total == min(budget, SIZE * (40 + TENANTS.open))


async def test_filters_of_a_call_bind_neighbours(store):
    retriever = OrderPreservingRetriever(vectorstore=store, k=3, widen=2)

    def own(document: Document) -> bool:
        return document.metadata["tenant"] == "a"

    documents = retriever.invoke("?", filter=own)

    assert documents == await retriever.ainvoke("?", filter=own)
    assert {document.metadata["tenant"] for document in documents} == {"a"}
    assert len(documents) > 3
    assert {d.metadata["tenant"] for d in retriever.invoke("?")} == {"a", "b"}


def test_a_filter_that_cannot_be_carried_over_is_refused(store):
    with pytest.raises(InvalidOptionError, match="cannot be read through") as caught:
        OrderPreservingRetriever(
            vectorstore=store, search_kwargs={"filter": {"tenant": "a"}}, widen=1
        )
    assert caught.value.option == "widen"
    with pytest.raises(InvalidOptionError, match="may filter it") as caught:
        OrderPreservingRetriever(vectorstore=store, search_kwargs={"where": 1}, widen=1)
    assert caught.value.option == "widen"


async def test_other_retrievers_are_widened_from_full_texts():
    (name, text), *_ = TENANTS.texts.items()
    hit = Document(text[70:140], metadata={"source": name, "start_index": 70})
    base: Any = RunnableLambda(lambda _: [hit])
    with pytest.raises(InvalidOptionError, match="documents="):
        OrderPreservingRetriever(base_retriever=base, widen=1)

    (joined,) = await found(
        OrderPreservingRetriever(
            base_retriever=base, widen=1, documents={name: text}, merge=True
        )
    )

    assert joined.page_content == text[:210]
    assert joined.metadata["oprag_rank"] == 0
