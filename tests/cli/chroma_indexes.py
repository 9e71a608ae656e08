"""Chroma directories as LangChain, LlamaIndex and chromadb itself write them."""

from pathlib import Path
from typing import Any

import chromadb
from chromadb.config import Settings
from langchain_chroma import Chroma
from langchain_core.embeddings import DeterministicFakeEmbedding
from llama_index.core import MockEmbedding, VectorStoreIndex
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


def llamaindex_index(folder: Path) -> VectorStoreIndex:
    collection = client(folder).get_or_create_collection("chunks")
    store = ChromaVectorStore(chroma_collection=collection)
    return VectorStoreIndex.from_vector_store(store, embed_model=MockEmbedding(8))
