"""Results of components: what their metadata say of a passage, and how it is read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from oprag.chunk import Chunk, Hit, Passage, Span
from oprag.metadata import (
    CITATION,
    DOCUMENT,
    END,
    EXACT,
    HASH,
    IDS,
    KEY,
    OF_ONE_CHUNK,
    PART,
    PROBLEM,
    RANK,
    SPANS,
    START,
    joined_id,
    result_hash,
    without_reserved_keys,
)
from oprag.positions import (
    as_number,
    is_unchanged,
    placed,
    read_chunks,
    read_documents,
    read_spans,
)


def result_metadata(
    passage: Passage, id_of: Callable[[Any], str | None], *, whole: bool
) -> dict[str, Any]:
    """Return the metadata of a passage's first chunk, with the place of the passage.

    Args:
        passage: The passage.
        id_of: From the framework's object of a chunk to its id, or None.
        whole: Whether it is one object, all of it. Else the metadata lack what
            described the first object alone.
    """
    first = passage.chunks[0].metadata
    metadata = without_reserved_keys(first) if HASH in first else dict(first)
    if not whole:
        for key in OF_ONE_CHUNK.intersection(metadata):
            del metadata[key]
    metadata.update(place_metadata(passage))
    if ids := _ids(passage.chunks, id_of):
        metadata[IDS] = ids
    return metadata


def _ids(chunks: Sequence[Chunk], id_of: Callable[[Any], str | None]) -> str:
    """The ids of the chunks that were retrieved for it, each once."""
    if len(chunks) == 1 and HASH not in chunks[0].metadata:
        return id_of(chunks[0].source) or ""
    ids = [
        chunk.metadata.get(IDS) if HASH in chunk.metadata else id_of(chunk.source)
        for chunk in chunks
    ]
    listed = "\n".join([each for each in ids if each]).split("\n")
    return "\n".join(dict.fromkeys(listed))


def result_id(
    passage: Passage, id_of: Callable[[Any], str | None], *, cut: bool
) -> str | None:
    """Return the id of a passage that is not one whole object; None without theirs.

    Args:
        passage: The passage.
        id_of: From the framework's object of a chunk to its id, or None.
        cut: Whether not all of each object is in it.
    """
    ids: list[Any] = [id_of(chunk.source) for chunk in passage.chunks]
    return None if None in ids else joined_id(ids, passage.spans if cut else ())


def place_metadata(passage: Passage) -> dict[str, Any]:
    """Return the reserved keys of a result, but for its ids.

    Returns:
        Strings, integers and booleans; what is not known is left out.
    """
    spans = passage.spans
    place: dict[str, Any] = {
        RANK: passage.rank,
        CITATION: passage.citation,
        DOCUMENT: passage.name,
        KEY: passage.document,
    }
    if (part := passage.part) is not None:
        place[PART] = part
    if spans:
        place[START], end = spans[0][0], spans[-1][1]
        if end > place[START]:
            place[END] = end
    if len(spans) > 1:
        place[SPANS] = ",".join([f"{start}-{end}" for start, end in spans])
    place[EXACT] = passage.exact
    if (problem := passage.chunks[0].metadata.get(PROBLEM)) is not None:
        place[PROBLEM] = problem
    place[HASH] = result_hash(passage.text)
    return place


def single_passage(chunk: Chunk) -> Passage:
    """A passage of one chunk, as it is."""
    span, metadata = chunk.span, chunk.metadata
    spans: tuple[Span, ...] = () if span is None else (span,)
    if span is not None and SPANS in metadata:
        spans = read_spans(span, metadata)
    cited = None
    if HASH in metadata and is_unchanged(metadata, chunk.text):
        start, end = metadata.get(START), metadata.get(END, metadata.get(START))
        cited = (
            metadata.get(CITATION) if (start, end) == (span or (None, None)) else None
        )
    return Passage(chunk.text, chunk.document, (chunk,), spans, chunk.exact, cited)


def read_passages(hits: Sequence[Hit]) -> list[Passage]:
    """Return the passage of each result, in the order given.

    Args:
        hits: Results of any component, or other retrieved texts. Of a result the place
            is the one in its reserved keys. Of others it is read where it can be, and
            their rank is their place in the list.

    Returns:
        One passage per hit, of one chunk that has the hit's object as its `source`.
    """
    documents = read_documents(hits, problems={})
    passages = []
    for chunk in read_chunks(hits, documents, problems={}):
        metadata = chunk.metadata
        if HASH in metadata:  # alone it says what it said, whatever is beside it
            position, span, part = placed(metadata, chunk.text)
            chunk = chunk._replace(  # noqa: PLW2901 -- the same chunk
                rank=as_number(metadata.get(RANK)) or 0,
                position=position,
                span=span,
                part=part,
            )
        passages.append(single_passage(chunk))
    return passages
