"""LangChain's `Document` to the core's `Hit`, and passages back to `Document`.

The only place that builds documents for what was retrieved. A document that stays
as it is goes out as the object that came in; none is ever written to.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import repeat
from numbers import Real
from typing import Any

from langchain_core.documents import Document

from oprag.chunk import Hit, Passage
from oprag.context import ContextOptions, falling_scores, marked_texts, plain_case
from oprag.metadata import (
    CHAR_END,
    CHAR_START,
    TOKEN_COUNT,
    TOKEN_COUNTER,
    joined_id,
    place_metadata,
)
from oprag.positions import NODE_CONTENT, read_node

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
    if rescore is None and not options.merge:
        return [documents[rank] for (rank,) in found.runs], found.used_all
    made = []
    scores = falling_scores(len(found.runs)) if rescore else repeat(0.0)
    for run, text, score in zip(found.runs, found.texts, scores, strict=False):
        first = documents[run[0]]
        if len(run) > 1:
            last = metadatas[run[-1]]
            span = (first.metadata[CHAR_START], last[CHAR_END])
            place = place_metadata([span])
            new_id = _joined_id([documents[rank].id for rank in run])
            made.append(
                _replaced(first, text, place, new_id, rescore=rescore, score=score)
            )
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
    place = place_metadata(passage.spans, passage.part)
    return _replaced(first, text, place, _id(passage), rescore=rescore, score=score)


def _replaced(
    first: Document,
    text: str,
    place: Mapping[str, int | str],
    new_id: str | None,
    *,
    rescore: str | None,
    score: float,
) -> Document:
    """A document with another text and place, and else the metadata of the first."""
    metadata = {**first.metadata, **place}
    # They counted the text that is replaced.
    metadata.pop(TOKEN_COUNT, None)
    metadata.pop(TOKEN_COUNTER, None)
    if rescore is not None:
        _write_score(metadata, rescore, score)
    # Whatever else a class of its own holds was that of the first document.
    return Document(text, id=new_id, metadata=metadata)


def _rescored(
    document: Document, key: str, score: float, new_id: str | None
) -> Document:
    """The document itself where it has this score, else a new one."""
    if document.metadata.get(key) == score:
        return document
    metadata = dict(document.metadata)
    _write_score(metadata, key, score)
    # Of the same class, and in less time than a constructor takes.
    return document.model_copy(update={"id": new_id, "metadata": metadata})


def _write_score(metadata: dict[str, Any], key: str, score: float) -> None:
    if key in metadata and metadata[key] != score:
        metadata.setdefault(_ORIGINAL + key, metadata[key])
    metadata[key] = score


def _id(passage: Passage) -> str | None:
    """The id of the document, or one made of the ids of those that were merged."""
    ids: list[str | None] = [chunk.source.id for chunk in passage.chunks]
    # A slice has metadata of its own; other slices of the document have other ids.
    whole = all(c.metadata is c.source.metadata for c in passage.chunks)
    if len(ids) == 1 and whole:
        return ids[0]
    return _joined_id(ids, [] if whole else passage.spans)


def _joined_id(
    ids: Sequence[str | None], slices: Sequence[tuple[int, int]] = ()
) -> str | None:
    """The id of a document made of others, or of slices of them; None without ids."""
    return None if None in ids else joined_id(ids, slices)  # type: ignore[arg-type]


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
