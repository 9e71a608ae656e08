"""Make the metadata of a result: those of its chunks, and its place."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from operator import attrgetter
from typing import Any

from oprag.chunk import Chunk, Passage
from oprag.citations import count_position
from oprag.context.options import ContextOptions
from oprag.landmarks import LANDMARKS_READ, join_landmarks, landmarks_beyond
from oprag.metadata import (
    CHUNK_HASH,
    CITATION,
    OF_ONE_CHUNK,
    RESULT,
    drop_reserved_keys,
    make_joined_id,
    text_hash,
)
from oprag.positions import (
    POSITION_METADATA,
    PositionKeys,
    derive_identity,
    read_citation,
)
from oprag.result_key import WrittenPlace, encode_place, read_written

_IS_VERBATIM, _IS_SCOPED = attrgetter("verbatim"), attrgetter("scoped")


def result_metadata(
    passage: Passage, options: ContextOptions | None = None, *, whole: bool
) -> dict[str, Any]:
    """Return the metadata of a passage: those of its best chunk, and its place.

    Args:
        passage: The passage.
        options: Those that the passage was chosen by; None to go by its metadata.
        whole: Whether it is one whole object. Else see `merge_metadata`.
    """
    if whole:
        metadata = passage.chunks[0].metadata
        if not LANDMARKS_READ.isdisjoint(metadata):
            beyond = landmarks_beyond(metadata, passage.landmarks)
            metadata = {**metadata, **beyond}
    else:
        keys = None if options is None else options.position_keys
        metadata = merge_metadata(passage.chunks, keys)
    if options is None:
        cites = any(CITATION in chunk.metadata for chunk in passage.chunks)
    else:
        cites = options.citations
    if options is None or options.token_budget is None:
        has_room = all(map(_has_room, passage.chunks))
    else:
        has_room = cites
    return write_place(passage, metadata, cites=cites, has_room=has_room)


def _has_room(chunk: Chunk) -> bool:
    written = read_written(chunk.metadata)
    return written is None or written.has_room


def best_chunk(chunks: Sequence[Chunk]) -> Chunk:
    """Return the chunk of the best rank; of equals, the first in reading order."""
    return min(chunks, key=attrgetter("rank"))


def merge_metadata(
    chunks: Sequence[Chunk], position_keys: PositionKeys | None
) -> dict[str, Any]:
    """Return the metadata of chunks that are joined, or of one that was cut.

    Args:
        chunks: In reading order.
        position_keys: As in `ContextOptions`.

    Returns:
        For values that differ, such as an application's own ids, that of the best
        chunk; for places, that of the first. Values that hold only for a whole chunk
        are left out.
    """
    first = chunks[0].metadata
    best = best_chunk(chunks).metadata
    listed = (
        position_keys if isinstance(position_keys, (list, tuple)) else [position_keys]
    )
    places = {
        *POSITION_METADATA,
        *LANDMARKS_READ,
        *(key for key in listed if isinstance(key, str)),
    }
    metadata = {}
    for key in [*best, *first]:
        source = first if key in places else best
        if key in source and key not in OF_ONE_CHUNK:
            metadata[key] = source[key]
    joined = join_landmarks([chunk.metadata for chunk in chunks], chunks[0].text)
    return metadata | landmarks_beyond(metadata, joined)


def result_id(
    passage: Passage, id_of: Callable[[Any], str | None], text_of: Callable[[Any], str]
) -> str | None:
    """Return the id of a passage that is not one whole object, or None.

    Args:
        passage: The passage.
        id_of: From the framework's object of a chunk to its id, or None.
        text_of: From the same to its text. The id of a text that was cut has its spans.

    Returns:
        The id; None if a chunk has none.
    """
    ids: list[Any] = [id_of(chunk.source) for chunk in passage.chunks]
    cut = any(chunk.text != text_of(chunk.source) for chunk in passage.chunks)
    return None if None in ids else make_joined_id(ids, passage.spans if cut else ())


def write_place(
    passage: Passage,
    metadata: Mapping[str, Any],
    *,
    cites: bool = False,
    has_room: bool = True,
) -> dict[str, Any]:
    """Return the metadata of a result with its place under the reserved key.

    Args:
        passage: The passage that the result is of.
        metadata: All others; not changed. Facts that they state are not written again.
        cites: Whether the place for people is written beside it.
        has_room: Whether a token budget, if there was one, has room for the place.
    """
    written = drop_reserved_keys(metadata)
    chunk = passage.chunks[0]
    place = WrittenPlace(
        passage.rank,
        _hash_of(passage),
        passage.spans,
        passage.part,
        _count_of(passage),
        chunk.among if chunk.problem else (),
        passage.proof,
        not _is_unfit(passage),
        has_room,
        passage.number,
        chunk.problem,
        *_find_differing_identity(passage, written),
    )
    if not _is_plainly_cited(passage):
        citation = passage.citation
        if citation != read_citation(written, place):
            place = place._replace(citation=citation)
    written[RESULT] = encode_place(place)
    if cites:
        written[CITATION] = passage.citation
    return written


def _count_of(passage: Passage) -> str | None:
    """Return the number of a chunk whose characters are not known."""
    if passage.spans:
        return None
    chunk = passage.chunks[0]
    before = read_written(chunk.metadata)
    if passage.cited is not None and before is not None:
        return before.counted
    return count_position(chunk.position, chunk.part)


def _is_plainly_cited(passage: Passage) -> bool:
    """Return whether the facts under the reserved key are enough for its citation."""
    chunk = passage.chunks[0]
    if passage.cited is not None or not chunk.scoped or chunk.pages:
        return False
    return bool(passage.spans) or chunk.position is None


def _find_differing_identity(
    passage: Passage, metadata: Mapping[str, Any]
) -> tuple[str | None, str | None]:
    """Return key and name of a document, each None if the metadata say it.

    If several files share a name, the key is the part after the name's own key.
    """
    derived = passage.chunks[0].derived
    if derived is None or len(passage.chunks) > 1:
        derived = derive_identity(metadata)[:2]
    own_key, own_name = derived
    key: str | None = passage.document_key
    if key == own_key:
        key = None
    elif key is not None and own_key and key.startswith(f"{own_key}#"):
        key = key.removeprefix(own_key)
    name = passage.document_name
    return key, None if name == own_name else name


def _is_unfit(passage: Passage) -> bool:
    """Return whether a text has its one span's length and is not known as its slice."""
    spans = passage.spans
    if len(spans) != 1 or spans[0].end - spans[0].start != len(passage.text):
        return False
    chunks = passage.chunks
    return not (all(map(_IS_VERBATIM, chunks)) and all(map(_IS_SCOPED, chunks)))


def _hash_of(passage: Passage) -> str:
    """Return the hash of its text, which is known if it is one whole, stamped chunk."""
    chunk = passage.chunks[0]
    if chunk.proof == "stamped" and chunk.text is passage.text:
        known: str | None = chunk.metadata.get(CHUNK_HASH)  # a slice has none
        if known is not None:
            return known
    return text_hash(passage.text)
