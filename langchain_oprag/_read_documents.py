"""What the model read on a rung, as LangChain's `Document`."""

from __future__ import annotations

from typing import Any

from langchain_core.documents import Document

from oprag.metadata import CHAR_END, CHAR_SPANS, CHAR_START, DOC_URI, OWN_KEYS
from oprag.positions import SCHEMES
from oprag.routing import RungContext

_DOCUMENTS_OWN = ("doc_key", DOC_URI)
_OF_A_CHUNK = frozenset(
    key
    for key in (
        *(key for key in OWN_KEYS if key not in _DOCUMENTS_OWN),
        *(key for s in SCHEMES for key in (s.start, s.end, *s.parts)),
        *("loc", "score", "relevance_score", CHAR_SPANS),
    )
    if key
)
"""Metadata that says where a chunk stands, how long or how good it is."""


def documents_of(context: RungContext) -> list[Document]:
    """Return what a context is made of.

    Returns:
        The retrieved documents themselves; where full documents were read, one new
        document per excerpt, in reading order. The metadata of these are what all
        retrieved chunks of the document agree on, its name as `doc_uri`, and
        `char_start` and `char_end`.
    """
    if not context.excerpts:
        return [chunk.source for chunk in context.chunks]
    shared: dict[str, dict[str, Any]] = {}
    for chunk in context.chunks:
        name = chunk.name or chunk.document
        metadata = chunk.metadata
        shared[name] = {
            key: value
            for key, value in shared.get(name, metadata).items()
            if key in metadata and metadata[key] == value and key not in _OF_A_CHUNK
        }
    return [
        Document(
            excerpt.text,
            metadata={
                DOC_URI: excerpt.document.name,
                **shared.get(excerpt.document.name, {}),
                CHAR_START: excerpt.span.start,
                CHAR_END: excerpt.span.end,
            },
        )
        for excerpt in context.excerpts
    ]
