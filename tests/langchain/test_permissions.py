"""The filters of LangChain's searches: seen, carried over, or refused."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_core.documents import Document
from langchain_core.messages import AIMessage
from langchain_core.runnables import (
    ConfigurableField,
    RunnableBranch,
    RunnableLambda,
    RunnablePassthrough,
)
from langchain_core.vectorstores import InMemoryVectorStore, VectorStoreRetriever

from langchain_oprag import (
    LongUnitRetriever,
    OrderPreservingCompressor,
    OrderPreservingRetriever,
    SelfRouteChain,
    document_source,
)
from oprag.errors import UnfitIndexError
from oprag.units import group_documents
from tests.kit.tenants import OPEN, SHARED, Tenants
from tests.kit.words import words
from tests.langchain.compat import ContextualCompressionRetriever, EnsembleRetriever
from tests.langchain.corpus import EMBEDDING
from tests.langchain.recording import RecordingChatModel

TENANTS = Tenants("ababa")
HIDDEN = TENANTS.words_of("b")
JOINED: dict[str, Any] = {
    "selection": "recall",
    "token_budget": 1_000,
    "token_counter": words,
}


def of_a(document: Document) -> bool:
    return document.metadata["tenant"] == "a"


def of_b(document: Document) -> bool:
    return document.metadata["tenant"] == "b"


FILTERED = {"k": 20, "filter": of_a}


@pytest.fixture(scope="module")
def store() -> InMemoryVectorStore:
    made = InMemoryVectorStore(EMBEDDING)
    made.add_documents(TENANTS.documents())
    return made


def shown_by(asked: Any, store: Any, config: Any = None) -> str:
    """The prompts and the answer of Self-Route, with full documents from the store."""
    model = RecordingChatModel(replies=[AIMessage("unanswerable"), AIMessage("Yes.")])
    chain = SelfRouteChain(
        llm=model, retriever=asked, documents=store, token_counter=words
    )
    result = chain.invoke("?", config)
    assert result["usage"]["rungs"][1]["note"].endswith(f"hides chunks: {SHARED!r}")
    return f"{result} {model.calls}"


class Loud(VectorStoreRetriever):
    """A subclass that searches as its base does."""

    def loudness(self) -> int:
        return 11


class Quiet(VectorStoreRetriever):
    """A subclass that filters, and nobody can see by what."""

    def _get_relevant_documents(self, query, *, run_manager, **kwargs):
        return super()._get_relevant_documents(
            query, run_manager=run_manager, filter=of_a, **kwargs
        )


def ways(store: InMemoryVectorStore) -> dict[str, Any]:
    """Retrievers whose filter can be seen."""
    plain = store.as_retriever(search_kwargs=FILTERED)
    unfiltered = store.as_retriever(search_kwargs={"k": 20})
    configurable = unfiltered.configurable_fields(
        search_kwargs=ConfigurableField(id="search")
    )
    return {
        "as it is": plain,
        "a subclass": Loud(vectorstore=store, search_kwargs=FILTERED),
        "with a config": plain.with_config(tags=["x"]).with_retry(),
        "bound arguments": unfiltered.bind(filter=of_a),
        "a configured field": configurable.with_config(
            configurable={"search": FILTERED}
        ),
        "behind a rewritten question": RunnablePassthrough() | plain,
        "in either branch": RunnableBranch(
            (lambda question: len(question) > 5, plain), RunnablePassthrough() | plain
        ),
        "put in order": OrderPreservingRetriever(base_retriever=plain),
        "compressed": ContextualCompressionRetriever(
            base_compressor=OrderPreservingCompressor(), base_retriever=plain
        ),
        "beside another": EnsembleRetriever(
            retrievers=[plain, store.as_retriever(search_kwargs=FILTERED)],
            weights=[0.5, 0.5],
        ),
    }


@pytest.mark.parametrize("way", ways(InMemoryVectorStore(EMBEDDING)))
def test_a_filter_that_can_be_seen_binds_full_documents(way, store):
    shown = shown_by(ways(store)[way], store)
    assert not [word for word in HIDDEN if word in shown]
    assert TENANTS.texts[OPEN] in shown


def test_a_filter_of_the_call_s_own_config_binds_them_too(store):
    asked = store.as_retriever(search_kwargs={"k": 20}).configurable_fields(
        search_kwargs=ConfigurableField(id="search")
    )
    shown = shown_by(asked, store, {"configurable": {"search": FILTERED}})
    assert not [word for word in HIDDEN if word in shown]


def test_verify_reads_full_documents_through_the_filter(store):
    chain = SelfRouteChain(
        llm=RecordingChatModel(),
        retriever=store.as_retriever(search_kwargs=FILTERED),
        documents=store,
    )
    with pytest.raises(UnfitIndexError, match=SHARED):
        chain.verify()


async def test_a_filter_of_one_call_binds_the_gaps_of_that_call(store):
    retriever = OrderPreservingRetriever(
        base_retriever=store.as_retriever(search_kwargs={"k": 20}),
        documents=store,
        **JOINED,
    )
    for found in (
        retriever.invoke("?", filter=of_a),
        await retriever.ainvoke("?", filter=of_a),
    ):
        assert not [word for word in HIDDEN if word in repr(found)]
    first, last = TENANTS.documents()[0], TENANTS.documents()[4]
    whole = InMemoryVectorStore(EMBEDDING)
    whole.add_documents([first, last])
    filled = OrderPreservingRetriever(vectorstore=whole, documents=store, **JOINED)
    assert [d.page_content for d in filled.invoke("?")] == [TENANTS.texts[SHARED]]
    apart = filled.invoke("?", filter=of_a)
    assert not [word for word in HIDDEN if word in repr(apart)]


def opaque(store: InMemoryVectorStore) -> dict[str, Any]:
    """Retrievers whose filter cannot be seen, or is not one for chunks."""
    plain = store.as_retriever(search_kwargs=FILTERED)
    other = store.as_retriever(search_kwargs={"filter": of_b})
    return {
        "RunnableLambda": RunnableLambda(plain.invoke),
        "Quiet": Quiet(vectorstore=store),
        "RunnablePassthrough": plain | RunnablePassthrough(),
        "different filters": EnsembleRetriever(
            retrievers=[plain, other], weights=[0.5, 0.5]
        ),
        "where_document=": store.as_retriever(
            search_kwargs={"where_document": {"$contains": "x"}}
        ),
        "namespace=": store.as_retriever(search_kwargs={"namespace": "a"}),
        "'tenant': 'a'": store.as_retriever(search_kwargs={"filter": {"tenant": "a"}}),
    }


@pytest.mark.parametrize("what", opaque(InMemoryVectorStore(EMBEDDING)))
def test_any_other_refuses_texts_from_the_store_at_construction(what, store):
    retriever = opaque(store)[what]
    units = group_documents(TENANTS.texts, token_counter=words)
    model = RecordingChatModel()
    for make in (
        lambda given: SelfRouteChain(llm=model, retriever=retriever, documents=given),
        lambda given: OrderPreservingRetriever(
            base_retriever=retriever, documents=given
        ),
        lambda given: LongUnitRetriever(
            base_retriever=retriever, documents=given, units=units
        ),
    ):
        with pytest.raises(ValueError, match=what) as caught:
            make(store)
        assert "leave documents= out" in str(caught.value)
        make(document_source(store).get)
        make(TENANTS.texts)
