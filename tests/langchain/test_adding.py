"""`add_documents`: what is added through a retriever is in the store it searches."""

import asyncio

import pytest
from langchain_core.documents import Document
from langchain_core.runnables import RunnableLambda
from langchain_core.stores import InMemoryStore
from langchain_core.vectorstores import InMemoryVectorStore
from langchain_text_splitters import RecursiveCharacterTextSplitter

from langchain_oprag import OrderPreservingRetriever
from oprag.errors import InvalidOptionError
from tests.kit.pages import page_text
from tests.langchain.compat import EnsembleRetriever, ParentDocumentRetriever
from tests.real_stores.langchain_places import HashEmbeddings

SPLITTER = RecursiveCharacterTextSplitter(chunk_size=1000, chunk_overlap=200)


def page(number: int, text: str = "") -> list[Document]:
    metadata = {"source": "report.pdf", "page": number}
    whole = Document(text or page_text(number), metadata=metadata)
    return SPLITTER.split_documents([whole])


def texts(documents: list[Document]) -> list[str]:
    return [each.page_content for each in documents]


@pytest.fixture
def store() -> InMemoryVectorStore:
    return InMemoryVectorStore(HashEmbeddings())


@pytest.mark.parametrize("awaited", [False, True])
def test_what_is_added_is_in_the_store_and_found_in_order(store, awaited):
    retriever = OrderPreservingRetriever(store.as_retriever(), k=50)
    chunks = [*reversed(page(1)), *reversed(page(0))]
    ids = [str(number) for number in range(len(chunks))]

    if awaited:
        added = asyncio.run(retriever.aadd_documents(chunks, ids=ids))
    else:
        added = retriever.add_documents(chunks, ids=ids)

    assert added == ids
    assert set(store.store) == set(ids)
    assert texts(retriever.invoke("?")) == texts([*page(0), *page(1)])


def test_a_page_that_is_written_again_with_as_many_chunks_is_read_anew(store):
    first, second = page(0), page(0)[::-1]
    ids = [str(number) for number in range(len(first))]
    retriever = OrderPreservingRetriever(store, k=50)
    retriever.add_documents(first, ids=ids)
    assert texts(retriever.invoke("?")) == texts(first)
    assert len(retriever._overlaps._known) == 1

    retriever.add_documents(second, ids=ids)

    assert not retriever._overlaps._known
    assert texts(retriever.invoke("?")) == texts(first)


def test_words_of_what_is_added_are_found(store):
    pytest.importorskip("bm25s")
    retriever = OrderPreservingRetriever(store, k=1, bm25=True)
    retriever.add_documents(page(0))
    retriever.invoke("word")
    rare = Document("zebra", metadata={"source": "b.txt"}, id="z")

    retriever.add_documents([rare])

    assert texts(retriever.invoke("zebra")) == ["zebra"]


@pytest.mark.parametrize(
    "wrap",
    [
        lambda base: base.with_config(tags=["x"]),
        OrderPreservingRetriever,
        lambda base: RunnableLambda(str) | base,
        lambda base: EnsembleRetriever(retrievers=[base, base], weights=[0.5, 0.5]),
    ],
)
def test_it_goes_through_what_is_around_the_store(store, wrap):
    retriever = OrderPreservingRetriever(wrap(store.as_retriever()))
    retriever.add_documents(page(0))
    assert len(store.store) == len(page(0))


def test_a_retriever_that_adds_by_itself_is_asked_to(store):
    parents = ParentDocumentRetriever(
        vectorstore=store, docstore=InMemoryStore(), child_splitter=SPLITTER
    )
    retriever = OrderPreservingRetriever(parents)
    retriever.add_documents([Document(page_text(0), metadata={"source": "a.txt"})])
    assert len(store.store) > 1


def test_where_there_is_not_one_store_it_is_refused(store):
    other = InMemoryVectorStore(HashEmbeddings())
    several = EnsembleRetriever(
        retrievers=[store.as_retriever(), other.as_retriever()], weights=[0.5, 0.5]
    )
    for base in (several, RunnableLambda(lambda _: page(0))):
        with pytest.raises(InvalidOptionError, match="of the store itself"):
            OrderPreservingRetriever(base).add_documents(page(0))
    assert not store.store
