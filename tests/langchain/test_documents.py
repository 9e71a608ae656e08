"""Full texts from LangChain's stores, and from all that the core takes."""

import pytest
from langchain_core.messages import AIMessage
from langchain_core.stores import InMemoryStore
from langchain_core.vectorstores import InMemoryVectorStore
from langchain_text_splitters import RecursiveCharacterTextSplitter

from langchain_oprag import SelfRouteChain, annotate_positions, document_source
from oprag.errors import IncompleteDocumentError
from tests.langchain.corpus import EMBEDDING
from tests.langchain.recording import RecordingChatModel

NAME = "notes/a b.txt"


class CountingStore(InMemoryStore):
    """Knows which of its two methods was called."""

    def __init__(self):
        super().__init__()
        self.called = []

    def mget(self, keys):
        self.called.append("mget")
        return super().mget(keys)

    async def amget(self, keys):
        self.called.append("amget")
        return super().mget(keys)


async def test_a_store_is_asked_by_its_own_async_method():
    store = CountingStore()
    store.mset([(NAME, "All of it.")])
    source = document_source(store)

    source.get(NAME)
    await source.aget(NAME)

    assert store.called == ["mget", "amget"]


PROSE = "".join(
    f"Line {n} of the text, and it goes on.\n" + "\n    " * (n % 3 == 0)
    for n in range(90)
)


async def test_self_route_says_that_it_read_a_text_that_is_not_exact():
    text = f"\n {PROSE}"
    splitter = RecursiveCharacterTextSplitter(chunk_size=150, chunk_overlap=0)
    chunks = splitter.create_documents([text], [{"source": NAME}])
    store = InMemoryVectorStore(EMBEDDING)
    store.add_documents(annotate_positions(chunks, {NAME: text}))
    replies = [AIMessage("unanswerable"), AIMessage("All of it.")] * 2

    def chain(documents):
        return SelfRouteChain(
            llm=RecordingChatModel(replies=replies),
            retriever=store.as_retriever(search_kwargs={"k": 1}),
            documents=documents,
        )

    marked = chain(document_source(store, exact=False))
    for result in (marked.invoke("How much?"), await marked.ainvoke("How much?")):
        assert result["route"] == {"rung": "full", "answered": True, "exact": False}
        assert [d.metadata["oprag_exact"] for d in result["context"]] == [False]
    with pytest.raises(IncompleteDocumentError, match="exact=False"):
        chain(store).invoke("How much?")
