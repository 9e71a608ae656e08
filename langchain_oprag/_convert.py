"""LangChain's `Document` to the core's `Hit`, and passages back to `Document`.

The only place that builds documents for what was retrieved. A document that stays
as it is goes out as the object that came in; none is ever written to.
"""

from __future__ import annotations

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
    named_id,
)
from oprag.node_content import NODE_CONTENT, read_node
from oprag.options import ContextOptions
from oprag.plain_case import plain_case, plain_passage
from oprag.rendering import marked_texts

__all__ = ["documents_of", "hits_of", "plain_documents"]


_ORIGINAL = "original_"
"""Put before a key whose value `rescore` replaced."""

_SCORE_KEYS = tuple(
    prefix + key for key in ("relevance_score", "score") for prefix in (_ORIGINAL, "")
)
"""Where LangChain's rerankers and retrievers put a score, before any `rescore`."""


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


def plain_documents(
    documents: Sequence[Document], options: ContextOptions, *, rescore: str | None
) -> tuple[list[Document], bool] | None:
    """Put documents in order where `plain_case` can tell.

    Args:
        documents: Best first.
        options: See `ContextOptions`.
        rescore: As for `documents_of`.

    Returns:
        What `hits_of`, `assemble` and `documents_of` make of them, and whether every
        document is among them; None where these have to be asked.
    """
    texts = [document.page_content for document in documents]
    metadatas = [document.metadata for document in documents]
    found = plain_case(texts, metadatas, options)
    if found is None:
        return None
    made = []
    for run, score in zip(found.runs, falling_scores(len(found.runs)), strict=True):
        first = documents[run[0]]
        if len(run) > 1:
            passage = plain_passage(run, texts, metadatas, documents)
            made.append(_document(passage, passage.text, rescore, score))
        elif rescore is None:
            made.append(first)
        else:
            made.append(_rescored(first, rescore, score, first.id))
    return made, found.used_all


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
        _document(passage, text, rescore, score)
        for passage, text, score in zip(passages, texts, scores, strict=True)
    ]


def _document(
    passage: Passage, text: str, rescore: str | None, score: float
) -> Document:
    first: Document = passage.chunks[0].source
    if text == first.page_content:
        if rescore is None:
            return first
        return _rescored(first, rescore, score, _id(passage))
    metadata = {**first.metadata, **_place(passage)}
    # They counted the text that is replaced.
    metadata.pop(TOKEN_COUNT, None)
    metadata.pop(TOKEN_COUNTER, None)
    if rescore is not None:
        _write_score(metadata, rescore, score)
    return Document(text, id=_id(passage), metadata=metadata)


def _rescored(
    document: Document, key: str, score: float, new_id: str | None
) -> Document:
    """The document itself where it has this score, else a new one."""
    metadata = dict(document.metadata)
    _write_score(metadata, key, score)
    if metadata == document.metadata:
        return document
    return Document(document.page_content, id=new_id, metadata=metadata)


def _write_score(metadata: dict[str, Any], key: str, score: float) -> None:
    if key in metadata and metadata[key] != score:
        metadata.setdefault(_ORIGINAL + key, metadata[key])
    metadata[key] = score


def _id(passage: Passage) -> str | None:
    """The id of the document, or one made of the ids of those that were merged."""
    ids = [chunk.source.id for chunk in passage.chunks]
    # A slice has metadata of its own; other slices of the document have other ids.
    whole = all(c.metadata is c.source.metadata for c in passage.chunks)
    if None in ids or (len(ids) == 1 and whole):
        return ids[0] if whole and len(ids) == 1 else None
    if not whole:
        ids += [f"{start}-{end}" for start, end in passage.spans]
    return named_id("\n".join(ids))


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
    """The score as the retriever or reranker reported it."""
    for key in _SCORE_KEYS:
        value = metadata.get(key)
        # Most have none, and asking for `Real` takes long.
        if value is None or type(value) is bool:
            continue
        if isinstance(value, Real):
            return float(value)
    return None
