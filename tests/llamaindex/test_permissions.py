"""The filters of LlamaIndex's searches: seen, carried over, or refused."""

from __future__ import annotations

from typing import Any

import pytest
from llama_index.core import Document, StorageContext, VectorStoreIndex
from llama_index.core.indices.query.query_transform.base import IdentityQueryTransform
from llama_index.core.indices.vector_store import VectorIndexRetriever
from llama_index.core.retrievers import QueryFusionRetriever, TransformRetriever
from llama_index.core.schema import IndexNode
from llama_index.core.storage.docstore import SimpleDocumentStore
from llama_index.core.vector_stores import MetadataFilter, MetadataFilters

from llamaindex_oprag import (
    LongUnitRetriever,
    OrderPreservingRetriever,
    SelfRouteQueryEngine,
    document_source,
)
from oprag.documents import SearchFilter
from oprag.errors import DocumentNotFoundError, InvalidOptionError
from oprag.units import group_documents
from tests.kit.tenants import OPEN, SHARED, Tenants
from tests.kit.words import words
from tests.llamaindex.components import Retrieved
from tests.llamaindex.recording import RecordingLLM, WordEmbedding

TENANTS = Tenants("ababa")
HIDDEN = TENANTS.words_of("b")


def of(tenant: str) -> MetadataFilters:
    return MetadataFilters(filters=[MetadataFilter(key="tenant", value=tenant)])


@pytest.fixture(scope="module")
def index() -> VectorStoreIndex:
    return VectorStoreIndex(TENANTS.nodes(), embed_model=WordEmbedding())


def engine_over(retriever: Any, documents: Any, **options: Any) -> SelfRouteQueryEngine:
    llm = RecordingLLM(replies=["unanswerable", "Yes."])
    return SelfRouteQueryEngine.from_args(
        retriever, llm, documents=documents, **options
    )


def shown_by(engine: SelfRouteQueryEngine) -> str:
    """The prompts and the answer of Self-Route."""
    response = engine.query("?")
    nodes = [each.to_dict() for each in response.source_nodes]
    prompts = engine._self_route.options.llm.prompts
    return f"{nodes} {response} {response.metadata} {prompts}"


def asking(index: VectorStoreIndex, tenant: str = "a", **given: Any) -> Any:
    return index.as_retriever(similarity_top_k=20, filters=of(tenant), **given)


class Loud(VectorIndexRetriever):
    """A subclass that searches as its base does."""

    def loudness(self) -> int:
        return 11


class Quiet(VectorIndexRetriever):
    """A subclass that filters, and nobody can see by what."""

    def _build_vector_store_query(self, query_bundle_with_embeddings):
        query = super()._build_vector_store_query(query_bundle_with_embeddings)
        query.filters = of("a")
        return query


def fusion(*retrievers: Any) -> QueryFusionRetriever:
    llm = RecordingLLM()
    return QueryFusionRetriever(
        list(retrievers), llm=llm, num_queries=1, similarity_top_k=20, use_async=False
    )


WAYS = {
    "as it is": asking,
    "a subclass": lambda index: Loud(index, similarity_top_k=20, filters=of("a")),
    "put in order": lambda index: OrderPreservingRetriever(asking(index)),
    "fused": lambda index: fusion(asking(index), asking(index)),
    "behind a transform": lambda index: TransformRetriever(
        asking(index), IdentityQueryTransform()
    ),
    "by node ids": lambda index: VectorIndexRetriever(
        index,
        similarity_top_k=20,
        node_ids=[
            node.node_id
            for node in index.docstore.docs.values()
            if node.metadata["tenant"] == "a"
        ],
    ),
}
"""Retrievers whose filter can be seen."""


@pytest.mark.parametrize("way", WAYS)
def test_a_filter_that_can_be_seen_binds_full_documents(way, index):
    shown = shown_by(engine_over(WAYS[way](index), index))
    assert not [word for word in HIDDEN if word in shown]
    assert TENANTS.texts[OPEN] in shown
    assert f"a filter hides chunks: {SHARED!r}" in shown


def test_each_engine_is_bound_by_its_own_retriever(index):
    everything = engine_over(index.as_retriever(similarity_top_k=4), index)
    own = everything.with_retriever(asking(index))
    assert not [word for word in HIDDEN if word in shown_by(own)]
    everything._self_route.options.llm.prompts.clear()
    assert TENANTS.texts[SHARED] in shown_by(everything)
    with pytest.raises(InvalidOptionError, match="Retrieved"):
        everything.with_retriever(Retrieved([]))


def nested(index: VectorStoreIndex) -> Any:
    """Index nodes that stand for a filtered search."""
    node = IndexNode(text="all about it", index_id="x", obj=asking(index))
    return VectorStoreIndex(objects=[node], embed_model=WordEmbedding()).as_retriever()


OPAQUE = {
    "Retrieved": lambda index: Retrieved([]),
    "Quiet": lambda index: Quiet(index, similarity_top_k=20),
    "objects of index nodes": nested,
    "different filters": lambda index: fusion(asking(index), asking(index, "b")),
    "doc_ids=": lambda index: asking(index, doc_ids=["x"]),
    "namespace=": lambda index: asking(index, vector_store_kwargs={"namespace": "a"}),
    "'tenant': 'a'": lambda index: index.as_retriever(
        vector_store_kwargs={"where": {"tenant": "a"}}
    ),
}
"""Retrievers whose filter cannot be seen, or is not one for these chunks."""


@pytest.mark.parametrize("what", OPAQUE)
def test_any_other_refuses_texts_from_the_index_at_construction(what, index):
    units = group_documents(TENANTS.texts, token_counter=words)
    retriever = OPAQUE[what](index)
    for make in (
        lambda given: engine_over(retriever, given),
        lambda given: OrderPreservingRetriever(retriever, documents=given),
        lambda given: LongUnitRetriever(retriever, documents=given, units=units),
    ):
        for documents in (index, index.docstore):
            with pytest.raises(InvalidOptionError, match=what) as caught:
                make(documents)
            assert "leave documents= out" in str(caught.value)
        make(document_source(index).get)
        make(TENANTS.texts)


async def test_an_original_in_the_docstore_is_not_read_past_a_filter():
    storage = StorageContext.from_defaults(docstore=SimpleDocumentStore())
    storage.docstore.add_documents([Document(text=TENANTS.texts[SHARED], id_=SHARED)])
    made = VectorStoreIndex(
        TENANTS.nodes(), storage_context=storage, embed_model=WordEmbedding()
    )
    for documents in (made, made.docstore):
        source = document_source(documents)
        assert source.get(SHARED) == TENANTS.texts[SHARED]
        bound = source.within(SearchFilter(of("a")))
        with pytest.raises(DocumentNotFoundError):
            bound.get(SHARED)
        with pytest.raises(DocumentNotFoundError):
            await source.within(SearchFilter(of("c"))).aget(SHARED)
        assert bound.get(OPEN) == TENANTS.texts[OPEN]


def test_node_ids_that_an_index_gave_before_it_grew_still_hide_what_came_later():
    made = VectorStoreIndex(TENANTS.nodes()[:3], embed_model=WordEmbedding())
    retriever = made.as_retriever(similarity_top_k=20)
    made.insert_nodes(TENANTS.nodes()[3:])
    engine = engine_over(retriever, made)
    shown = shown_by(engine)
    assert TENANTS.texts[SHARED].split()[-1] not in shown
    fresh = shown_by(engine_over(made.as_retriever(similarity_top_k=4), made))
    assert TENANTS.texts[SHARED] in fresh
