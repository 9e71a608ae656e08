"""Every store of both frameworks, filled, indexed into and asked in one way."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import pytest
from langchain_core.documents import Document
from langchain_core.messages import AIMessage
from llama_index.core import Document as LlamaDocument
from llama_index.core import StorageContext, VectorStoreIndex
from llama_index.core.schema import TextNode

import langchain_oprag
import llamaindex_oprag
from oprag.documents import ChunkStore, StoredChunk
from oprag.indexing import IndexingReport
from tests.kit.words import words
from tests.langchain.recording import RecordingChatModel
from tests.llamaindex.recording import RecordingLLM
from tests.stores.langchain_places import PLACES, Place, filters_of
from tests.stores.llamaindex_fakes import ChecksumEmbedding
from tests.stores.llamaindex_places import LLAMAINDEX_STORES, metadata_filters

BATCH = 5_000
"""Chunks added in one call; Chroma takes 5,461 at most."""
AWAITED = ("SimpleVectorStore", "FaissVectorStore", "ChromaVectorStore")
"""The others of LlamaIndex search by async clients, each in one event loop alone."""


def everywhere(wanted: Callable[[Place], bool] = lambda _: True) -> list[Any]:
    """Parameters: each place that is wanted."""
    places = (*PLACES, *LLAMAINDEX_STORES)
    return [pytest.param(each, id=each.id) for each in places if wanted(each)]


def opened(place: Place, request: pytest.FixtureRequest) -> Held:
    """An empty store."""
    return (InLangChain if place in PLACES else InLlamaIndex)(place, request)


class Answer(NamedTuple):
    """The outcome of Self-Route."""

    route: dict[str, Any]
    texts: list[str]
    """Those that were read at the end."""
    everything: Any
    """All that it shows, to the model and to the user."""


class Held:
    """A store, and all that is done with it through its framework."""

    package: Any
    documents: Any
    """The argument of `documents=`: the store, or the index."""
    store: Any
    filters: tuple[Any, ...]
    """They admit tenant a and not b."""
    awaits = True
    """Whether it can be searched in several event loops."""
    replaces = True
    """Whether a chunk that is added again is there once, as it is now."""
    deletes = True

    @property
    def chunks(self) -> ChunkStore:
        return self.package.chunk_store(self.documents)

    def index(
        self, texts: Mapping[str, str], *, awaited: bool = False, **options: Any
    ) -> IndexingReport:
        """Index texts by name."""
        given = [self.document(*each) for each in texts.items()], self.documents
        if awaited:
            return asyncio.run(self.package.aindex_documents(*given, **options))
        return self.package.index_documents(*given, **options)

    def document(self, name: str, text: str) -> Any:
        raise NotImplementedError

    def add(self, chunks: Sequence[StoredChunk]) -> None:
        raise NotImplementedError

    def delete(self, ids: list[str]) -> None:
        raise NotImplementedError

    def search(self, k: int, where: Any = None, **given: Any) -> Any:
        """A retriever of the framework."""
        raise NotImplementedError

    def ordered(self, base: Any, **options: Any) -> Any:
        raise NotImplementedError

    def find(self, retriever: Any, query: str = "?") -> list[StoredChunk]:
        raise NotImplementedError

    async def afind(self, retriever: Any, query: str = "?") -> list[StoredChunk]:
        raise NotImplementedError

    def routed(self, retriever: Any, *replies: str, **options: Any) -> Any:
        """Self-Route with full documents out of the store."""
        raise NotImplementedError

    def ask(self, routed: Any, query: str = "?") -> Answer:
        raise NotImplementedError


class InLangChain(Held):
    package = langchain_oprag

    def __init__(self, place: Place, request: pytest.FixtureRequest) -> None:
        self.store = self.documents = place.make(request)
        self.filters = filters_of(place.id)
        self.replaces = not (faiss := "faiss" in place.id)
        self.given = {"fetch_k": 1_000} if faiss else {}

    def document(self, name: str, text: str) -> Document:
        return Document(text, metadata={"source": name, "size": len(text)})

    def add(self, chunks: Sequence[StoredChunk]) -> None:
        documents = [
            Document(c.text, id=c.id, metadata=dict(c.metadata)) for c in chunks
        ]
        for start in range(0, len(documents), BATCH):
            batch = documents[start : start + BATCH]
            self.store.add_documents(batch, ids=[each.id for each in batch])

    def delete(self, ids: list[str]) -> None:
        self.store.delete(ids)

    def search(self, k: int, where: Any = None, **given: Any) -> Any:
        search = {"k": k, **given}
        if where is not None:
            search |= {"filter": where, **self.given}
        return self.store.as_retriever(search_kwargs=search)

    def ordered(self, base: Any, **options: Any) -> Any:
        return langchain_oprag.OrderPreservingRetriever(base_retriever=base, **options)

    def find(self, retriever: Any, query: str = "?") -> list[StoredChunk]:
        found = retriever.invoke(query)
        return [StoredChunk(d.page_content, d.metadata, d.id or "") for d in found]

    async def afind(self, retriever: Any, query: str = "?") -> list[StoredChunk]:
        found = await retriever.ainvoke(query)
        return [StoredChunk(d.page_content, d.metadata, d.id or "") for d in found]

    def routed(self, retriever: Any, *replies: str, **options: Any) -> Any:
        return langchain_oprag.SelfRouteChain(
            llm=RecordingChatModel(replies=[*map(AIMessage, replies)]),
            retriever=retriever,
            documents=self.documents,
            token_counter=words,
            **options,
        )

    def ask(self, routed: Any, query: str = "?") -> Answer:
        result = routed.invoke(query)
        texts = [each.page_content for each in result["context"]]
        return Answer(result["route"], texts, (result, routed.llm.calls))


class InLlamaIndex(Held):
    package = llamaindex_oprag

    def __init__(self, place: Place, request: pytest.FixtureRequest) -> None:
        self.store = place.make(request)
        self.documents = VectorStoreIndex(
            [],
            storage_context=StorageContext.from_defaults(vector_store=self.store),
            embed_model=ChecksumEmbedding(),
        )
        self.deletes = "faiss" not in place.id
        self.filters = metadata_filters() if self.deletes else ()
        self.awaits = type(self.store).__name__ in AWAITED
        self.replaces = bool(re.search("simple|qdrant", place.id))

    def document(self, name: str, text: str) -> LlamaDocument:
        return LlamaDocument(text=text, id_=name, metadata={"size": len(text)})

    def add(self, chunks: Sequence[StoredChunk]) -> None:
        self.documents.insert_nodes(
            [
                TextNode(
                    text=chunk.text,
                    id_=chunk.id,
                    metadata=dict(chunk.metadata),
                    excluded_llm_metadata_keys=[*chunk.metadata],
                    excluded_embed_metadata_keys=[*chunk.metadata],
                )
                for chunk in chunks
            ]
        )

    def delete(self, ids: list[str]) -> None:
        self.documents.delete_nodes(ids, delete_from_docstore=True)

    def search(self, k: int, where: Any = None, **given: Any) -> Any:
        return self.documents.as_retriever(similarity_top_k=k, filters=where, **given)

    def ordered(self, base: Any, **options: Any) -> Any:
        return llamaindex_oprag.OrderPreservingRetriever(base, **options)

    def find(self, retriever: Any, query: str = "?") -> list[StoredChunk]:
        found = retriever.retrieve(query)
        return [StoredChunk(n.node.text, n.metadata, n.node_id) for n in found]

    async def afind(self, retriever: Any, query: str = "?") -> list[StoredChunk]:
        found = await retriever.aretrieve(query)
        return [StoredChunk(n.node.text, n.metadata, n.node_id) for n in found]

    def routed(self, retriever: Any, *replies: str, **options: Any) -> Any:
        return llamaindex_oprag.SelfRouteQueryEngine.from_args(
            retriever,
            RecordingLLM(replies=list(replies)),
            documents=self.documents,
            token_counter=words,
            **options,
        )

    def ask(self, routed: Any, query: str = "?") -> Answer:
        found = routed.query(query)
        nodes = [each.to_dict() for each in found.source_nodes]
        said = (nodes, found.metadata, str(found), routed._self_route.options.llm)
        texts = [each.node.text for each in found.source_nodes]
        return Answer(found.metadata["route"], texts, said)
