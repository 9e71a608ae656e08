"""BM25 over every store: by id, through the filter, and as the store is now."""

from __future__ import annotations

from typing import Any

import langchain_oprag
import llamaindex_oprag
from tests.stores.test_widening import TENANTS, langchain_place, llamaindex_place

__all__ = ["langchain_place", "llamaindex_place"]  # fixtures, which pytest finds here

HITS = 3


def assert_read_by_id(store: Any, filters: tuple[Any, ...]) -> None:
    chunks = {chunk.id: chunk for chunk in store.read()}
    assert store.count() in (None, len(chunks))
    wanted = sorted(chunks)[::2]
    for restricted in (store, *map(store.within, filters)):
        admitted = {chunk.id for chunk in restricted.read()}
        found = restricted.read(ids=wanted)
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
            base_retriever=store.as_retriever(search_kwargs=search), bm25=True
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
