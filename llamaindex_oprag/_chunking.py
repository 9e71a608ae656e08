"""LlamaIndex documents as the core indexes them."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from typing import Any

from llama_index.core.node_parser import NodeParser
from llama_index.core.schema import (
    BaseNode,
    Document,
    NodeRelationship,
    ObjectType,
    RelatedNodeInfo,
    TextNode,
)

from llamaindex_oprag._convert import excluding, text_of
from llamaindex_oprag._offset_parser import OffsetNodeParser
from oprag.errors import InvalidOptionError
from oprag.indexing import Framework, Piece, WantedChunk
from oprag.metadata import CHAR_END, CHAR_START
from oprag.positions import SourceText

_LEVELS = (NodeRelationship.PARENT, NodeRelationship.CHILD)

_RANDOM = 4
"""The version of the UUIDs that LlamaIndex gives to documents without an id."""


class LlamaIndex(Framework[Document]):
    """How LlamaIndex's documents are read, made and parsed.

    Args:
        node_parser: Any of one level; of other parsers than oprag's the positions are
            found.
    """

    document_type = Document
    takes = "LlamaIndex Documents"
    # LlamaIndex writes them into every store.
    reserved = frozenset(
        {"_node_content", "_node_type", "doc_id", "document_id", "ref_doc_id"}
    )

    def __init__(self, node_parser: NodeParser) -> None:
        self.splitter: NodeParser = node_parser
        self.exact = isinstance(node_parser, OffsetNodeParser)

    def read(self, document: Document) -> SourceText:
        random = _is_random(document.node_id)
        return SourceText(
            text_of(document), document.metadata, None if random else document.node_id
        )

    def make(
        self, text: str, own_id: str, metadata: dict[str, Any], like: Document | None
    ) -> Document:
        like = Document(text=text, id_=own_id) if like is None else like
        changes: dict[str, Any] = {
            "id_": own_id if _is_random(like.node_id) else like.node_id,
            "metadata": metadata,
            "relationships": {},
            # Parsers would count what they show of the metadata.
            **_hidden(like, metadata),
        }
        return like.model_copy(update=changes)

    def split(self, documents: Sequence[Document]) -> list[Piece]:
        nodes = self.splitter.get_nodes_from_documents(documents)
        for node in nodes:
            self._refuse_levels(node)
        return [Piece(text_of(node), node.metadata, node) for node in nodes]

    def finished(self, chunks: list[WantedChunk]) -> list[WantedChunk]:
        """Give the nodes their ids, links and what is hidden of the metadata."""
        linked = self.splitter.include_prev_next_rel
        before = [None, *chunks[:-1]] if linked else [None] * len(chunks)
        behind = [*chunks[1:], None] if linked else [None] * len(chunks)
        return [
            chunk._replace(source=_node(chunk, previous, following))
            for chunk, previous, following in zip(chunks, before, behind, strict=True)
        ]

    def _refuse_levels(self, node: BaseNode) -> None:
        related = node.relationships
        if isinstance(node, TextNode) and not any(kind in related for kind in _LEVELS):
            return
        name = type(self.splitter).__name__
        message = (
            f"{name} makes nodes of several levels, or nodes that are no texts; here "
            "every node is one piece of its document. Take another parser, or build "
            "such an index with PositionAnnotator."
        )
        raise InvalidOptionError(message, option="node_parser", value=name)


def _node(
    chunk: WantedChunk, previous: WantedChunk | None, following: WantedChunk | None
) -> BaseNode:
    """The node as the store gets it; LlamaIndex would put neighbours' metadata in."""
    node: BaseNode = chunk.source
    source = None if node.source_node is None else node.source_node.node_id
    related = [
        (NodeRelationship.PREVIOUS, previous and previous.id, ObjectType.TEXT),
        (NodeRelationship.NEXT, following and following.id, ObjectType.TEXT),
        (NodeRelationship.SOURCE, source, ObjectType.DOCUMENT),
    ]
    metadata = dict(chunk.metadata)
    changes: dict[str, Any] = {
        "id_": chunk.id,
        "embedding": None,
        "metadata": metadata,
        "relationships": {
            kind: RelatedNodeInfo(node_id=other, node_type=what)
            for kind, other, what in related
            if other is not None
        },
        "start_char_idx": metadata.get(CHAR_START),
        "end_char_idx": metadata.get(CHAR_END),
        **_hidden(node, metadata),
    }
    return node.model_copy(update=changes)


def _hidden(node: BaseNode, metadata: dict[str, Any]) -> dict[str, list[str]]:
    llm, embed = node.excluded_llm_metadata_keys, node.excluded_embed_metadata_keys
    return {
        "excluded_llm_metadata_keys": excluding(llm, metadata),
        "excluded_embed_metadata_keys": excluding(embed, metadata),
    }


def _is_random(document_id: str) -> bool:
    try:
        known = uuid.UUID(document_id)
    except ValueError:
        return False
    return known.version == _RANDOM and str(known) == document_id
