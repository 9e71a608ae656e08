"""An embedding that costs nothing, and a store with Pinecone's rules."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.bridge.pydantic import PrivateAttr
from llama_index.core.schema import BaseNode
from llama_index.core.vector_stores.types import (
    BasePydanticVectorStore,
    VectorStoreQuery,
    VectorStoreQueryResult,
)
from llama_index.core.vector_stores.utils import (
    build_metadata_filter_fn,
    metadata_dict_to_node,
    node_to_metadata_dict,
)

from tests.stores.sources import pinecone_metadata, vector


class ChecksumEmbedding(BaseEmbedding):
    def _get_text_embedding(self, text: str) -> list[float]:
        return vector(text)

    def _get_query_embedding(self, query: str) -> list[float]:
        return vector(query)

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return vector(query)


class PineconeRulesStore(BasePydanticVectorStore):
    """Keeps nodes as LlamaIndex's Pinecone store does, by Pinecone's rules."""

    stores_text: bool = True
    flat_metadata: bool = False
    _rows: dict[str, tuple[list[float], dict[str, Any]]] = PrivateAttr(
        default_factory=dict
    )

    @property
    def client(self) -> Any:
        return self._rows

    def add(self, nodes: Sequence[BaseNode], **add_kwargs: Any) -> list[str]:
        for node in nodes:
            metadata = node_to_metadata_dict(node, remove_text=False)
            row = (node.get_embedding(), pinecone_metadata(metadata))
            self._rows[node.node_id] = row
        return [node.node_id for node in nodes]

    def delete(self, ref_doc_id: str, **delete_kwargs: Any) -> None:
        for key, (_, metadata) in list(self._rows.items()):
            if metadata["ref_doc_id"] == ref_doc_id:
                del self._rows[key]

    def query(self, query: VectorStoreQuery, **kwargs: Any) -> VectorStoreQueryResult:
        keeps = build_metadata_filter_fn(lambda key: self._rows[key][1], query.filters)
        scored = sorted(
            (
                (sum(map(_product, query.query_embedding or (), embedding)), key)
                for key, (embedding, _) in list(self._rows.items())
                if keeps(key)
            ),
            reverse=True,
        )[: query.similarity_top_k]
        return VectorStoreQueryResult(
            nodes=[metadata_dict_to_node(self._rows[key][1]) for _, key in scored],
            similarities=[score for score, _ in scored],
            ids=[key for _, key in scored],
        )


def _product(left: float, right: float) -> float:
    return left * right
