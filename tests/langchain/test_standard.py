"""LangChain's own tests for retrievers, over real stores."""

import itertools

import pytest
from langchain_chroma import Chroma
from langchain_tests.integration_tests import RetrieversIntegrationTests

from langchain_oprag import LongUnitRetriever, OrderPreservingRetriever
from oprag.units import group_documents
from tests.langchain.corpus import EMBEDDING, QUERY, RecordingStore, book, chunk

_names = itertools.count()


class _Standard(RetrieversIntegrationTests):
    @property
    def retriever_constructor(self):
        return OrderPreservingRetriever

    @property
    def retriever_query_example(self):
        return QUERY


class TestOverChroma(_Standard):
    @pytest.fixture(autouse=True)
    def _store(self, tmp_path):
        self.store = Chroma(f"book{next(_names)}", EMBEDDING, str(tmp_path))
        self.store.add_documents(book())

    @property
    def retriever_constructor_params(self):
        return {"vectorstore": self.store}


class TestOverInMemoryVectorStore(_Standard):
    @property
    def retriever_constructor_params(self):
        return {"vectorstore": RecordingStore(book())}


class TestOverAVectorStoreRetriever(_Standard):
    @property
    def retriever_constructor_params(self):
        base = RecordingStore(book()).as_retriever(search_kwargs={"k": 2})
        return {"base_retriever": base}


class TestWithMaximalMarginalRelevance(_Standard):
    @property
    def retriever_constructor_params(self):
        return {"vectorstore": RecordingStore(book(40)), "search_type": "mmr"}


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
