"""Full texts from LangChain's stores, and from all that the core takes."""

import pytest
from langchain_core.documents import Document
from langchain_core.messages import AIMessage
from langchain_core.stores import InMemoryByteStore, InMemoryStore
from langchain_core.vectorstores import InMemoryVectorStore
from langchain_text_splitters import (
    CharacterTextSplitter,
    RecursiveCharacterTextSplitter,
)

from langchain_oprag import (
    OffsetTokenSplitter,
    SelfRouteChain,
    annotate_positions,
    document_source,
    index_documents,
)
from langchain_oprag.stores import chunk_store
from oprag.documents import DocumentSource
from oprag.errors import (
    DocumentNotFoundError,
    IncompleteDocumentError,
    InvalidOptionError,
)
from tests.langchain.corpus import EMBEDDING, OtherStore
from tests.langchain.recording import RecordingChatModel

NAME = "notes/a b.txt"
TEXT = "All of it.\r\nEven line breaks."


class Shelf:
    """A docstore of the older kind: it answers with a sentence when it has none."""

    def search(self, search):
        if search == NAME:
            return Document(TEXT)
        return f"ID {search} not found."


def store_of(value, kind=InMemoryStore):
    store = kind()
    store.mset([(NAME, value)])
    return store


def filled(store, text=TEXT):
    """A vector store with the text in it, and another one."""
    splitter = OffsetTokenSplitter(chunk_size=2)
    store.add_documents(
        splitter.split_documents(
            [
                Document(text, metadata={"source": NAME}),
                Document("Some other text.", metadata={"source": "o'brien"}),
            ]
        )
    )
    return store


def chroma(path):
    from langchain_chroma import Chroma

    return Chroma("chunks", EMBEDDING, persist_directory=str(path))


def folder(path):
    (path / "notes").mkdir()
    (path / NAME).write_bytes(TEXT.encode())
    return path


async def find(name):
    return TEXT if name == NAME else None


SOURCES = {
    "texts": lambda path: store_of(TEXT),
    "documents": lambda path: store_of(Document(TEXT)),
    "bytes": lambda path: store_of(TEXT.encode(), InMemoryByteStore),
    "docstore": lambda path: Shelf(),
    "mapping": lambda path: {NAME: TEXT},
    "function": lambda path: {NAME: TEXT}.get,
    "folder": folder,
    "folder by name": lambda path: str(folder(path)),
    "source": lambda path: document_source({NAME: TEXT}),
    "vector store": lambda path: filled(InMemoryVectorStore(EMBEDDING)),
    "Chroma": lambda path: filled(chroma(path)),
    "chunk store": lambda path: chunk_store(filled(InMemoryVectorStore(EMBEDDING))),
}


@pytest.mark.parametrize("kind", SOURCES)
async def test_a_source_gives_the_whole_text(tmp_path, kind):
    source = document_source(SOURCES[kind](tmp_path))

    assert isinstance(source, DocumentSource)
    assert source.get(NAME) == TEXT
    assert await source.aget(NAME) == TEXT


@pytest.mark.parametrize("kind", SOURCES)
async def test_a_document_that_is_not_there_is_named(tmp_path, kind):
    source = document_source(SOURCES[kind](tmp_path))

    with pytest.raises(DocumentNotFoundError, match="'other'"):
        source.get("other")
    with pytest.raises(DocumentNotFoundError, match="'other'"):
        await source.aget("other")


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
    source = document_source(store := store_of(TEXT, CountingStore))

    source.get(NAME)
    await source.aget(NAME)

    assert store.called == ["mget", "amget"]


def test_bytes_that_are_no_text_are_refused():
    source = document_source(store_of(b"\xff\xfe", InMemoryByteStore))

    with pytest.raises(InvalidOptionError, match=r"gave .*bytes"):
        source.get(NAME)


def test_a_chunk_store_reads_what_is_added_while_it_reads():
    store = filled(InMemoryVectorStore(EMBEDDING))
    chunks = chunk_store(store).read()

    next(chunks)
    store.add_documents([Document("later", id="later")])

    assert "later" not in [chunk.text for chunk in chunks]
    assert "later" in [chunk.text for chunk in chunk_store(store).read()]


PROSE = "".join(
    f"Line {n} of the text, and it goes on.\n" + "\n    " * (n % 3 == 0)
    for n in range(90)
)

SPLITTERS = {
    "characters": RecursiveCharacterTextSplitter(chunk_size=150, chunk_overlap=0),
    "overlapping": RecursiveCharacterTextSplitter(chunk_size=150, chunk_overlap=60),
    "paragraphs": CharacterTextSplitter(chunk_size=200, chunk_overlap=100),
    "with starts": RecursiveCharacterTextSplitter(
        chunk_size=300, chunk_overlap=0, add_start_index=True
    ),
}


@pytest.mark.parametrize("kind", SPLITTERS)
async def test_of_stripped_chunks_the_text_comes_back_up_to_white_space(kind):
    document = Document(f"\n {PROSE}", metadata={"source": NAME})
    chunks = SPLITTERS[kind].split_documents([document])
    store = InMemoryVectorStore(EMBEDDING)
    store.add_documents(annotate_positions(document.page_content, chunks))

    source = document_source(store, exact=False)
    found = source.read(NAME)

    assert not found.exact
    assert found == await source.aread(NAME)
    assert found.text == source.get(NAME)
    with pytest.raises(IncompleteDocumentError, match="exact=False") as caught:
        document_source(store).get(NAME)
    assert repr(NAME) in str(caught.value)
    assert found.text.split() == PROSE.split()
    for chunk in store.store.values():
        start, end = chunk["metadata"]["char_start"], chunk["metadata"]["char_end"]
        assert found.text[start:end] == chunk["text"]


def test_chunks_without_our_metadata_are_not_guessed_at():
    store = InMemoryVectorStore(EMBEDDING)
    chunks = SPLITTERS["with starts"].create_documents([PROSE], [{"source": NAME}])
    store.add_documents(chunks)

    with pytest.raises(DocumentNotFoundError, match="no chunk there has the doc_key"):
        document_source(store).get(NAME)


class TunedStore(InMemoryVectorStore):
    """A subclass, as applications have them."""


def test_a_subclass_is_read_as_its_base():
    assert document_source(filled(TunedStore(EMBEDDING))).get(NAME) == TEXT


def test_a_vector_store_that_cannot_be_read_is_refused_at_once():
    with pytest.raises(InvalidOptionError, match="chunks of an OtherStore") as caught:
        document_source(OtherStore())
    assert "ChunkStore" in str(caught.value)


async def test_self_route_reads_the_full_documents_from_the_store():
    store = filled(InMemoryVectorStore(EMBEDDING))
    replies = [AIMessage("unanswerable"), AIMessage("All of it.")] * 2
    chain = SelfRouteChain(
        llm=(model := RecordingChatModel(replies=replies)),
        retriever=store.as_retriever(search_kwargs={"k": 1}),
        documents=store,
    )

    for result in (chain.invoke("How much?"), await chain.ainvoke("How much?")):
        assert result["route"] == {"rung": "full", "answered": True}
        assert "".join(d.page_content for d in result["context"]) in (
            TEXT,
            "Some other text.",
        )
    assert len(model.calls) == 4


async def test_self_route_says_that_it_read_a_text_that_is_not_exact():
    text = f"\n {PROSE}"
    chunks = SPLITTERS["characters"].create_documents([text], [{"source": NAME}])
    store = InMemoryVectorStore(EMBEDDING)
    store.add_documents(annotate_positions(text, chunks))
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
        assert result["usage"]["rungs"][1]["note"].endswith(
            f"not the exact text: {NAME!r}"
        )
        assert [d.metadata["oprag_exact"] for d in result["context"]] == [False]
    with pytest.raises(IncompleteDocumentError, match="exact=False"):
        chain(store).invoke("How much?")


@pytest.mark.parametrize("first", ["ours", "theirs"])
def test_beside_chunks_of_another_splitter_ours_give_the_exact_text(first):
    text = "\n\n".join(f"Clause {i}. The tenant pays rent {i}." for i in range(40))
    store = InMemoryVectorStore(EMBEDDING)
    splitters = {
        "ours": OffsetTokenSplitter(chunk_size=16),
        "theirs": RecursiveCharacterTextSplitter(chunk_size=300, chunk_overlap=0),
    }
    for name in (first, *(splitters.keys() - {first})):
        index_documents(
            [Document(text, metadata={"source": "lease.txt"})],
            store,
            splitter=splitters[name],
            replace="same_settings",
        )

    assert document_source(store).get("lease.txt") == text
