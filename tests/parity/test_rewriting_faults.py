"""Chunks that something else altered are written anew, whichever call fails."""

from __future__ import annotations

import asyncio
import warnings
from collections.abc import Callable
from typing import Any

import pytest
from langchain_core.documents import Document as LangChainDocument
from langchain_core.embeddings import Embeddings
from langchain_core.vectorstores import InMemoryVectorStore, VectorStore
from llama_index.core import Document as LlamaIndexDocument
from llama_index.core import StorageContext, VectorStoreIndex
from llama_index.core.vector_stores import SimpleVectorStore

import langchain_oprag
import llamaindex_oprag
from oprag.documents import ChunkStore, rebuild
from oprag.errors import IndexingError, OpragWarning
from oprag.indexing import IndexingReport
from oprag.metadata import document_key
from tests.effort import FAULT_STEP
from tests.parity.test_indexing_faults import NodeModel, Outages
from tests.support.interrupted import content
from tests.support.killed_indexing import vector

TEXTS = {name: f"The text of {name}, in several chunks. " * 3 for name in "abc"}


class Model(Embeddings):
    def __init__(self, outages: Outages) -> None:
        self._outages = outages

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        self._outages.called()
        return [vector(text) for text in texts]

    def embed_query(self, text: str) -> list[float]:
        return vector(text)


def watched(base: type[VectorStore], outages: Outages) -> type[Any]:
    class Store(base):  # type: ignore[misc, valid-type] -- a parameter
        def add_documents(self, documents: Any, ids: Any = None, **kwargs: Any) -> Any:
            outages.called()
            return super().add_documents(documents, ids=ids, **kwargs)

        async def aadd_documents(
            self, documents: Any, ids: Any = None, **kwargs: Any
        ) -> Any:
            outages.called()
            return await super().aadd_documents(documents, ids=ids, **kwargs)

        def delete(self, ids: Any = None, **kwargs: Any) -> Any:
            outages.called()
            return super().delete(ids, **kwargs)

    return Store


class Place:
    """A store that is indexed into, whose chunks something else has altered."""

    def __init__(self, outages: Outages, *, awaited: bool) -> None:
        self.outages, self.awaited = outages, awaited
        self.index, self.chunks = self.made()

    def made(self) -> tuple[Callable[[], Any], ChunkStore]:
        raise NotImplementedError

    def alter(self) -> None:
        raise NotImplementedError

    def run(self) -> IndexingReport:
        result = self.index()
        return asyncio.run(result) if self.awaited else result

    def texts(self) -> dict[str, str]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", OpragWarning)
            return {
                name: rebuild(name, self.chunks.read({document_key(name): None})).text
                for name in TEXTS
            }


class LangChainPlace(Place):
    def store(self) -> Any:
        return watched(InMemoryVectorStore, self.outages)(Model(self.outages))

    def made(self) -> tuple[Callable[[], Any], ChunkStore]:
        documents = [
            LangChainDocument(text, metadata={"source": name})
            for name, text in TEXTS.items()
        ]
        store = self.store()
        index: Any = langchain_oprag.index_documents
        if self.awaited:
            index = langchain_oprag.aindex_documents
        splitter = langchain_oprag.OffsetTokenSplitter(chunk_size=4)
        chunks = langchain_oprag.chunk_store(store)
        return lambda: index(documents, store, splitter=splitter, batch_size=5), chunks

    def alter(self) -> None:
        for entry in self.chunks._store.store.values():
            entry["metadata"]["token_count"] = 99


class FaissPlace(LangChainPlace):
    def store(self) -> Any:
        faiss = pytest.importorskip("faiss")
        stores = pytest.importorskip("langchain_community.vectorstores")
        docstores = pytest.importorskip("langchain_community.docstore.in_memory")
        made = watched(stores.FAISS, self.outages)
        flat = faiss.IndexFlatL2(8)
        return made(Model(self.outages), flat, docstores.InMemoryDocstore(), {})

    def alter(self) -> None:
        for document in self.chunks._store.docstore._dict.values():
            document.metadata["token_count"] = 99


class LlamaIndexPlace(Place):
    def made(self) -> tuple[Callable[[], Any], ChunkStore]:
        outages = self.outages

        class Store(SimpleVectorStore):
            def add(self, nodes: Any, **kwargs: Any) -> Any:
                outages.called()
                return super().add(nodes, **kwargs)

            def delete_nodes(self, *args: Any, **kwargs: Any) -> None:
                outages.called()
                super().delete_nodes(*args, **kwargs)

        storage = StorageContext.from_defaults(vector_store=Store())
        model = NodeModel(asked=outages)
        over = VectorStoreIndex([], storage_context=storage, embed_model=model)
        documents = [
            LlamaIndexDocument(text=text, id_=name) for name, text in TEXTS.items()
        ]
        index: Any = llamaindex_oprag.index_documents
        if self.awaited:
            index = llamaindex_oprag.aindex_documents
        parser = llamaindex_oprag.OffsetTokenNodeParser(chunk_size=4)
        chunks = llamaindex_oprag.chunk_store(over)
        return lambda: index(documents, over, node_parser=parser, batch_size=5), chunks

    def alter(self) -> None:
        docstore = self.chunks._docstore
        for node in docstore.docs.values():
            node.metadata["token_count"] = 99
            docstore.add_documents([node])


def altered(make: type[Any], *, awaited: bool) -> Any:
    place = make(Outages(), awaited=awaited)
    place.run()
    place.alter()
    place.outages.calls = 0
    return place


def rows(chunks: ChunkStore) -> set[tuple[str, object]]:
    """What is held, whatever its ids and the rest of its metadata."""
    return {(chunk.text, chunk.metadata["chunk_index"]) for chunk in chunks.read()}


@pytest.mark.slow
@pytest.mark.parametrize("awaited", [False, True], ids=["sync", "async"])
@pytest.mark.parametrize("make", [LangChainPlace, FaissPlace, LlamaIndexPlace])
@pytest.mark.parametrize("times", [1, 1_000], ids=["once", "for ever"])
def test_no_chunk_is_lost_at_any_call_and_the_next_run_mends(make, awaited, times):
    whole = altered(make, awaited=awaited)
    before = rows(whole.chunks)
    assert whole.run().updated == tuple(TEXTS)
    calls = whole.outages.calls

    for number in range((2 * awaited + (times == 1)) % FAULT_STEP, calls, FAULT_STEP):
        place = altered(make, awaited=awaited)
        place.outages.failing = range(number, number + times)

        with warnings.catch_warnings():
            warnings.simplefilter("ignore", OpragWarning)
            try:
                place.run()
            except IndexingError:
                assert times > 1

        place.outages.failing = None
        assert place.texts() == TEXTS, number
        assert rows(place.chunks) == before
        if times > 1:
            place.run()
        assert content(place.chunks) == content(whole.chunks), number
