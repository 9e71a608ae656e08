"""The filter of a search, carried over to whole documents in every real store."""

from typing import Any

import pytest

import llamaindex_oprag
from oprag.errors import DocumentNotFoundError, InvalidOptionError
from oprag.stores import SearchFilter
from tests.kit.frameworks import Held
from tests.kit.tenants import OPEN, SHARED, Tenants
from tests.kit.words import words
from tests.real_stores.everywhere import everywhere, opened
from tests.real_stores.llamaindex_fakes import ChecksumEmbedding
from tests.real_stores.llamaindex_places import metadata_filters

TENANTS = Tenants("abaab")
HIDDEN = sorted(TENANTS.words_of("b"))
"""Words of the other tenant."""
REPLIES = ("unanswerable", "An answer.")
JOINED: dict[str, Any] = {
    "selection": "recall",
    "token_budget": 1_000,
    "token_counter": words,
}


def of_chroma() -> dict[str, Any]:
    return {"where": {"tenant": "a"}}


def of_their_qdrant() -> dict[str, Any]:
    from qdrant_client import models

    match = models.MatchValue(value="a")
    condition = models.FieldCondition(key="tenant", match=match)
    return {"qdrant_filters": models.Filter(must=[condition])}


OWN = {
    "llamaindex-chroma": of_chroma,
    "llamaindex-chroma-server": of_chroma,
    "llamaindex-qdrant": of_their_qdrant,
}
"""Filters in the words of a store, which a retriever of LlamaIndex hands on."""


@pytest.fixture(
    scope="module",
    params=everywhere(lambda each: not each.slow and each.id != "llamaindex-faiss"),
)
def held(request: pytest.FixtureRequest) -> Held:
    made = opened(request.param, request)
    made.add(TENANTS.stored())
    made.searches = [made.search(20, where) for where in made.filters]
    if own := OWN.get(request.param.id):
        made.searches.append(made.search(20, vector_store_kwargs=own()))
    return made


def assert_nothing_hidden(shown: object) -> None:
    everything = repr(shown)
    assert [word for word in HIDDEN if word in everything] == []


def test_nothing_is_shown_that_is_hidden(held):
    for asked in held.searches:
        found = held.find(held.ordered(asked, documents=held.documents, **JOINED))
        routed = held.routed(asked, *REPLIES, max_context_tokens=100_000)

        answer = held.ask(routed)

        assert answer.route == {"step": "full", "answered": True}
        assert answer.texts == [TENANTS.texts[OPEN]]
        assert_nothing_hidden((found, answer.everything))
        assert len(found) == 3  # the shared one on both sides of what is hidden


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
    with pytest.raises(InvalidOptionError, match="client= beside aclient="):
        source.get(SHARED)
    for where in (*metadata_filters(), of_their_qdrant()["qdrant_filters"]):
        bound = source.within(SearchFilter(where))
        assert await bound.aget(OPEN) == TENANTS.texts[OPEN]
        with pytest.raises(DocumentNotFoundError):
            await bound.aget(SHARED)
    await client.close()
