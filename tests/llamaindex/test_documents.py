"""Full documents out of whatever a LlamaIndex application has."""

from __future__ import annotations

import pytest
from llama_index.core import Document, StorageContext, VectorStoreIndex
from llama_index.core.ingestion import DocstoreStrategy, IngestionPipeline
from llama_index.core.storage.docstore import SimpleDocumentStore

from llamaindex_oprag.documents import document_source
from oprag.errors import DocumentNotFoundError, InvalidOptionError
from oprag.sources import DocumentSource
from tests.llamaindex.corpus import TEXT, clause_parser, document, index
from tests.llamaindex.recording import WordEmbedding


def docstore(*documents: Document) -> SimpleDocumentStore:
    store = SimpleDocumentStore()
    store.add_documents(list(documents) or [document()])
    return store


async def both(source: DocumentSource, name: str = "lease.txt") -> str:
    """What `get` gives, which `aget` gives, too."""
    text = source.get(name)
    assert await source.aget(name) == text
    return text


async def neither(source: DocumentSource, name: str, fault: str) -> None:
    with pytest.raises(DocumentNotFoundError, match=fault) as error:
        source.get(name)
    assert error.value.document == name
    with pytest.raises(DocumentNotFoundError, match=fault):
        await source.aget(name)


async def test_a_docstore_with_the_documents():
    assert await both(document_source(docstore())) == TEXT


async def test_the_docstore_of_an_ingestion_pipeline():
    store = SimpleDocumentStore()
    pipeline = IngestionPipeline(
        transformations=[clause_parser()],
        docstore=store,
        docstore_strategy=DocstoreStrategy.DUPLICATES_ONLY,
    )
    pipeline.run(documents=[document(author="Ada")])

    assert await both(document_source(store)) == TEXT


async def test_an_index_over_a_docstore_that_has_them_too():
    store = docstore()
    both_in_one = VectorStoreIndex.from_documents(
        [document()],
        storage_context=StorageContext.from_defaults(docstore=store),
        transformations=[clause_parser()],
        embed_model=WordEmbedding(),
    )

    assert len(store.docs) == 41
    assert await both(document_source(both_in_one)) == TEXT


async def test_the_docstore_of_an_index_alone_holds_chunks():
    source = document_source(index())

    await neither(source, "lease.txt", "holds its chunks.*Keep the full documents")


async def test_a_chunk_is_no_document():
    store = index()
    chunk = next(iter(store.docstore.docs))

    await neither(document_source(store), chunk, "holds a chunk by this name")


async def test_a_name_that_nobody_knows():
    await neither(document_source(docstore()), "other.txt", r"no document 'other\.txt'")


async def test_what_the_core_takes(tmp_path):
    (tmp_path / "lease.txt").write_bytes(b"on disk\r\n")

    assert await both(document_source({"lease.txt": "in a mapping"})) == "in a mapping"
    assert await both(document_source(lambda name: f"made for {name}")) == (
        "made for lease.txt"
    )
    assert await both(document_source(tmp_path)) == "on disk\r\n"
    source = document_source({})
    assert document_source(source) is source


def test_what_gives_chunks_is_refused():
    store = index()

    for chunks in (store.as_retriever(), store.vector_store):
        with pytest.raises(InvalidOptionError, match="gives chunks, not full texts"):
            document_source(chunks)  # type: ignore[arg-type]  # the point of the test


def test_what_gives_nothing_is_refused():
    with pytest.raises(InvalidOptionError, match="documents="):
        document_source(7)  # type: ignore[arg-type]  # the point of the test


async def test_an_empty_document_is_one():
    assert await both(document_source(docstore(document("e", ""))), "e") == ""
