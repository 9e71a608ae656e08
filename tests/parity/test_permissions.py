"""Filters of searches: seen, carried over, or refused, in both frameworks."""

from typing import Any

import pytest
from langchain_core.documents import Document
from langchain_core.runnables import (
    ConfigurableField,
    RunnableBranch,
    RunnableLambda,
    RunnablePassthrough,
)
from langchain_core.vectorstores import VectorStoreRetriever
from llama_index.core import Document as LlamaDocument
from llama_index.core import VectorStoreIndex
from llama_index.core.indices.query.query_transform.base import IdentityQueryTransform
from llama_index.core.indices.vector_store import VectorIndexRetriever
from llama_index.core.retrievers import QueryFusionRetriever, TransformRetriever
from llama_index.core.schema import IndexNode
from llama_index.core.storage.docstore import SimpleDocumentStore
from llama_index.core.vector_stores import MetadataFilter, MetadataFilters

import langchain_oprag
import llamaindex_oprag
from oprag.errors import DocumentNotFoundError, InvalidOptionError, UnfitIndexError
from oprag.stores import SearchFilter
from oprag.units import group_documents
from tests.kit.frameworks import Held, InLangChain, InLlamaIndex
from tests.kit.tenants import OPEN, SHARED, Tenants
from tests.kit.words import words
from tests.langchain.compat import ContextualCompressionRetriever, EnsembleRetriever
from tests.llamaindex.components import Retrieved
from tests.llamaindex.recording import RecordingLLM, WordEmbedding

TENANTS = Tenants("ababa")
HIDDEN = TENANTS.words_of("b")
REPLIES = ("unanswerable", "Yes.")
JOINED: dict[str, Any] = {
    "selection": "recall",
    "token_budget": 1_000,
    "token_counter": words,
}


def holding(framework: Any, chunks: slice = slice(None), **given: Any) -> Any:
    held = framework(**given)
    held.add(TENANTS.stored()[chunks])
    return held


@pytest.fixture(scope="module")
def stores() -> dict[Any, Held]:
    return {each: holding(each) for each in (InLangChain, InLlamaIndex)}


def shown_by(held: Held, retriever: Any, *given: Any) -> str:
    """Everything that Self-Route reads and says, full documents from the store."""
    return str(held.ask(held.routed(retriever, *REPLIES), "?", *given).everything)


def assert_nothing_hidden(shown: Any) -> None:
    assert [word for word in HIDDEN if word in str(shown)] == []


# Of LangChain


def of_a(document: Document) -> bool:
    return document.metadata["tenant"] == "a"


def of_b(document: Document) -> bool:
    return document.metadata["tenant"] == "b"


FILTERED = {"k": 20, "filter": of_a}


class Quiet(VectorStoreRetriever):
    """A subclass that filters, and nobody can see by what."""

    def _get_relevant_documents(self, query, *, run_manager, **kwargs):
        return super()._get_relevant_documents(
            query, run_manager=run_manager, filter=of_a, **kwargs
        )


def asked(held: Held, **search: Any) -> Any:
    return held.store.as_retriever(search_kwargs=search or FILTERED)


def configurable(held: Held) -> Any:
    search = ConfigurableField(id="search")
    return asked(held, k=20).configurable_fields(search_kwargs=search)


def both(*retrievers: Any) -> Any:
    return EnsembleRetriever(retrievers=[*retrievers], weights=[0.5, 0.5])


SEEN = {
    "as it is": asked,
    "with a config": lambda h: asked(h).with_config(tags=["x"]).with_retry(),
    "bound arguments": lambda h: asked(h, k=20).bind(filter=of_a),
    "a configured field": lambda h: configurable(h).with_config(
        configurable={"search": FILTERED}
    ),
    "behind a rewritten question": lambda h: RunnablePassthrough() | asked(h),
    "in either branch": lambda h: RunnableBranch(
        (lambda question: len(question) > 5, asked(h)), RunnablePassthrough() | asked(h)
    ),
    "put in order": lambda h: h.ordered(asked(h)),
    "compressed": lambda h: ContextualCompressionRetriever(
        base_compressor=langchain_oprag.OrderPreservingCompressor(),
        base_retriever=asked(h),
    ),
    "beside another": lambda h: both(asked(h), asked(h)),
}
"""Retrievers whose filter can be seen."""
UNSEEN = {
    "RunnableLambda": lambda h: RunnableLambda(asked(h).invoke),
    "Quiet": lambda h: Quiet(vectorstore=h.store),
    "RunnablePassthrough": lambda h: asked(h) | RunnablePassthrough(),
    "different filters": lambda h: both(asked(h), asked(h, filter=of_b)),
    "where_document=": lambda h: asked(h, where_document={"$contains": "x"}),
    "namespace=": lambda h: asked(h, namespace="a"),
    "'tenant': 'a'": lambda h: asked(h, filter={"tenant": "a"}),
}
"""Retrievers whose filter cannot be seen, or is not one for chunks."""


# Of LlamaIndex


def of(tenant: str) -> MetadataFilters:
    return MetadataFilters(filters=[MetadataFilter(key="tenant", value=tenant)])


def asking(held: Held, tenant: str = "a", **given: Any) -> Any:
    return held.search(20, of(tenant), **given)


class QuietNodes(VectorIndexRetriever):
    """A subclass that filters, and nobody can see by what."""

    def _build_vector_store_query(self, query_bundle_with_embeddings):
        query = super()._build_vector_store_query(query_bundle_with_embeddings)
        query.filters = of("a")
        return query


def fusion(*retrievers: Any) -> QueryFusionRetriever:
    llm = RecordingLLM()
    return QueryFusionRetriever(
        [*retrievers], llm=llm, num_queries=1, similarity_top_k=20, use_async=False
    )


def by_ids(held: Held) -> Any:
    nodes = held.documents.docstore.docs.values()
    own = [node.node_id for node in nodes if node.metadata["tenant"] == "a"]
    return VectorIndexRetriever(held.documents, similarity_top_k=20, node_ids=own)


def nested(held: Held) -> Any:
    """Index nodes that stand for a filtered search."""
    node = IndexNode(text="all about it", index_id="x", obj=asking(held))
    return VectorStoreIndex(objects=[node], embed_model=WordEmbedding()).as_retriever()


SEEN_NODES = {
    "as it is": asking,
    "put in order": lambda h: h.ordered(asking(h)),
    "fused": lambda h: fusion(asking(h), asking(h)),
    "behind a transform": lambda h: TransformRetriever(
        asking(h), IdentityQueryTransform()
    ),
    "by node ids": by_ids,
}
UNSEEN_NODES = {
    "Retrieved": lambda _: Retrieved([]),
    "Quiet": lambda h: QuietNodes(h.documents, similarity_top_k=20),
    "objects of index nodes": nested,
    "different filters": lambda h: fusion(asking(h), asking(h, "b")),
    "doc_ids=": lambda h: asking(h, doc_ids=["x"]),
    "namespace=": lambda h: asking(h, vector_store_kwargs={"namespace": "a"}),
    "'tenant': 'a'": lambda h: h.search(
        2, vector_store_kwargs={"where": {"tenant": "a"}}
    ),
}


# In both


def each_of(langchain: Any, llamaindex: Any) -> list[Any]:
    tables = ((InLangChain, langchain), (InLlamaIndex, llamaindex))
    return [
        pytest.param(framework, name, make, id=f"{framework.__name__}-{name}")
        for framework, table in tables
        for name, make in table.items()
    ]


@pytest.mark.parametrize(("framework", "_", "make"), each_of(SEEN, SEEN_NODES))
def test_a_filter_that_can_be_seen_binds_full_documents(stores, framework, _, make):
    shown = shown_by(stores[framework], make(stores[framework]))
    assert_nothing_hidden(shown)
    assert TENANTS.texts[OPEN] in shown
    assert f"a filter hides chunks: {SHARED!r}" in shown


@pytest.mark.parametrize(("framework", "what", "make"), each_of(UNSEEN, UNSEEN_NODES))
def test_any_other_refuses_texts_from_the_store_at_construction(
    stores, framework, what, make
):
    held = stores[framework]
    retriever = make(held)
    units: Any = {"units": group_documents(TENANTS.texts, token_counter=words)}
    over = {"documents": held.documents}
    if framework is InLlamaIndex:
        over["docstore"] = held.documents.docstore
    for construct in (
        lambda given: held.routed(retriever, documents=given),
        lambda given: held.ordered(retriever, documents=given),
        lambda given: held.package.LongUnitRetriever(
            base_retriever=retriever, documents=given, **units
        ),
    ):
        for documents in over.values():
            with pytest.raises(ValueError, match=what) as caught:
                construct(documents)
            assert "leave documents= out" in str(caught.value)
        construct(held.package.document_source(held.documents).get)
        construct(TENANTS.texts)


# What is of one framework


def test_a_filter_of_the_call_s_own_config_binds_them_too(stores):
    held = stores[InLangChain]
    config = {"configurable": {"search": FILTERED}}
    assert_nothing_hidden(shown_by(held, configurable(held), config))


def test_verify_reads_full_documents_through_the_filter(stores):
    held = stores[InLangChain]
    with pytest.raises(UnfitIndexError, match=SHARED):
        held.routed(asked(held)).verify()


async def test_a_filter_of_one_call_binds_the_gaps_of_that_call(stores):
    held = stores[InLangChain]
    retriever = held.ordered(asked(held, k=20), documents=held.store, **JOINED)
    assert_nothing_hidden(repr(retriever.invoke("?", filter=of_a)))
    assert_nothing_hidden(repr(await retriever.ainvoke("?", filter=of_a)))
    ends = holding(InLangChain, slice(0, 5, 4))
    filled = ends.ordered(asked(ends, k=4), documents=held.store, **JOINED)
    assert [d.page_content for d in filled.invoke("?")] == [TENANTS.texts[SHARED]]
    assert_nothing_hidden(repr(filled.invoke("?", filter=of_a)))


def test_each_engine_is_bound_by_its_own_retriever(stores):
    held = stores[InLlamaIndex]
    everything = held.routed(held.search(4), *REPLIES)
    own = everything.with_retriever(asking(held))
    assert_nothing_hidden(held.ask(own).everything)
    everything._self_route.options.llm.prompts.clear()
    assert TENANTS.texts[SHARED] in str(held.ask(everything).everything)
    with pytest.raises(InvalidOptionError, match="Retrieved"):
        everything.with_retriever(Retrieved([]))


async def test_an_original_in_the_docstore_is_not_read_past_a_filter():
    docstore = SimpleDocumentStore()
    docstore.add_documents([LlamaDocument(text=TENANTS.texts[SHARED], id_=SHARED)])
    held = holding(InLlamaIndex, docstore=docstore)
    for documents in (held.documents, docstore):
        source = llamaindex_oprag.document_source(documents)
        assert source.get(SHARED) == TENANTS.texts[SHARED]
        bound = source.within(SearchFilter(of("a")))
        with pytest.raises(DocumentNotFoundError):
            bound.get(SHARED)
        with pytest.raises(DocumentNotFoundError):
            await source.within(SearchFilter(of("c"))).aget(SHARED)
        assert bound.get(OPEN) == TENANTS.texts[OPEN]


def test_node_ids_that_an_index_gave_before_it_grew_still_hide_what_came_later():
    held = holding(InLlamaIndex, slice(0, 3))
    retriever = held.search(20)
    held.add(TENANTS.stored()[3:])
    assert TENANTS.texts[SHARED].split()[-1] not in shown_by(held, retriever)
    assert TENANTS.texts[SHARED] in shown_by(held, held.search(4))
