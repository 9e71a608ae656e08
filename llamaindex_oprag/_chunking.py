"""LlamaIndex documents as the nodes that an index is to hold."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Iterator, Mapping, Sequence
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

from llamaindex_oprag._convert import excluding
from llamaindex_oprag._given_documents import Documents, named_documents
from llamaindex_oprag._offset_parser import OffsetNodeParser
from llamaindex_oprag._parts import group_parts, text_of
from oprag.errors import InvalidOptionError, UnlocatedChunksWarning, UnreadableFileError
from oprag.indexing import (
    Readable,
    UnsupportedMetadata,
    WantedChunk,
    WantedDocument,
    flat_metadata,
)
from oprag.locating import SourcePart, annotate_chunks, replaced, unlocated_message
from oprag.metadata import CHAR_END, CHAR_START, CHUNK_INDEX, chunk_id

_RESERVED = frozenset(
    {"_node_content", "_node_type", "doc_id", "document_id", "ref_doc_id"}
)
"""Keys that LlamaIndex writes into every store, whatever stands there."""

_LEVELS = (NodeRelationship.PARENT, NodeRelationship.CHILD)


def chunked_documents(
    documents: Documents,
    node_parser: NodeParser,
    unsupported_metadata: UnsupportedMetadata,
) -> Iterator[Readable]:
    """Read, group and parse documents, one at a time.

    Args:
        documents: As `index_documents` takes them.
        node_parser: Any; of other parsers than oprag's the positions are found.
        unsupported_metadata: See `flat_metadata`.

    Yields:
        Each document with all its chunks, or the reason why a file is passed over.

    Raises:
        InvalidOptionError: The parser makes nodes of several levels.
        OpragError: As `named_documents` and `flat_metadata` raise it.
    """
    for given in named_documents(documents):
        if isinstance(given, UnreadableFileError):
            yield given
            continue
        name, parts = given
        if all(not text_of(part).strip() for part in parts):
            yield WantedDocument(name, [])
            continue
        nodes = _parsed(name, parts, node_parser)
        ids = [chunk_id(name, index) for index in range(len(nodes))]
        chunks = []
        for index, node in enumerate(nodes):
            metadata = flat_metadata(
                node.metadata,
                document=name,
                unsupported_metadata=unsupported_metadata,
                reserved=_RESERVED,
            )
            links = _links(ids, index) if node_parser.include_prev_next_rel else {}
            made = _final(node, ids[index], metadata, links)
            chunks.append(WantedChunk(ids[index], text_of(made), metadata, made))
        yield WantedDocument(name, chunks)


def _parsed(
    name: str, documents: Sequence[Document], node_parser: NodeParser
) -> list[BaseNode]:
    """All nodes of a document in reading order, each with its place."""
    if isinstance(node_parser, OffsetNodeParser):
        made = node_parser.get_nodes_from_documents(documents)
        return sorted(made, key=lambda node: int(node.metadata[CHUNK_INDEX]))
    (parts,) = group_parts(documents)
    rows = [
        node_parser.get_nodes_from_documents([documents[part.place]]) for part in parts
    ]
    for node in itertools.chain(*rows):
        _refuse_levels(node, node_parser)
    written, located = annotate_chunks(
        name,
        [
            SourcePart(text_of(part.node), [text_of(node) for node in row], part.number)
            for part, row in zip(parts, rows, strict=True)
        ],
    )
    message = unlocated_message(name, list(itertools.chain(*located)))
    if message is not None:
        warnings.warn(message, UnlocatedChunksWarning, stacklevel=2)
    return [
        node.model_copy(update={"metadata": replaced(node.metadata, entry)})
        for row, entries in zip(rows, written, strict=True)
        for node, entry in zip(row, entries, strict=True)
    ]


def _refuse_levels(node: BaseNode, node_parser: NodeParser) -> None:
    if not isinstance(node, TextNode) or any(k in node.relationships for k in _LEVELS):
        name = type(node_parser).__name__
        message = (
            f"{name} makes nodes of several levels, or nodes that are no texts; here "
            "every node is one piece of its document. Take another parser, or build "
            "such an index with PositionAnnotator."
        )
        raise InvalidOptionError(message, option="node_parser", value=name)


def _links(ids: Sequence[str], index: int) -> dict[NodeRelationship, RelatedNodeInfo]:
    """Ids of the neighbours. LlamaIndex would put their metadata here as well."""
    links = {}
    for relation, beside in (
        (NodeRelationship.PREVIOUS, index - 1),
        (NodeRelationship.NEXT, index + 1),
    ):
        if 0 <= beside < len(ids):
            links[relation] = RelatedNodeInfo(
                node_id=ids[beside], node_type=ObjectType.TEXT
            )
    return links


def _final(
    node: BaseNode,
    node_id: str,
    metadata: Mapping[str, str | int | float],
    links: Mapping[NodeRelationship, RelatedNodeInfo],
) -> BaseNode:
    relationships: dict[NodeRelationship, Any] = dict(links)
    if (source := node.source_node) is not None:
        relationships[NodeRelationship.SOURCE] = RelatedNodeInfo(
            node_id=source.node_id, node_type=ObjectType.DOCUMENT
        )
    own = dict(metadata)
    changes: dict[str, Any] = {
        "id_": node_id,
        "embedding": None,
        "metadata": own,
        "relationships": relationships,
        "excluded_llm_metadata_keys": excluding(node.excluded_llm_metadata_keys, own),
        "excluded_embed_metadata_keys": excluding(
            node.excluded_embed_metadata_keys, own
        ),
        "start_char_idx": metadata.get(CHAR_START),
        "end_char_idx": metadata.get(CHAR_END),
    }
    return node.model_copy(update=changes)
