"""A store of either framework: filled, indexed into, searched and asked in one way."""

import asyncio
from collections.abc import Awaitable, Mapping, Sequence
from typing import Any, NamedTuple

from langchain_core.documents import Document
from langchain_core.messages import AIMessage
from langchain_core.vectorstores import InMemoryVectorStore
from llama_index.core import Document as LlamaDocument
from llama_index.core import StorageContext, VectorStoreIndex
from llama_index.core.schema import TextNode

import langchain_oprag
import llamaindex_oprag
from oprag.indexing import IndexingReport
from oprag.stores import ChunkStore, StoredChunk
from tests.kit.words import words
from tests.langchain.recording import RecordingChatModel
from tests.llamaindex.recording import RecordingLLM
from tests.real_stores.langchain_places import HashEmbeddings
from tests.real_stores.llamaindex_fakes import ChecksumEmbedding

BATCH = 5_000
"""Chunks added in one call; Chroma takes 5,461 at most."""


class Answer(NamedTuple):
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
    replaces = True
    """Whether a chunk that is added again is there once, as it is now."""
    deletes = True
    with_filter: Mapping[str, Any] = {}
    """More arguments of a search with a filter."""

    @property
    def chunks(self) -> ChunkStore:
        return self.package.chunk_store(self.documents)

    def index(self, texts: Any, *, awaited: bool = False, **options: Any) -> Any:
        """Index texts by name, a folder, or documents of the framework."""
        if awaited:
            return asyncio.run(self.aindex(texts, **options))
        given = self._loaded(texts), self.documents
        report: IndexingReport = self.package.index_documents(*given, **options)
        return report

    def aindex(self, texts: Any, **options: Any) -> Awaitable[IndexingReport]:
        return self.package.aindex_documents(
            self._loaded(texts), self.documents, **options
        )

    def _loaded(self, texts: Any) -> Any:
        if isinstance(texts, Mapping):
            return [self.document(*each) for each in texts.items()]
        return texts


class InLangChain(Held):
    package = langchain_oprag

    def __init__(self, store: Any = None) -> None:
        self.store = self.documents = store or InMemoryVectorStore(HashEmbeddings())

    def document(self, name: str, text: str) -> Document:
        return Document(text, metadata={"source": name, "size": len(text)})

    def splitting(
        self, size: int, *, packed: bool = False, **more: Any
    ) -> dict[str, Any]:
        """Options of `index` for chunks of so many tokens, or of whole sentences."""
        kind = "OffsetSentenceSplitter" if packed else "OffsetTokenSplitter"
        return {"splitter": getattr(langchain_oprag, kind)(chunk_size=size, **more)}

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
            search |= {"filter": where, **self.with_filter}
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
        """Self-Route with full documents out of the store."""
        return langchain_oprag.SelfRouteChain(
            llm=RecordingChatModel(replies=[*map(AIMessage, replies)]),
            retriever=retriever,
            **{"documents": self.documents, "token_counter": words, **options},
        )

    def ask(self, routed: Any, query: str = "?", *given: Any) -> Answer:
        result = routed.invoke(query, *given)
        texts = [each.page_content for each in result["context"]]
        return Answer(result["route"], texts, (result, routed.llm.calls))


class InLlamaIndex(Held):
    package = llamaindex_oprag

    def __init__(self, store: Any = None, **given: Any) -> None:
        """Make an index over a vector store.

        Args:
            store: Of vectors; in memory by default.
            **given: To the index: another embedding or document store.
        """
        docstore = given.pop("docstore", None)
        storage = StorageContext.from_defaults(vector_store=store, docstore=docstore)
        options = {"embed_model": ChecksumEmbedding(), **given}
        self.documents = VectorStoreIndex([], storage_context=storage, **options)
        self.store = self.documents.vector_store

    def document(self, name: str, text: str) -> LlamaDocument:
        return LlamaDocument(text=text, id_=name, metadata={"size": len(text)})

    def splitting(
        self, size: int, *, packed: bool = False, **more: Any
    ) -> dict[str, Any]:
        kind = "OffsetSentenceNodeParser" if packed else "OffsetTokenNodeParser"
        return {"node_parser": getattr(llamaindex_oprag, kind)(chunk_size=size, **more)}

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
            **{"documents": self.documents, "token_counter": words, **options},
        )

    def ask(self, routed: Any, query: str = "?", *given: Any) -> Answer:
        found = routed.query(query, *given)
        nodes = [each.to_dict() for each in found.source_nodes]
        prompts = routed._self_route.options.llm.prompts
        said = (nodes, found.metadata, str(found), prompts)
        texts = [each.node.text for each in found.source_nodes]
        return Answer(found.metadata["route"], texts, said)
