"""Every store of both frameworks runs the suite that authors of stores are given."""

from __future__ import annotations

import re
from typing import Any

import pytest
from langchain_core.documents import Document
from llama_index.core import StorageContext, VectorStoreIndex
from llama_index.core.schema import MetadataMode, TextNode

import langchain_oprag
import llamaindex_oprag
from oprag.documents import StoredChunk
from oprag.testing import StoreSuite, StoreUnderTest
from tests.stores.langchain_places import PLACES, filters_of
from tests.stores.llamaindex_fakes import ChecksumEmbedding
from tests.stores.llamaindex_places import LLAMAINDEX_STORES, metadata_filters

pytestmark = pytest.mark.filterwarnings(
    "ignore:Payload indexes have no effect in the local Qdrant"
)

MANY, LESS, LEAST = 20_000, 1_200, 300
"""Chunks of a long document: usually, in a second kind of the same store, and where
adding is slow."""


REPLACES = re.compile("simple|qdrant")
"""LlamaIndex stores of which a node that is added again is there once, as it is now."""


def many(place: Any) -> int:
    if place.slow:
        return LEAST
    return LESS if place.id.endswith(("-server", "-columns", "-hnsw")) else MANY


class TestLangChain(StoreSuite):
    @pytest.fixture(autouse=True, params=PLACES, ids=lambda place: place.id)
    def place(self, request, tmp_path):
        place = request.param
        with place.make(tmp_path, request.getfixturevalue) as store:
            self.store = under_test_of_langchain(place, store)
            yield

    def new_store(self):
        return self.store


def under_test_of_langchain(place: Any, store: Any) -> StoreUnderTest:
    options = {"fetch_k": 1_000} if "faiss" in place.id else {}

    def add(chunks):
        documents = [
            Document(c.text, id=c.id, metadata=dict(c.metadata)) for c in chunks
        ]
        store.add_documents(documents, ids=[chunk.id for chunk in chunks])

    def search(query, k, where):
        given = {} if where is None else {"filter": where, **options}
        found = store.similarity_search(query, k=k, **given)
        return [StoredChunk(d.page_content, d.metadata, d.id or "") for d in found]

    return StoreUnderTest(
        chunks=langchain_oprag.chunk_store(store),
        add=add,
        search=search,
        delete=store.delete,
        replace=None if "faiss" in place.id else add,
        filters=filters_of(place.id),
        many=many(place),
    )


class TestLlamaIndex(StoreSuite):
    @pytest.fixture(autouse=True, params=LLAMAINDEX_STORES, ids=lambda place: place.id)
    def place(self, request):
        place = request.param
        self.store = under_test_of_llamaindex(place, place.make(request))

    def new_store(self):
        return self.store


def under_test_of_llamaindex(place: Any, store: Any) -> StoreUnderTest:
    index = VectorStoreIndex(
        [],
        storage_context=StorageContext.from_defaults(vector_store=store),
        embed_model=ChecksumEmbedding(),
    )

    def add(chunks):
        index.insert_nodes(
            [TextNode(text=c.text, id_=c.id, metadata=dict(c.metadata)) for c in chunks]
        )

    def search(query, k, where):
        found = index.as_retriever(similarity_top_k=k, filters=where).retrieve(query)
        return [
            StoredChunk(
                n.node.get_content(MetadataMode.NONE), n.node.metadata, n.node.node_id
            )
            for n in found
        ]

    def delete(ids):
        index.delete_nodes(ids, delete_from_docstore=True)

    faiss = "faiss" in place.id
    return StoreUnderTest(
        chunks=llamaindex_oprag.chunk_store(index),
        add=add,
        search=search,
        delete=None if faiss else delete,
        replace=add if REPLACES.search(place.id) else None,
        filters=() if faiss else metadata_filters(),
        many=many(place),
    )
