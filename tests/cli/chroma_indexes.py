"""Chroma directories as LangChain, LlamaIndex and chromadb itself write them."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import chromadb
from chromadb.config import Settings
from langchain_chroma import Chroma
from langchain_core.documents import Document
from langchain_core.embeddings import DeterministicFakeEmbedding
from llama_index.core import MockEmbedding, StorageContext, VectorStoreIndex
from llama_index.core.schema import NodeRelationship, RelatedNodeInfo, TextNode
from llama_index.vector_stores.chroma import ChromaVectorStore

EMBEDDING = DeterministicFakeEmbedding(size=8)


def client(folder: Path) -> Any:
    return chromadb.PersistentClient(
        str(folder), settings=Settings(anonymized_telemetry=False)
    )


def rows(folder: Path, name: str = "chunks") -> dict[str, dict[str, Any]]:
    found = client(folder).get_collection(name).get()
    return dict(zip(found["ids"], found["metadatas"], strict=True))


def everything(folder: Path) -> dict[str, Any]:
    """Ids, texts and vectors: what a repair must not touch."""
    collection = client(folder).get_collection("chunks")
    found = collection.get(include=["documents", "embeddings"])
    return {
        chunk_id: (text, vector.tolist())
        for chunk_id, text, vector in zip(
            found["ids"], found["documents"], found["embeddings"], strict=True
        )
    }


def langchain_store(folder: Path) -> Chroma:
    return Chroma(
        "chunks",
        EMBEDDING,
        persist_directory=str(folder),
        client_settings=Settings(anonymized_telemetry=False),
    )


def write_langchain(
    folder: Path,
    texts: Sequence[str],
    metadatas: Sequence[Mapping[str, Any]],
    ids: Sequence[str] | None = None,
) -> Chroma:
    store = langchain_store(folder)
    documents = [
        Document(text, metadata=dict(metadata))
        for text, metadata in zip(texts, metadatas, strict=True)
    ]
    store.add_documents(
        documents, ids=list(ids or (f"id-{number}" for number in range(len(texts))))
    )
    return store


def nodes_without_positions(
    texts: Mapping[str, Sequence[str]], metadata: Mapping[str, Any] | None = None
) -> list[TextNode]:
    """Nodes as LlamaIndex makes them, without offsets, PREVIOUS and NEXT.

    `texts` are the chunks by the id of their document. Ids are `document/number`.
    """
    return [
        TextNode(
            id_=f"{document}/{number}",
            text=text,
            metadata=dict(metadata or {}),
            relationships={NodeRelationship.SOURCE: RelatedNodeInfo(node_id=document)},
        )
        for document, chunks in texts.items()
        for number, text in enumerate(chunks)
    ]


def llamaindex_store(folder: Path) -> ChromaVectorStore:
    collection = client(folder).get_or_create_collection("chunks")
    return ChromaVectorStore(chroma_collection=collection)


def llamaindex_index(folder: Path) -> VectorStoreIndex:
    return VectorStoreIndex.from_vector_store(
        llamaindex_store(folder), embed_model=MockEmbedding(embed_dim=8)
    )


def write_llamaindex(folder: Path, nodes: Sequence[TextNode]) -> VectorStoreIndex:
    context = StorageContext.from_defaults(vector_store=llamaindex_store(folder))
    return VectorStoreIndex(
        list(nodes), storage_context=context, embed_model=MockEmbedding(embed_dim=8)
    )
