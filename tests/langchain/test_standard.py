"""LangChain's own tests for retrievers and vector stores, over real stores."""

import pytest
from langchain_core.vectorstores import InMemoryVectorStore
from langchain_tests.integration_tests import (
    RetrieversIntegrationTests,
    VectorStoreIntegrationTests,
)

from langchain_oprag import (
    LongUnitRetriever,
    OrderPreservingRetriever,
    OrderPreservingVectorStore,
)
from oprag.metadata import drop_reserved_keys
from oprag.units import group_documents
from tests.langchain.corpus import QUERY, RecordingStore, book, chunk


class _Standard(RetrieversIntegrationTests):
    @property
    def retriever_constructor(self):
        return OrderPreservingRetriever

    @property
    def retriever_query_example(self):
        return QUERY


class TestOverInMemoryVectorStore(_Standard):
    @property
    def retriever_constructor_params(self):
        return {"vectorstore": RecordingStore(book())}


class TestLongUnits(_Standard):
    @property
    def retriever_constructor(self):
        return LongUnitRetriever

    @property
    def retriever_constructor_params(self):
        chunks = [chunk(0, source=f"{number}.txt") for number in range(12)]
        texts = {each.metadata["source"]: each.page_content for each in chunks}
        return {
            "vectorstore": RecordingStore(chunks),
            "units": group_documents(texts, []),
            "documents": texts,
        }


class _InTheStoresPlace(VectorStoreIntegrationTests):
    """The suite's documents have an id alone: each is a document of its own."""

    store = OrderPreservingVectorStore

    @pytest.fixture
    def vectorstore(self):
        inner = InMemoryVectorStore(self.get_embeddings())
        return self.store(inner, document_key=lambda document: document.id)


class _WithoutPlaces(OrderPreservingVectorStore):
    def similarity_search(self, query, k=None, **kwargs):
        return [_bare(each) for each in super().similarity_search(query, k, **kwargs)]

    async def asimilarity_search(self, query, k=None, **kwargs):
        found = await super().asimilarity_search(query, k, **kwargs)
        return [_bare(each) for each in found]


def _bare(document):
    metadata = drop_reserved_keys(document.metadata)
    return document.model_copy(update={"metadata": metadata})


class TestInTheStoresPlaceButForThePlaces(_InTheStoresPlace):
    """All of the suite: each document is one chunk, so that the best comes first."""

    store = _WithoutPlaces
