"""Vectors that no search can use are not stored, in either framework."""

import asyncio
from math import inf, nan

import pytest
from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from langchain_core.vectorstores import InMemoryVectorStore
from llama_index.core import Document as Source
from llama_index.core import VectorStoreIndex
from llama_index.core.embeddings import BaseEmbedding

from langchain_oprag import aindex_documents as aindex_langchain
from langchain_oprag import index_documents as index_langchain
from llamaindex_oprag import aindex_documents as aindex_llamaindex
from llamaindex_oprag import index_documents as index_llamaindex
from oprag.errors import IndexingError, ModelCallError

TEXTS = {name: f"The house of {name} is " for name in "abcd"}
pytestmark = pytest.mark.filterwarnings("ignore::oprag.errors.OpragWarning")


class Model(Embeddings):
    """Gives each text the vector that is set for its document; leaves out None."""

    def __init__(self, vectors) -> None:
        self.vectors = vectors

    def of(self, texts):
        found = []
        for text in texts:
            name = text.partition("The house of ")[2][0]
            vector = self.vectors.get(name, [1.0, 2.0])
            found += [] if vector is None else [vector]
        return found

    def embed_documents(self, texts):
        return self.of(texts)

    def embed_query(self, text):
        return [1.0, 2.0]


class LlamaModel(BaseEmbedding):
    """The same for LlamaIndex."""

    model: Model

    @classmethod
    def class_name(cls) -> str:
        return "Model"

    def _get_text_embedding(self, text):
        return self.model.of([text])[0]

    def _get_text_embeddings(self, texts):
        return self.model.of(texts)

    async def _aget_text_embeddings(self, texts):
        return self.model.of(texts)

    def _get_query_embedding(self, query):
        return [1.0, 2.0]

    async def _aget_query_embedding(self, query):
        return [1.0, 2.0]


LlamaModel.__name__ = "Model"  # as messages name it


class OfLangChain:
    def __init__(self) -> None:
        self.model = Model({})
        self.store = InMemoryVectorStore(self.model)

    def index(self, way: str, word: str = "high"):
        documents = [
            Document(text + word, metadata={"source": name})
            for name, text in TEXTS.items()
        ]
        if way == "async":
            return asyncio.run(aindex_langchain(documents, self.store))
        return index_langchain(documents, self.store)

    def names(self) -> list[str]:
        rows = self.store.store.values()
        return sorted(row["metadata"]["source"] for row in rows)

    def search(self) -> int:
        return len(self.store.similarity_search("house", k=10))


class OfLlamaIndex:
    def __init__(self) -> None:
        self.model = Model({})
        self.store = VectorStoreIndex([], embed_model=LlamaModel(model=self.model))

    def index(self, way: str, word: str = "high"):
        documents = [
            Source(text=text + word, metadata={"source": name})
            for name, text in TEXTS.items()
        ]
        if way == "async":
            return asyncio.run(aindex_llamaindex(documents, self.store))
        return index_llamaindex(documents, self.store)

    def names(self) -> list[str]:
        nodes = self.store.docstore.docs.values()
        return sorted(node.metadata["source"] for node in nodes)

    def search(self) -> int:
        return len(self.store.as_retriever(similarity_top_k=10).retrieve("house"))


@pytest.fixture(params=[OfLangChain, OfLlamaIndex])
def indexed(request):
    return request.param()


@pytest.mark.parametrize("way", ["sync", "async"])
@pytest.mark.parametrize(
    ("vector", "said"),
    [
        ([1.0, nan], "1 of 1 with NaN or infinite numbers"),
        ([-inf, 1.0], "1 of 1 with NaN or infinite numbers"),
        ([1.0], "1 of 1 with another length (1 numbers, and not 2)"),
        ([], "1 of 1 with another length (0 numbers, and not 2)"),
        (None, "0 for 1 text"),
    ],
)
def test_a_vector_that_no_search_can_use_is_not_stored(indexed, way, vector, said):
    indexed.model.vectors["b"] = vector

    report = indexed.index(way)

    ((name, error, _),) = report.failed
    assert name == "b"
    assert isinstance(error, ModelCallError)
    assert str(error) == (
        f"Model gave vectors for 'b' that no search can use: {said}. None of them was "
        "stored. Index again with a model that gives finite numbers, as many as in "
        "the store."
    )
    assert report.added == ("a", "c", "d")
    assert indexed.names() == ["a", "c", "d"]
    assert indexed.search() == 3

    indexed.model.vectors.clear()
    assert indexed.index(way).added == ("b",)
    assert indexed.search() == 4


def test_vectors_of_another_length_than_those_in_the_store_are_refused(indexed):
    indexed.index("sync")
    names = indexed.names()
    indexed.model.vectors = {name: [3.0, 1.0, 2.0] for name in TEXTS}

    with pytest.raises(IndexingError, match="3 numbers, and not 2"):
        indexed.index("sync", word="low")

    assert indexed.names() == names
    assert indexed.search() == len(TEXTS)


def test_vectors_that_add_up_to_more_than_a_float_are_taken(indexed):
    indexed.model.vectors["b"] = [1e308, 1e308]
    assert not indexed.index("sync").failed


def test_the_store_has_its_own_model_again_whatever_happened():
    made = OfLangChain()
    for vector in ([1.0, nan], [1.0, 2.0]):
        made.model.vectors["b"] = vector
        made.index("sync")
        assert made.store.embedding is made.model
