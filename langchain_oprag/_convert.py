"""LangChain's `Document` to the core's `Hit`, and passages back to `Document`.

The only place that builds documents for what was retrieved. A document that stays
as it is goes out as the object that came in; none is ever written to.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Mapping, Sequence
from numbers import Real
from typing import Any

from langchain_core.documents import Document

from oprag.assembly import falling_scores
from oprag.chunk import Passage
from oprag.hit import Hit
from oprag.metadata import (
    CHAR_END,
    CHAR_SPANS,
    CHAR_START,
    PART_INDEX,
    TOKEN_COUNT,
    TOKEN_COUNTER,
)
from oprag.node_content import read_node
from oprag.rendering import marked_texts

__all__ = ["documents_of", "hits_of"]


_SCORE_KEYS = ("relevance_score", "score")
"""Where LangChain's rerankers and retrievers put a score."""

_ORIGINAL = "original_"
"""Put before a key whose value `rescore` replaced."""


def hits_of(documents: Iterable[Document]) -> list[Hit]:
    """Make hits of documents, best first.

    Of a chunk that LlamaIndex put into the store, source and offsets are those of
    the node that it keeps there as JSON.
    """
    return [_hit(document) for document in documents]


def _hit(document: Document) -> Hit:
    hit = Hit(
        document.page_content,
        document.metadata,
        source=document,
        subject=document,
        score=_score(document.metadata),
    )
    node = read_node(document.metadata)
    if node is None:
        return hit
    return hit._replace(document=node.document, offsets=node.offsets, frame=node.frame)


def documents_of(
    passages: Sequence[Passage],
    *,
    gap_mark: str | None,
    separator: str,
    rescore: str | None,
) -> list[Document]:
    """Make documents of passages.

    Args:
        passages: In the order to keep.
        gap_mark: See `marked_texts`.
        separator: See `marked_texts`.
        rescore: Metadata key to write falling scores to; None for none. The value
            that was there is kept under `original_<key>`.

    Returns:
        One document per passage: the object that was retrieved where neither its
        text nor its metadata changes, else a new one with the metadata of the
        passage's first document.
    """
    texts = marked_texts(passages, gap_mark=gap_mark, separator=separator)
    scores = falling_scores(len(passages))
    return [
        _document(passage, text, {} if rescore is None else {rescore: score})
        for passage, text, score in zip(passages, texts, scores, strict=True)
    ]


def _document(passage: Passage, text: str, scores: Mapping[str, float]) -> Document:
    first: Document = passage.chunks[0].source
    metadata = dict(first.metadata)
    if text != first.page_content:
        metadata.update(_place(passage))
        # They counted the text that is replaced.
        metadata.pop(TOKEN_COUNT, None)
        metadata.pop(TOKEN_COUNTER, None)
    for key, score in scores.items():
        if key in metadata and metadata[key] != score:
            metadata.setdefault(_ORIGINAL + key, metadata[key])
        metadata[key] = score
    if text == first.page_content and metadata == first.metadata:
        return first
    return Document(text, id=_id(passage), metadata=metadata)


def _id(passage: Passage) -> str | None:
    """The id of the document, or one made of the ids of those that were merged."""
    ids = [chunk.source.id for chunk in passage.chunks]
    # A slice has metadata of its own; other slices of the document have other ids.
    whole = all(c.metadata is c.source.metadata for c in passage.chunks)
    if None in ids or (len(ids) == 1 and whole):
        return ids[0] if whole and len(ids) == 1 else None
    if not whole:
        ids += [f"{start}-{end}" for start, end in passage.spans]
    return str(uuid.uuid5(uuid.NAMESPACE_OID, "\n".join(ids)))


def _place(passage: Passage) -> dict[str, int | str]:
    """The passage's spans as flat metadata, with the part they are relative to."""
    if not passage.spans:
        return {}
    place: dict[str, int | str] = {
        CHAR_START: passage.spans[0].start,
        CHAR_END: passage.spans[-1].end,
    }
    if passage.part is not None:
        place[PART_INDEX] = passage.part
    if len(passage.spans) > 1:
        spans = (f"{start}-{end}" for start, end in passage.spans)
        place[CHAR_SPANS] = ",".join(spans)
    return place


def _score(metadata: Mapping[str, Any]) -> float | None:
    """The score as the retriever or reranker reported it, before any `rescore`."""
    for key in _SCORE_KEYS:
        for name in (_ORIGINAL + key, key):
            value = metadata.get(name)
            if type(value) is not bool and isinstance(value, Real):
                return float(value)
    return None
