"""`bm25=True` and `widen=` in LangChain: further chunks, within the search's filter."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_core.documents import Document
from langchain_core.runnables import RunnableLambda
from langchain_core.vectorstores import InMemoryVectorStore

from langchain_oprag import OffsetSentenceSplitter, OrderPreservingRetriever
from oprag.errors import InvalidOptionError
from tests.langchain.corpus import ListRetriever, words
from tests.stores.langchain_places import HashEmbeddings

RULES = 200
TEXT = " ".join(f"Rule {n} is of subject{n * 7}." for n in range(RULES))
FURTHER = [{"bm25": True}, {"widen": 1}]


def chunks(name: str = "rules.txt", tenant: str = "a") -> list[Document]:
    document = Document(TEXT, metadata={"source": name, "tenant": tenant})
    splitter = OffsetSentenceSplitter(chunk_size=10, tokenizer=words)
    return splitter.split_documents([document])


@pytest.fixture(params=["memory", "chroma"])
def store(request, tmp_path) -> Any:
    if request.param == "memory":
        store: Any = InMemoryVectorStore(HashEmbeddings())
    else:
        from langchain_chroma import Chroma

        store = Chroma("rules", HashEmbeddings(), persist_directory=str(tmp_path))
    store.add_documents(chunks())
    return store


def texts(found: list[Document]) -> str:
    return "\n".join(document.page_content for document in found)


@pytest.mark.parametrize(
    "given",
    [
        {"token_budget": 60, "selection": "recall"},
        {"token_budget": 60, "widen": "fill"},
        {"k": 2, "widen": 1, "merge": True},
    ],
    ids=str,
)
async def test_words_go_with_every_other_option(store, given):
    retriever = OrderPreservingRetriever(
        vectorstore=store, bm25=True, token_counter=words, **given
    )

    found = retriever.invoke("subject693")

    assert "subject693." in texts(found)
    assert words(texts(found)) <= given.get("token_budget", 10_000)
    assert await retriever.ainvoke("subject693") == found
    assert retriever.verify().healthy


@pytest.mark.parametrize("further", FURTHER, ids=str)
async def test_a_filter_of_the_call_binds_what_is_read_further(store, further):
    store.add_documents(chunks("secret.txt", tenant="b"))
    retriever = OrderPreservingRetriever(vectorstore=store, k=5, **further)
    by = {"a": {"tenant": "a"}, "b": {"tenant": "b"}}
    if isinstance(store, InMemoryVectorStore):
        by = {t: lambda each, t=t: each.metadata["tenant"] == t for t in "ab"}

    for tenant in "abab":
        found = retriever.invoke("subject693", filter=by[tenant])
        assert await retriever.ainvoke("subject693", filter=by[tenant]) == found
        assert {each.metadata["tenant"] for each in found} == {tenant}
        assert len(found) > 5 or "subject693." in texts(found)


@pytest.mark.parametrize("further", FURTHER, ids=str)
def test_a_filter_that_cannot_be_carried_over_is_refused(store, further):
    search = {"where_document": {"$contains": "Rule"}}
    option = next(iter(further))

    with pytest.raises(InvalidOptionError) as caught:
        OrderPreservingRetriever(
            base_retriever=store.as_retriever(search_kwargs=search), **further
        )
    assert caught.value.option == option
    retriever = OrderPreservingRetriever(vectorstore=store, **further)
    with pytest.raises(InvalidOptionError, match=option):
        retriever.invoke("Which?", **search)


@pytest.mark.parametrize("further", FURTHER, ids=str)
@pytest.mark.parametrize(
    "base", [ListRetriever(documents=[]), RunnableLambda(lambda _: chunks())]
)
def test_without_a_store_they_are_refused(base, further):
    with pytest.raises(InvalidOptionError) as caught:
        OrderPreservingRetriever(base_retriever=base, **further)
    assert caught.value.option == next(iter(further))


class Counting(InMemoryVectorStore):
    """Notes how many chunks each search asked for."""

    def similarity_search(self, query: str, k: int = 4, **given: Any) -> list[Document]:
        self.asked.append(k)
        return super().similarity_search(query, k, **given)


def test_filling_asks_for_twenty_and_for_more_while_all_fits():
    store = Counting(HashEmbeddings())
    store.add_documents(chunks()[:60])
    for budget, asked in ((100, [20]), (10_000, [20, 40, 80])):
        store.asked: list[int] = []
        retriever = OrderPreservingRetriever(
            vectorstore=store, widen="fill", token_budget=budget, token_counter=words
        )

        found = retriever.invoke("?")

        assert store.asked == asked
        assert words(texts(found)) <= budget
        assert budget == 100 or len(found) == 60


async def test_other_retrievers_are_widened_from_full_texts():
    hit = Document(TEXT[70:140], metadata={"source": "a", "start_index": 70})
    retriever = OrderPreservingRetriever(
        base_retriever=RunnableLambda(lambda _: [hit]),
        widen=1,
        documents={"a": TEXT},
        merge=True,
    )

    (joined,) = retriever.invoke("?")

    assert await retriever.ainvoke("?") == [joined]
    assert TEXT[:140] < joined.page_content
    assert TEXT.startswith(joined.page_content)
    assert joined.metadata["oprag_rank"] == 0
