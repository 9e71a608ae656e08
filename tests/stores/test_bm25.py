"""BM25 over every store: by id, through the filter, and as the store is now."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from llama_index.core import StorageContext, VectorStoreIndex

import langchain_oprag
import llamaindex_oprag
from tests.stores.langchain_places import PLACES, add, filters_of
from tests.stores.llamaindex_fakes import ChecksumEmbedding
from tests.stores.llamaindex_places import LLAMAINDEX_STORES, metadata_filters
from tests.support.tenants import Tenants

TENANTS = Tenants("ababaabbaaabab", open=8)
HITS = 3


@pytest.fixture(scope="module", params=PLACES, ids=lambda place: place.id)
def langchain_place(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Any, tuple[Any, ...]]]:
    """A store of LangChain and its filters."""
    folder: Path = tmp_path_factory.mktemp("store")
    with request.param.make(folder, request.getfixturevalue) as store:
        add(store, TENANTS.documents())
        yield store, filters_of(request.param.id)


@pytest.fixture(scope="module", params=LLAMAINDEX_STORES, ids=lambda place: place.id)
def llamaindex_place(request: pytest.FixtureRequest) -> tuple[Any, tuple[Any, ...]]:
    """An index of LlamaIndex and the filters that its store has."""
    index = VectorStoreIndex(
        TENANTS.nodes(),
        storage_context=StorageContext.from_defaults(
            vector_store=request.param.make(request)
        ),
        embed_model=ChecksumEmbedding(),
    )
    return index, () if "faiss" in request.param.id else metadata_filters()


def assert_read_by_id(store: Any, filters: tuple[Any, ...]) -> None:
    chunks = {chunk.id: chunk for chunk in store.scan()}
    assert store.count() in (None, len(chunks))
    wanted = sorted(chunks)[::2]
    for restricted in (store, *map(store.within, filters)):
        admitted = {chunk.id for chunk in restricted.scan()}
        found = restricted.fetch_ids(wanted)
        assert sorted(chunk.id for chunk in found) == sorted(admitted & {*wanted})
        assert all(chunk == chunks[chunk.id] for chunk in found)


def test_langchain_chunks_are_read_by_their_ids(langchain_place):
    store, filters = langchain_place
    assert_read_by_id(langchain_oprag.chunk_store(store), filters)


def test_llamaindex_chunks_are_read_by_their_ids(llamaindex_place):
    index, filters = llamaindex_place
    assert_read_by_id(llamaindex_oprag.chunk_store(index), filters)


def test_a_word_finds_its_chunk_in_langchain_unless_the_filter_hides_it(
    langchain_place,
):
    store, filters = langchain_place
    for where in (None, *filters):
        search = {"k": HITS} if where is None else {"k": HITS, "filter": where}
        retriever = langchain_oprag.OrderPreservingRetriever(
            vectorstore=store, search_kwargs=search, bm25=True
        )
        for word in sorted(TENANTS.words_of("ab"))[::5]:
            found = retriever.invoke(word)
            read = {w for each in found for w in each.page_content.split()}

            admitted = TENANTS.words_of("ab" if where is None else "a")
            assert read <= admitted
            assert (word in read) == (word in admitted)
            assert len(found) <= HITS + 1


def test_a_word_finds_its_node_in_llamaindex_unless_the_filter_hides_it(
    llamaindex_place,
):
    index, filters = llamaindex_place
    for where in (None, *filters):
        base = index.as_retriever(similarity_top_k=HITS, filters=where)
        retriever = llamaindex_oprag.OrderPreservingRetriever(base, bm25=True)
        for word in sorted(TENANTS.words_of("ab"))[::5]:
            found = retriever.retrieve(word)
            read = {w for each in found for w in each.node.text.split()}

            admitted = TENANTS.words_of("ab" if where is None else "a")
            assert read <= admitted
            assert (word in read) == (word in admitted)
            assert len(found) <= HITS + 1
