"""LangChain's `Document` to the core's `Hit`, and passages back to `Document`.

The only place that builds documents for what was retrieved. Each that goes out is a
new object that says where it stands; none that came in is ever written to.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from numbers import Real
from operator import attrgetter
from typing import Any, NamedTuple

from langchain_core.documents import Document

from oprag.chunk import Hit, Passage
from oprag.context import (
    ALONE,
    Arranged,
    ContextOptions,
    Neighbours,
    arrange,
    result_id,
    result_metadata,
)
from oprag.documents import StoredChunk, check_entries
from oprag.errors import InvalidOptionError, OpragError
from oprag.positions import NODE_CONTENT, SourceText, read_node

_ID = attrgetter("id")
_SCORE_KEYS = ("relevance_score", "score")
"""Where LangChain's rerankers and retrievers put a score."""


class Ordered(NamedTuple):
    """Documents put in order."""

    documents: list[Document]
    """As they are to be read."""
    used_all: bool
    """Whether every document that came is among them."""
    problems: tuple[OpragError, ...] = ()
    """See `oprag.context.assembly.Arranged`."""
    lacking: InvalidOptionError | None = None
    """Why nothing was read beside what was found."""
    unfilled: tuple[int | None, int] | None = None
    """A token budget, and the chunks that do not fill it; None where they may."""


def source_of(document: Document) -> SourceText:
    """Return what the core needs of a document that is to be split."""
    return SourceText(document.page_content, document.metadata, document.id)


def hits_of(documents: Iterable[Document]) -> list[Hit]:
    """Make hits of documents, best first.

    Of a chunk that LlamaIndex put into the store, source and offsets are those of
    the node that it keeps there as JSON.
    """
    return [_hit(document) for document in documents]


def _hit(document: Document) -> Hit:
    metadata = document.metadata
    hit = Hit(
        document.page_content, metadata, document, document, score=_score(metadata)
    )
    node = read_node(metadata) if NODE_CONTENT in metadata else None
    if node is None:
        return hit
    return hit._replace(document=node.document, offsets=node.offsets, frame=node.frame)


def put_in_order(
    documents: Sequence[Document],
    options: ContextOptions,
    *,
    neighbours: Neighbours = ALONE,
) -> Ordered:
    """Select, order and join retrieved documents.

    Args:
        documents: Best first.
        options: See `ContextOptions`.
        neighbours: See `oprag.context.arrange`.

    Returns:
        One new document per passage, with its place in the metadata; of one document
        that is in it as a whole, a copy.
    """
    try:
        hits = hits_of(documents)
    except (AttributeError, TypeError):
        check_entries("documents", documents, Document)
        raise
    arranged = arrange(hits, options, neighbours=neighbours)
    return ordered(arranged, neighbours)


def ordered(arranged: Arranged, neighbours: Neighbours = ALONE) -> Ordered:
    """Return one new document per passage; see `put_in_order`."""
    made = [document_of(passage) for passage in arranged.passages]
    return Ordered(made, arranged.used_all, arranged.problems, neighbours.lacking)


def stored_document(chunk: StoredChunk) -> Document:
    """Return a new document for a stored chunk."""
    return Document(chunk.text, id=chunk.id or None, metadata={**chunk.metadata})


def document_of(passage: Passage) -> Document:
    """Return the document for a passage, whatever it was made of."""
    objects = [chunk.source for chunk in passage.chunks]
    if not all(isinstance(each, Document) for each in objects):
        metadata = result_metadata(passage, _stored_id, whole=len(objects) == 1)
        return Document(passage.text, metadata=metadata)
    cut = any(chunk.text != chunk.source.page_content for chunk in passage.chunks)
    whole = len(objects) == 1 and not cut
    metadata = result_metadata(passage, _stored_id, whole=whole)
    if whole:
        # Of the same class, and in less time than a constructor takes.
        first: Document = objects[0]
        return first.model_copy(update={"metadata": metadata})
    # Whatever else a class of its own holds was that of the first document.
    id_ = result_id(passage, _ID, cut=cut)
    return Document(passage.text, id=id_, metadata=metadata)


def _stored_id(document: Any) -> str | None:
    """The id that a store knows a document by, or None."""
    if isinstance(document, Document):
        return stored_id(document)
    return None


def stored_id(document: Document) -> str:
    """Return the id that a store knows a document by; an empty one for none."""
    # Qdrant's stands in the metadata.
    return str(document.id or document.metadata.get("_id", ""))


def _score(metadata: Mapping[str, Any]) -> float | None:
    """The score as the retriever or reranker reported it."""
    for key in _SCORE_KEYS:
        value = metadata.get(key)
        # Most have none, and asking for `Real` takes long.
        if value is None or type(value) is bool:
            continue
        if isinstance(value, Real):
            return float(value)
    return None
