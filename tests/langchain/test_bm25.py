"""`bm25=True` in LangChain: beside every search, within its filter, in the tool."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import RunnableLambda
from langchain_core.vectorstores import InMemoryVectorStore

from langchain_oprag import OffsetSentenceSplitter, OrderPreservingRetriever
from oprag.errors import InvalidOptionError
from tests.stores.langchain_places import HashEmbeddings

RULES = 200
TEXT = " ".join(f"Rule {n} is of subject{n * 7}." for n in range(RULES))


def words(text: str) -> int:
    return len(text.split())


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
        {"token_budget": 60},
        {"token_budget": 60, "selection": "recall"},
        {"token_budget": 60, "widen": "fill"},
        {"k": 2, "widen": 1, "merge": True},
        {"k": 2},
        {"search_kwargs": {"k": 2}},
        {"search_type": "mmr", "k": 3},
    ],
    ids=str,
)
async def test_it_goes_with_every_other_option(store, given):
    retriever = OrderPreservingRetriever(
        vectorstore=store, bm25=True, token_counter=words, **given
    )

    found = retriever.invoke("subject693")

    assert "subject693." in texts(found)
    if "token_budget" in given:
        assert words(texts(found)) <= given["token_budget"]
    assert await retriever.ainvoke("subject693") == found
    assert retriever.verify().healthy


def test_a_filter_of_the_call_binds_what_words_find(store):
    store.add_documents(chunks("secret.txt", tenant="b"))
    retriever = OrderPreservingRetriever(vectorstore=store, k=10, bm25=True)
    by = {"a": {"tenant": "a"}, "b": {"tenant": "b"}}
    if isinstance(store, InMemoryVectorStore):
        by = {t: lambda each, t=t: each.metadata["tenant"] == t for t in "ab"}

    for tenant in "abab":
        found = retriever.invoke("subject693", filter=by[tenant])
        assert "subject693." in texts(found)
        assert {each.metadata["tenant"] for each in found} == {tenant}


def test_a_filter_that_cannot_be_carried_over_is_refused(store):
    search = {"where_document": {"$contains": "Rule"}}

    with pytest.raises(InvalidOptionError) as caught:
        OrderPreservingRetriever(vectorstore=store, search_kwargs=search, bm25=True)
    assert caught.value.option == "bm25"

    retriever = OrderPreservingRetriever(vectorstore=store, bm25=True)
    with pytest.raises(InvalidOptionError, match="bm25= reads further chunks of"):
        retriever.invoke("Which?", **search)


class Listed(BaseRetriever):
    """A retriever whose store is not known."""

    def _get_relevant_documents(self, query: str, **_: Any) -> list[Document]:
        return chunks()


@pytest.mark.parametrize("base", [Listed(), RunnableLambda(lambda _: chunks())])
def test_without_a_store_it_is_refused(base):
    with pytest.raises(InvalidOptionError, match="how the chunks of") as caught:
        OrderPreservingRetriever(base_retriever=base, bm25=True)
    assert caught.value.option == "bm25"
