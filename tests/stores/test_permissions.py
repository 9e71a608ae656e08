"""The filter of a search, carried over to whole documents in every real store."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage
from llama_index.core import StorageContext, VectorStoreIndex

import langchain_oprag
import llamaindex_oprag
from oprag.documents import SearchFilter
from oprag.errors import DocumentNotFoundError
from tests.kit.tenants import OPEN, SHARED, Tenants, messages_of
from tests.kit.words import words
from tests.langchain.recording import RecordingChatModel
from tests.llamaindex.recording import RecordingLLM
from tests.stores.langchain_places import PLACES, add, filters_of
from tests.stores.llamaindex_fakes import ChecksumEmbedding
from tests.stores.llamaindex_places import LLAMAINDEX_STORES, metadata_filters

TENANTS = Tenants("abaab")
HIDDEN = sorted(TENANTS.words_of("b"))
"""Words of the other tenant."""
REPLIES = ("unanswerable", "An answer.")
JOINED: dict[str, Any] = {
    "selection": "recall",
    "token_budget": 1_000,
    "token_counter": words,
}
ROUTED: dict[str, Any] = {"max_context_tokens": 100_000, "token_counter": words}


def of_chroma() -> dict[str, Any]:
    return {"where": {"tenant": "a"}}


def of_their_qdrant() -> dict[str, Any]:
    from qdrant_client import models

    match = models.MatchValue(value="a")
    condition = models.FieldCondition(key="tenant", match=match)
    return {"qdrant_filters": models.Filter(must=[condition])}


@pytest.fixture(
    scope="module",
    params=[place for place in PLACES if not place.slow],
    ids=lambda place: place.id,
)
def langchain_place(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Any, tuple[Any, ...]]]:
    """A store of LangChain and its filters."""
    folder: Path = tmp_path_factory.mktemp("store")
    with request.param.make(folder, request.getfixturevalue) as store:
        add(store, TENANTS.documents())
        yield store, filters_of(request.param.id)


@pytest.fixture(
    scope="module",
    params=[
        place
        for place in LLAMAINDEX_STORES
        if not place.slow and "faiss" not in place.id  # it has no filters
    ],
    ids=lambda place: place.id,
)
def llamaindex_place(request: pytest.FixtureRequest) -> tuple[Any, tuple[Any, ...]]:
    """An index of LlamaIndex and what its retrievers are given."""
    store = request.param.make(request)
    index = VectorStoreIndex(
        TENANTS.nodes(),
        storage_context=StorageContext.from_defaults(vector_store=store),
        embed_model=ChecksumEmbedding(),
    )
    given: list[dict[str, Any]] = [{"filters": each} for each in metadata_filters()]
    own = {"chroma": of_chroma, "qdrant": of_their_qdrant}
    given += [
        {"vector_store_kwargs": make()}
        for name, make in own.items()
        if name in request.param.id
    ]
    return index, tuple(given)


async def assert_only_the_open_one_is_whole(source: Any) -> None:
    assert source.get(OPEN) == await source.aget(OPEN) == TENANTS.texts[OPEN]
    with pytest.raises(DocumentNotFoundError) as caught:
        source.get(SHARED)
    with pytest.raises(DocumentNotFoundError) as awaited:
        await source.aget(SHARED)
    for error in (caught.value, awaited.value):
        assert error.document == SHARED
        assert_nothing_hidden(" ".join(messages_of(error)))


def assert_nothing_hidden(shown: object) -> None:
    everything = repr(shown)
    assert [word for word in HIDDEN if word in everything] == []


async def test_langchain_gives_whole_documents_through_the_filter(langchain_place):
    store, filters = langchain_place
    for where in filters:
        source = langchain_oprag.document_source(store)
        await assert_only_the_open_one_is_whole(source.within(SearchFilter(where)))
    assert source.get(SHARED) == TENANTS.texts[SHARED]


async def test_langchain_shows_nothing_that_is_hidden(langchain_place):
    store, filters = langchain_place
    for where in filters:
        search = {"k": 20, "filter": where}
        asked = store.as_retriever(search_kwargs=search)
        ordering = langchain_oprag.OrderPreservingRetriever(
            base_retriever=store.as_retriever(search_kwargs=search),
            documents=store,
            **JOINED,
        )
        shown: list[Any] = [ordering.invoke("?")]
        for waiting in (False, True):
            model = RecordingChatModel(replies=[AIMessage(text) for text in REPLIES])
            chain = langchain_oprag.SelfRouteChain(
                llm=model, retriever=asked, documents=store, **ROUTED
            )
            answer = await chain.ainvoke("?") if waiting else chain.invoke("?")
            assert answer["route"] == {"rung": "full", "answered": True}
            assert [d.page_content for d in answer["context"]] == [TENANTS.texts[OPEN]]
            shown += [answer, model.calls]
        assert_nothing_hidden(shown)
        assert len(shown[0]) == 3  # the shared one on both sides of what is hidden


async def test_llamaindex_gives_whole_documents_through_the_filter(llamaindex_place):
    index, _ = llamaindex_place
    source = llamaindex_oprag.document_source(index)
    for where in metadata_filters():
        await assert_only_the_open_one_is_whole(source.within(SearchFilter(where)))
    assert source.get(SHARED) == TENANTS.texts[SHARED]


async def test_llamaindex_shows_nothing_that_is_hidden(llamaindex_place):
    index, given = llamaindex_place
    for filtered in given:
        asked = index.as_retriever(similarity_top_k=20, **filtered)
        ordering = llamaindex_oprag.OrderPreservingRetriever(
            asked, documents=index, **JOINED
        )
        model = RecordingLLM(replies=list(REPLIES))
        engine = llamaindex_oprag.SelfRouteQueryEngine.from_args(
            asked, model, documents=index, **ROUTED
        )

        found, answer = ordering.retrieve("?"), engine.query("?")

        assert answer.metadata["route"] == {"rung": "full", "answered": True}
        assert [n.node.text for n in answer.source_nodes] == [TENANTS.texts[OPEN]]
        assert len(found) == 3  # the shared one on both sides of what is hidden
        nodes = [each.to_dict() for each in (*found, *answer.source_nodes)]
        assert_nothing_hidden([nodes, answer.metadata, str(answer), model.prompts])


async def test_an_async_client_reads_through_the_filter_too():
    library = pytest.importorskip("qdrant_client")
    wrapper = pytest.importorskip("llama_index.vector_stores.qdrant")
    client = library.AsyncQdrantClient(":memory:")
    store = wrapper.QdrantVectorStore(
        collection_name="chunks", aclient=client, index_doc_id=False
    )
    nodes = TENANTS.nodes()
    for node in nodes:
        node.embedding = ChecksumEmbedding().get_text_embedding(node.text)
    await store.async_add(nodes)
    source = llamaindex_oprag.document_source(store)

    assert await source.aget(SHARED) == TENANTS.texts[SHARED]
    for where in (*metadata_filters(), of_their_qdrant()["qdrant_filters"]):
        bound = source.within(SearchFilter(where))
        assert await bound.aget(OPEN) == TENANTS.texts[OPEN]
        with pytest.raises(DocumentNotFoundError):
            await bound.aget(SHARED)
    await client.close()
