"""Indexing into LlamaIndex indexes: again, after changes, after a crash."""

from typing import Any

import pytest
from llama_index.core import (
    Document,
    StorageContext,
    VectorStoreIndex,
    load_index_from_storage,
)
from llama_index.core.vector_stores import SimpleVectorStore
from llama_index.core.vector_stores.types import BasePydanticVectorStore

from llamaindex_oprag import index_documents
from llamaindex_oprag.stores import chunk_store
from oprag.documents import rebuild
from oprag.errors import IndexingError, InvalidOptionError
from oprag.metadata import document_key
from tests.real_stores.llamaindex_fakes import ChecksumEmbedding

TEXT = "One sentence. Another one! A third? " * 20


def new_index(**stores: Any) -> VectorStoreIndex:
    storage = StorageContext.from_defaults(**stores)
    return VectorStoreIndex(
        [], storage_context=storage, embed_model=ChecksumEmbedding()
    )


def texts_of(index: VectorStoreIndex, *names: str) -> list[str]:
    chunks = chunk_store(index)
    return [
        rebuild(name, chunks.read({document_key(name): None})).text for name in names
    ]


def document(name: str = "a.txt", text: str = TEXT, **metadata: Any) -> Document:
    return Document(text=text, id_=name, metadata=metadata)


def test_a_persisted_index_goes_on(tmp_path):
    index = new_index()
    index_documents([document("a"), document("b")], index)
    index.storage_context.persist(str(tmp_path / "index"))
    storage = StorageContext.from_defaults(persist_dir=str(tmp_path / "index"))
    loaded = load_index_from_storage(storage, embed_model=ChecksumEmbedding())

    report = index_documents([document("a", "New."), document("b")], loaded)

    assert (report.updated, report.unchanged) == (("a",), ("b",))
    assert report.chunks_added == 1


def test_nodes_of_another_index_over_one_docstore_do_not_count():
    index = new_index()
    index_documents([document()], index)

    report = index_documents([document()], new_index(docstore=index.docstore))

    assert report.added == ("a.txt",)


class WithoutDelete(SimpleVectorStore):
    delete_nodes = BasePydanticVectorStore.delete_nodes


def test_stores_that_cannot_be_indexed_into_are_refused():
    index = new_index(vector_store=WithoutDelete())

    with pytest.raises(InvalidOptionError, match="has no delete_nodes"):
        index_documents([document()], index)
    with pytest.raises(InvalidOptionError, match="takes a VectorStoreIndex"):
        index_documents([document()], SimpleVectorStore())


@pytest.mark.parametrize("wrapper", ["FaissVectorStore", "FaissMapVectorStore"])
def test_faiss_takes_new_documents_and_says_that_it_replaces_none(wrapper):
    faiss = pytest.importorskip("faiss")
    stores = pytest.importorskip("llama_index.vector_stores.faiss")
    flat = faiss.IndexFlatL2(8)
    vectors = flat if wrapper == "FaissVectorStore" else faiss.IndexIDMap2(flat)
    index = new_index(vector_store=getattr(stores, wrapper)(faiss_index=vectors))

    index_documents([document("a")], index)
    report = index_documents([document("a"), document("b")], index)

    assert (report.unchanged, report.added) == (("a",), ("b",))
    assert texts_of(index, "a", "b") == [TEXT, TEXT]
    with pytest.raises(IndexingError, match="Nothing can be deleted"):
        index_documents([document("a", "Changed.")], index)
    with pytest.raises(IndexingError, match="Nothing can be deleted"):
        index_documents([document("a")], index, remove_missing=True)
    assert texts_of(index, "a", "b") == [TEXT, TEXT]
