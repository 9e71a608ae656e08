"""Full texts from LangChain's stores, and from all that the core takes."""

import pytest
from langchain_core.documents import Document
from langchain_core.stores import InMemoryByteStore, InMemoryStore
from langchain_core.vectorstores import InMemoryVectorStore

from langchain_oprag import document_source
from oprag.errors import DocumentNotFoundError, InvalidOptionError
from oprag.sources import DocumentSource
from tests.langchain.corpus import EMBEDDING

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


async def test_an_async_function_is_awaited():
    source = document_source(find)

    assert await source.aget(NAME) == TEXT
    with pytest.raises(DocumentNotFoundError):
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

    with pytest.raises(InvalidOptionError, match="not UTF-8"):
        source.get(NAME)


def test_a_value_that_is_no_text_is_refused():
    source = document_source(store_of({"text": TEXT}))

    with pytest.raises(InvalidOptionError, match="dict"):
        source.get(NAME)


def test_a_vector_store_holds_no_full_texts():
    with pytest.raises(InvalidOptionError, match="InMemoryVectorStore holds chunks"):
        document_source(InMemoryVectorStore(EMBEDDING))


def test_what_holds_no_texts_is_refused():
    with pytest.raises(InvalidOptionError, match="gives no full texts"):
        document_source(7)
