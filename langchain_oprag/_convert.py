"""LangChain's `Document` to the core's `Hit`, and passages back to `Document`.

The only place that builds documents for what was retrieved. A document that stays
as it is goes out as the object that came in; none is ever written to.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from numbers import Real
from operator import attrgetter
from typing import Any, NamedTuple

from langchain_core.documents import Document

from oprag.chunk import FullText, Hit
from oprag.context import (
    ORIGINAL,
    Columns,
    ContextOptions,
    Rebuilt,
    arrange,
    write_score,
)
from oprag.documents import check_entries
from oprag.positions import NODE_CONTENT, SourceText, read_node

_ID = attrgetter("id")
_SCORE_KEYS = tuple(
    prefix + key for key in ("relevance_score", "score") for prefix in (ORIGINAL, "")
)
"""Where LangChain's rerankers and retrievers put a score, before any `rescore`."""


class Ordered(NamedTuple):
    """Documents put in order."""

    documents: list[Document]
    """As they are to be read."""
    used_all: bool
    """Whether every document that came is among them."""


def source_of(document: Document) -> SourceText:
    """Return what the core needs of a document that is to be split."""
    return SourceText(document.page_content, document.metadata, document.id)


def characters_of(found: Any) -> int:
    """Count the characters of documents or texts; what is neither has none."""
    several = found if isinstance(found, Sequence) else ()
    texts = [
        each.text if isinstance(each, FullText) else getattr(each, "page_content", each)
        for each in several
    ]
    return sum([len(text) for text in texts if isinstance(text, str)])


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
    documents: Sequence[Document], options: ContextOptions, *, rescore: str | None
) -> Ordered:
    """Select, order and join retrieved documents.

    Args:
        documents: Best first.
        options: See `ContextOptions`.
        rescore: Metadata key to write falling scores to; None for none. The value
            that was there is kept under `original_<key>`.

    Returns:
        One document per passage: the object that was retrieved where neither its
        text nor its metadata changes, else a new one with the metadata of the
        passage's first document.
    """
    try:
        columns = Columns(
            documents,
            [document.page_content for document in documents],
            [document.metadata for document in documents],
        )
    except (AttributeError, TypeError):
        check_entries("documents", documents, Document, _from_elsewhere)
        raise
    arranged = arrange(lambda: hits_of(documents), options, columns=columns)
    rescored = None if rescore is None else partial(_rescored, key=rescore)
    made = arranged.results(partial(_document, rescore=rescore), rescored)
    return Ordered(made, arranged.used_all)


def _from_elsewhere(value: Any) -> str:
    """What to do with a text, or with a node of LlamaIndex."""
    if isinstance(value, str):
        return " Write Document(text, metadata={'source': name, …})."
    return " Nodes are ordered by llamaindex_oprag." if hasattr(value, "node") else ""


def _document(passage: Rebuilt, rescore: str | None) -> Document:
    first: Document = passage.objects[0]
    metadata = passage.metadata(first.metadata)
    if rescore is not None:
        write_score(metadata, rescore, passage.score)
    # Whatever else a class of its own holds was that of the first document.
    return Document(passage.text, id=passage.new_id(_ID), metadata=metadata)


def _rescored(first: Document, score: float, *_: Any, key: str) -> Document:
    if first.metadata.get(key) == score:
        return first
    metadata = dict(first.metadata)
    write_score(metadata, key, score)
    # Of the same class, and in less time than a constructor takes.
    return first.model_copy(update={"metadata": metadata})


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
