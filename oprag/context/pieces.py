"""Parts of chunks."""

from __future__ import annotations

import re
from collections.abc import Hashable, Sequence

from oprag.chunk import SENTENCE_TERMINATORS, Chunk, Span
from oprag.metadata import ALL_RESULT_KEYS, OF_ONE_TEXT

_OF_ITS_TEXT = frozenset((*OF_ONE_TEXT, *ALL_RESULT_KEYS))
_SENTENCE_END = re.compile(rf"""[.!?]["')\]”’]*\s+|[{SENTENCE_TERMINATORS}]\s*|\n\s*""")


def is_sliceable(chunk: Chunk) -> bool:
    """Return whether parts of a chunk can be named by their characters."""
    return chunk.fits_span and chunk.position is not None and len(chunk.text) > 0


def scope_of(chunk: Chunk) -> tuple[Hashable, ...]:
    """Return the key that chunks share if they may be neighbours of one another."""
    if is_sliceable(chunk):
        return chunk.document_key, "characters", chunk.part
    if chunk.position is None or chunk.span is not None:
        return chunk.document_key, "alone", chunk.rank
    return chunk.document_key, "ordinals", chunk.position[:-1]


def slice_of(chunk: Chunk, start: int, end: int, text: str | None = None) -> Chunk:
    """Return a part of a chunk with a span, or of its document, as a chunk."""
    position, span = chunk.position, chunk.span or (start, end)
    if text is None:
        text = chunk.text[start - span[0] : end - span[0]]
    if position is not None and position[-2:] == span:
        position = (*position[:-2], start, end)
    # Stored counts are of the whole chunk, and `start_index` is of its beginning.
    metadata = {
        key: value
        for key, value in chunk.metadata.items()
        if key not in _OF_ITS_TEXT and (key != "start_index" or span[0] == start)
    }
    return chunk._replace(
        text=text,
        position=position,
        span=Span(start, end),
        metadata=metadata,
        verbatim=True,
    )


def list_parts(chunk: Chunk, kept: Sequence[Chunk]) -> list[Chunk]:
    """Return a chunk and its beginnings of whole sentences, the shortest first.

    Args:
        chunk: The chunk. If its place is not known to the character, it comes alone.
        kept: The chunks that it is to be read with. If it ends at the beginning of one
            of these, the parts are its ends.
    """
    start, end = chunk.span or (0, 0)
    if not is_sliceable(chunk):
        return [chunk]
    cuts = [match.end() for match in _SENTENCE_END.finditer(chunk.text[:-1])]
    beside = [c.span for c in kept if scope_of(c) == scope_of(chunk) and c.span]
    if any(span[0] == end for span in beside) and all(s[1] != start for s in beside):
        parts = [slice_of(chunk, start + c, end) for c in reversed(cuts)]
    else:
        parts = [slice_of(chunk, start, start + c) for c in cuts]
    return [*parts, chunk]
