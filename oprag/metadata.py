"""The flat metadata that oprag writes on every chunk, and its key names.

Only strings and integers are written, absent values are left out, and no name
is one that a framework reserves: every vector store keeps such metadata as it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, Protocol

DOC_KEY = "doc_key"
"""SHA-256 of the document's name, hex: safe in every store's filters."""
DOC_URI = "doc_uri"
"""The document's own name: for people and look-ups, never for filters."""
CHUNK_INDEX = "chunk_index"
"""Number of the chunk in its document, from 0, running on over the parts."""
N_CHUNKS = "n_chunks"
"""Chunks of the whole document, over all parts."""
CHAR_START = "char_start"
"""First character of the chunk, relative to its part."""
CHAR_END = "char_end"
"""One past the last character of the chunk, relative to its part."""
CHAR_SPANS = "char_spans"
"""Spans of a merged text with gaps, `0-120,125-300`; `char_start` and `char_end` are
those of the whole."""
PART_INDEX = "part_index"
"""Number of the part (page, section): the source's own where it has one, else from
0; absent for a document that is one text."""
TOKEN_COUNT = "token_count"
"""Tokens of the chunk's own text."""
TOKEN_COUNTER = "token_counter"
"""Name of the counter behind `token_count`; absent where it has no name."""

OWN_KEYS = (
    DOC_KEY,
    DOC_URI,
    CHUNK_INDEX,
    N_CHUNKS,
    CHAR_START,
    CHAR_END,
    PART_INDEX,
    TOKEN_COUNT,
    TOKEN_COUNTER,
)
"""All keys that oprag writes, in writing order."""

_NAMESPACE = bytes.fromhex("6ba7b8129dad11d180b400c04fd430c8")
"""uuid.NAMESPACE_OID, without importing `uuid` for it."""
_VARIANT = dict(zip("0123456789abcdef", 4 * "89ab", strict=True))
"""A digit of a hash as the one of a UUID that says which kind of UUID it is."""


class CountedSpan(Protocol):
    """What a splitter yields for each chunk."""

    @property
    def start(self) -> int:
        """First character."""

    @property
    def end(self) -> int:
        """One past the last character."""

    @property
    def token_count(self) -> int:
        """Tokens of the chunk's own text."""


def document_key(name: str) -> str:
    """Key of a document: the SHA-256 of its name in UTF-8, as 64 hex digits.

    A name may hold anything (spaces, quotes, SQL); the key is safe to filter on
    in every store, and equal names have equal keys on every machine.
    """
    import hashlib  # here and below: it takes a part of the time of `import oprag`

    return hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()


def chunk_id(name: str, chunk_index: int) -> str:
    """Stable id of one chunk: a UUID made of the document's key and the index.

    Indexing the same document twice gives the same ids, so a store replaces
    instead of doubling. UUIDs are the one form that every store accepts.
    """
    # named_id(f"{key}/{index}"), which would hash the key for every chunk.
    hashed = _hashed_key(name).copy()
    hashed.update(b"%d" % chunk_index)
    return _as_uuid(hashed.hexdigest())


def named_id(name: str) -> str:
    """Stable id of anything that has a name: `uuid.uuid5`, several times as fast."""
    import hashlib

    hashed = hashlib.sha1(_NAMESPACE + name.encode(), usedforsecurity=False)
    return _as_uuid(hashed.hexdigest())


def joined_id(ids: Sequence[str], slices: Sequence[tuple[int, int]] = ()) -> str:
    """Stable id of what was made of several chunks, or of slices of them.

    Args:
        ids: Of the chunks, in reading order.
        slices: Spans, in characters, where not all of each chunk is in it: other
            slices of the same chunks have other ids.
    """
    return named_id("\n".join([*ids, *(f"{start}-{end}" for start, end in slices)]))


def place_metadata(
    spans: Sequence[tuple[int, int]], part: int | None = None
) -> dict[str, int | str]:
    """Flat metadata of where a passage stands.

    Args:
        spans: As `Passage.spans`. Empty: nothing is known, and nothing written.
        part: The part that they are relative to, or None.
    """
    if not spans:
        return {}
    place: dict[str, int | str] = {CHAR_START: spans[0][0], CHAR_END: spans[-1][1]}
    if part is not None:
        place[PART_INDEX] = part
    if len(spans) > 1:
        place[CHAR_SPANS] = ",".join([f"{start}-{end}" for start, end in spans])
    return place


def _as_uuid(digits: str) -> str:
    return (
        f"{digits[:8]}-{digits[8:12]}-5{digits[13:16]}-"
        f"{_VARIANT[digits[16]]}{digits[17:20]}-{digits[20:32]}"
    )


@lru_cache(maxsize=64)
def _hashed_key(name: str) -> Any:
    """The SHA-1 that an id of a document's chunks begins with."""
    import hashlib

    named = f"{document_key(name)}/".encode()
    return hashlib.sha1(_NAMESPACE + named, usedforsecurity=False)


def chunk_metadata(
    name: str,
    parts: Sequence[Sequence[CountedSpan]],
    token_counter: str = "",
) -> list[list[dict[str, str | int]]]:
    """Flat metadata for all chunks of one document.

    Args:
        name: The document's own name.
        parts: The chunks of each part (a page, a section) in reading order;
            one part for a document that is a single text. A part may be empty.
        token_counter: Name of the counter that `token_count` comes from; with
            an empty name the counts are left out, because nobody could tell
            later what they count.

    Returns:
        One dict per chunk, in the same nesting as `parts`. `chunk_index` runs
        on over the parts; `part_index` is there when there are several.
    """
    key = document_key(name)
    total = sum(len(part) for part in parts)
    written: list[list[dict[str, str | int]]] = []
    index = 0
    for part_index, part in enumerate(parts):
        row: list[dict[str, str | int]] = []
        for span in part:
            entry: dict[str, str | int] = {
                DOC_KEY: key,
                DOC_URI: name,
                CHUNK_INDEX: index,
                N_CHUNKS: total,
                CHAR_START: span.start,
                CHAR_END: span.end,
            }
            if len(parts) > 1:
                entry[PART_INDEX] = part_index
            if token_counter:
                entry[TOKEN_COUNT] = span.token_count
                entry[TOKEN_COUNTER] = token_counter
            row.append(entry)
            index += 1
        written.append(row)
    return written
