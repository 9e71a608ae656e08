"""What was retrieved as plain JSON values."""

from __future__ import annotations

from typing import Any

from oprag.chunk import Chunk
from oprag.cli.retrieving import Retrieved


def retrieved_values(retrieved: Retrieved) -> dict[str, Any]:
    """A question, its chunks by score, and its passages in reading order.

    Returns:
        Strings, integers, None, and lists and mappings of them. Spans are
        `[start, end]` in characters of the document or, where there are pages, of
        the page, end exclusive; ranks count from 0, the best.
    """
    return {
        "question": retrieved.question,
        "tokens": retrieved.tokens,
        "by_score": [_chunk_values(chunk) for chunk in retrieved.by_score],
        "passages": [
            {
                "text": passage.text,
                "document": passage.name,
                "page": passage.chunks[0].metadata.get("page_label"),
                "spans": [list(span) for span in passage.spans],
                "citation": passage.citation,
                "tokens": tokens,
                "ranks": [chunk.rank for chunk in passage.chunks],
            }
            for passage, tokens in zip(
                retrieved.passages, retrieved.passage_tokens, strict=True
            )
        ],
    }


def _chunk_values(chunk: Chunk) -> dict[str, Any]:
    return {
        "rank": chunk.rank,
        "document": chunk.name,
        "page": chunk.metadata.get("page_label"),
        "span": list(chunk.span or ()),
        "text": chunk.text,
    }
