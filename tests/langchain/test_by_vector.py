"""A question that is put to a vector store several times is embedded once."""

import pytest
from langchain_chroma import Chroma
from langchain_core.embeddings import Embeddings
from langchain_core.vectorstores import InMemoryVectorStore, VectorStoreRetriever

from langchain_oprag import OrderPreservingRetriever
from tests.langchain.corpus import EMBEDDING, QUERY, book, chunk, words


class Counting(Embeddings):
    """Counts what it is asked for, sync and awaited."""

    def __init__(self) -> None:
        self.queries: list[str] = []

    def embed_documents(self, texts):
        return EMBEDDING.embed_documents(texts)

    def embed_query(self, text):
        self.queries.append(text)
        return EMBEDDING.embed_query(text)


class EmbeddingEachTime(VectorStoreRetriever):
    """LangChain's own, as a class that is not known."""


CHUNKS = [*book(150), *(chunk(number, "other.txt") for number in range(20))]


def in_memory(folder, embedding):
    return InMemoryVectorStore(embedding)


def chroma(folder, embedding):
    return Chroma("book", embedding, str(folder))


async def asked(retriever, how):
    return (
        retriever.invoke(QUERY) if how == "invoke" else await retriever.ainvoke(QUERY)
    )


def retriever_over(store, base=VectorStoreRetriever, **search):
    return OrderPreservingRetriever(
        base_retriever=base(vectorstore=store, **search),
        token_budget=300,
        token_counter=words,
    )


@pytest.mark.parametrize("how", ["invoke", "ainvoke"])
@pytest.mark.parametrize("kind", ["similarity", "mmr"])
@pytest.mark.parametrize("filtered", [False, True])
@pytest.mark.parametrize("make", [in_memory, chroma])
async def test_a_question_is_embedded_once_and_finds_the_same(
    tmp_path, make, filtered, kind, how
):
    embedding = Counting()
    store = make(tmp_path, embedding)
    store.add_documents(CHUNKS)
    search = {"search_type": kind}
    if filtered and make is chroma:
        search["search_kwargs"] = {"filter": {"source": "book.txt"}}
    elif filtered:
        search["search_kwargs"] = {
            "filter": lambda document: document.metadata["source"] == "book.txt"
        }

    found = await asked(retriever_over(store, **search), how)
    once, embedding.queries = embedding.queries, []
    as_before = await asked(retriever_over(store, EmbeddingEachTime, **search), how)

    assert once == [QUERY]
    assert len(embedding.queries) > 1
    assert found == as_before
    assert len(found) == 300 // 4
