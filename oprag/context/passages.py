"""Passages: of one chunk or of joined neighbours, and what results say of them.

Chunks are joined by their offsets. Texts are never compared to find an overlap: with
exact offsets the overlap is arithmetic, and text that happens to repeat cannot be lost
or doubled.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from operator import attrgetter
from typing import Any

from oprag.chunk import SMALL_GAP, Chunk, Hit, Passage, Span
from oprag.citations import name_position
from oprag.context.options import ContextOptions
from oprag.context.pieces import slice_of
from oprag.errors import PositionError
from oprag.landmarks import join_landmarks, landmarks_beyond
from oprag.metadata import (
    CHUNK_HASH,
    CITATION,
    OF_ONE_CHUNK,
    RESULT,
    joined_id,
    text_hash,
    without_reserved_keys,
)
from oprag.ordering import document_order, rank_order
from oprag.positions import (
    OF_A_PLACE,
    PositionKeys,
    are_of_one_file,
    derive_identity,
    identify_documents,
    read_chunks,
    read_citation,
    read_position,
    read_spans,
)
from oprag.result_key import (
    WrittenPlace,
    encode_place,
    is_joined,
    is_unchanged,
    read_written,
)

TextByName = Callable[[str], str | None]
"""A function from a document's name to its full text, or None if it is not known."""


def result_metadata(
    passage: Passage, options: ContextOptions | None = None, *, whole: bool
) -> dict[str, Any]:
    """Return the metadata of a passage: those of its best chunk, and its place.

    Args:
        passage: The passage.
        options: Those that the passage was chosen by; None for what its metadata say.
        whole: Whether it is one object, all of it. Else see `merged_metadata`.
    """
    if whole:
        metadata = passage.chunks[0].metadata
    else:
        keys = None if options is None else options.position_keys
        metadata = merged_metadata(passage.chunks, keys)
    cites = any(CITATION in chunk.metadata for chunk in passage.chunks)
    has_room = all(_has_room(chunk) for chunk in passage.chunks)
    if options is not None:
        cites = options.citations
        if options.token_budget is not None:
            has_room = options.citations
    return write_place(passage, metadata, cites=cites, has_room=has_room)


def _has_room(chunk: Chunk) -> bool:
    written = read_written(chunk.metadata)
    return written is None or written.has_room


def best_chunk(chunks: Sequence[Chunk]) -> Chunk:
    """Return the chunk of the best rank, the first in reading order of equals."""
    return min(chunks, key=attrgetter("rank"))


def merged_metadata(
    chunks: Sequence[Chunk], position_keys: PositionKeys | None
) -> dict[str, Any]:
    """Return the metadata of chunks that are joined, or of one that was cut.

    Args:
        chunks: In reading order.
        position_keys: As in `ContextOptions`.

    Returns:
        Of what differs, the value that the best chunk has, as an application's own
        ids; of places, that of the first. Without what holds for a whole chunk alone.
    """
    first = chunks[0].metadata
    best = best_chunk(chunks).metadata
    listed = (
        position_keys if isinstance(position_keys, (list, tuple)) else [position_keys]
    )
    places = {*OF_A_PLACE, *(key for key in listed if isinstance(key, str))}
    metadata = {}
    for key in [*best, *first]:
        source = first if key in places else best
        if key in source and key not in OF_ONE_CHUNK:
            metadata[key] = source[key]
    joined = join_landmarks([chunk.metadata for chunk in chunks])
    return metadata | landmarks_beyond(metadata, joined)


def result_id(
    passage: Passage, id_of: Callable[[Any], str | None], text_of: Callable[[Any], str]
) -> str | None:
    """Return the id of a passage that is not one whole object; None without theirs.

    Args:
        passage: The passage.
        id_of: From the framework's object of a chunk to its id, or None.
        text_of: From the same to its text; the id of a text that was cut has its spans.
    """
    ids: list[Any] = [id_of(chunk.source) for chunk in passage.chunks]
    cut = any(chunk.text != text_of(chunk.source) for chunk in passage.chunks)
    return None if None in ids else joined_id(ids, passage.spans if cut else ())


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
        metadata: All others; not changed. What they say is not written again.
        cites: Whether the place for people is written beside it.
        has_room: Whether a token budget, if there was one, has room for the place.
    """
    written = without_reserved_keys(metadata)
    chunk = passage.chunks[0]
    place = WrittenPlace(
        passage.rank,
        _hash_of(passage),
        passage.spans,
        passage.part,
        _count_of(passage),
        passage.proof,
        not _is_unfit(passage),
        has_room,
        passage.number,
        chunk.problem,
        *_differing_identity(passage, written),
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
    _, is_counted, number = name_position(chunk.position, chunk.part).partition(
        "chunk "
    )
    return number if is_counted else None


def _is_plainly_cited(passage: Passage) -> bool:
    """Return whether its citation is made of nothing but what the key says."""
    chunk = passage.chunks[0]
    if passage.cited is not None or not chunk.scoped or chunk.pages:
        return False
    return bool(passage.spans) or chunk.position is None


def _differing_identity(
    passage: Passage, metadata: Mapping[str, Any]
) -> tuple[str | None, str | None]:
    """Return key and name of a document, each None where the metadata say it.

    Of one of several files of a name the key is what follows the name's.
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
    """Whether a text is as long as its one span, and yet not known to be its slice."""
    spans = passage.spans
    if len(spans) != 1 or spans[0].end - spans[0].start != len(passage.text):
        return False
    return not all(chunk.verbatim and chunk.scoped for chunk in passage.chunks)


def _hash_of(passage: Passage) -> str:
    """Return the hash of its text, which is known where one whole chunk is stamped."""
    chunk = passage.chunks[0]
    if chunk.proof == "stamped" and chunk.text is passage.text:
        known: str | None = chunk.metadata.get(CHUNK_HASH)  # a slice has none
        if known is not None:
            return known
    return text_hash(passage.text)


def single_passage(chunk: Chunk) -> Passage:
    """A passage of one chunk, as it is."""
    span, metadata = chunk.span, chunk.metadata
    spans = () if span is None else read_spans(metadata, span)
    written = read_written(metadata)
    cited = None
    if written is not None and _is_as_written(written, chunk):
        cited = written.citation
        if written.counted is not None:
            cited = read_citation(metadata, written)
    return Passage(chunk.text, chunk.document_key, (chunk,), spans, cited)


def _is_as_written(written: WrittenPlace, chunk: Chunk) -> bool:
    """Return whether a place is that of a chunk, and its text unchanged."""
    return written.whole == chunk.span and written.text_hash == text_hash(chunk.text)


def read_passages(hits: Sequence[Hit]) -> list[Passage]:
    """Return the passage of each result, in the order given.

    Returns:
        One passage per hit, of one chunk that has the hit's object as its `source`.
    """
    documents = identify_documents(hits, problems={})
    passages = []
    for chunk in read_chunks(hits, documents, problems={}):
        written = read_written(chunk.metadata)
        if written is not None:  # alone it says what it said, whatever is beside it
            position, span, part = read_position(written, chunk.text)
            chunk = chunk._replace(  # noqa: PLW2901 -- the same chunk
                rank=written.rank or 0,
                position=position,
                span=span,
                part=part,
                problem=written.problem,
            )
        passage = single_passage(chunk)
        # The number is that of this text, and of a result.
        if written is not None and _is_as_written(written, chunk):
            passage = passage._replace(number=written.number)
        passages.append(passage)
    return passages


def finish(chunks: Sequence[Chunk], options: ContextOptions) -> list[Passage]:
    """Put the chosen chunks in order and join them, as the options say.

    Raises:
        PositionError: A full text is read to join chunks, and has something else
            at the place that a chunk names.
    """
    # Some selections take text in another order than that of the ranks.
    best_first = rank_order(chunks)
    ordered = document_order(best_first, sort_documents=options.sort_documents)
    if options.merges:
        texts = options.source_text()
        passages = merge_adjacent(ordered, source_text=texts)
        if texts is not None:
            texts.check()
    else:
        passages = list(map(single_passage, ordered))
    if options.order == "rank":
        passages.sort(key=lambda passage: passage.rank)
    return passages


def merge_adjacent(
    chunks: Sequence[Chunk], *, source_text: TextByName | None = None
) -> list[Passage]:
    """Join touching, overlapping and nearly touching chunks into passages.

    Only chunks of the same document and part whose texts have the length of
    their spans are joined; all others become passages of their own. So do chunks that
    only touch, where facts of a file (a title, a folder) differ: they may be of two.

    Args:
        chunks: In document order and checked (`check_positions`).
        source_text: Full texts by document name, to fill gaps with. Without it
            the two sides of a gap are joined by a space or a blank line, the passage
            keeps its spans apart, and is not `exact`.

    Returns:
        Passages in the order of the chunks. Each chunk is in exactly one.

    Raises:
        PositionError: The source text is at hand and a span reaches past its
            end, or the chunk's text is not there.
    """
    passages: list[Passage] = []
    run: list[Chunk] = []
    end = 0
    for chunk in chunks:
        joins = (
            run
            and chunk.span is not None
            and chunk.fits_span
            and run[-1].fits_span
            and (chunk.document_key, chunk.part) == (run[0].document_key, run[0].part)
            and run[0].span is not None
            and run[0].span[0] <= chunk.span[0] <= end + SMALL_GAP
            and (chunk.span[0] < end or are_of_one_file(run[-1], chunk))
        )
        if run and not joins:
            passages.append(_join(run, source_text))
            run = []
        if chunk.span is not None:
            end = max(end, chunk.span[1]) if run else chunk.span[1]
        run.append(chunk)
    if run:
        passages.append(_join(run, source_text))
    return passages


def _join(run: Sequence[Chunk], source_text: TextByName | None) -> Passage:
    source = None if source_text is None else proved_source(run, source_text)
    if source is not None:
        run = [chunk._replace(proof="compared") for chunk in run]
    if len(run) == 1:
        return single_passage(run[0])
    texts: list[str] = []
    spans: list[Span] = []
    for chunk in run:
        if chunk.span is None:
            continue
        start, end = chunk.span
        if spans and start <= spans[-1].end:
            reach = spans[-1].end
            if end > reach:
                texts.append(chunk.text[reach - start :])
                spans[-1] = Span(spans[-1].start, end)
        elif spans and source is not None:
            texts.append(source[spans[-1].end : start] + chunk.text)
            spans[-1] = Span(spans[-1].start, end)
        else:
            texts.append(joint(spans, start) + chunk.text)
            spans.append(Span(start, end))
    return Passage("".join(texts), run[0].document_key, tuple(run), tuple(spans))


def joint(spans: Sequence[Span], start: int) -> str:
    """Return white space for a small gap before a start, where no full text is known.

    For one character a space, for more a blank line; nothing before the first span.
    """
    if not spans:
        return ""
    return " " if start - spans[-1].end == 1 else "\n\n"


def slices(text: str, spans: Sequence[Span]) -> list[tuple[Span, int]] | None:
    """Each span and what to subtract for its place in the text.

    None where the text is not made of slices that long.
    """
    places, length = [], 0
    for number, span in enumerate(spans):
        length += len(joint(spans[:number], span.start))
        places.append((span, span.start - length))
        length += span.end - span.start
    return places if spans and length == len(text) else None


def taken_apart(chunks: Sequence[Chunk]) -> list[Chunk]:
    """Return merged results that overlap others as the slices that they are made of.

    Two searches may have merged the same chunks. Others stay as they are.
    """
    return [part for chunk in chunks for part in _slices_of(chunk, chunks)]


def _slices_of(chunk: Chunk, chunks: Sequence[Chunk]) -> list[Chunk]:
    if not is_joined(chunk.metadata) or not is_unchanged(chunk.metadata, chunk.text):
        return [chunk]
    if chunk.span is None or not any(_overlap(chunk, other) for other in chunks):
        return [chunk]
    cuts = slices(chunk.text, read_spans(chunk.metadata, chunk.span)) or ()
    parts = [(span, chunk.text[span[0] - n : span[1] - n]) for span, n in cuts]
    return [slice_of(chunk, *span, text) for span, text in parts] or [chunk]


def _overlap(one: Chunk, other: Chunk) -> bool:
    if one is other or one.span is None or other.span is None:
        return False
    is_near = (one.document_key, one.part) == (other.document_key, other.part)
    return is_near and one.span[0] < other.span[1] and other.span[0] < one.span[1]


def proved_source(run: Sequence[Chunk], source_text: TextByName) -> str | None:
    """Return the text that the chunks' spans are slices of, where it is at hand.

    Args:
        run: Chunks of one document and part, at least one.
        source_text: Full texts by document name.

    Returns:
        None for a part of a document, for texts that do not have the length of
        their span, and where the name is not known.

    Raises:
        PositionError: A chunk's text is not where its span says.
    """
    first = run[0]
    if first.part is not None or not first.fits_span:
        return None
    source = source_text(first.text_id)
    if source is None:
        return None
    for chunk in run:
        if chunk.span is None or source.startswith(chunk.text, chunk.span[0]):
            continue
        start, end = chunk.span
        message = (
            f"Document {chunk.document_name or chunk.document_key!r}: a chunk claims "
            f"characters {start}-{end}, and its text ({len(source)} characters) has "
            "something else there. Give the text that was indexed, or index the "
            "document again."
        )
        raise PositionError(
            message,
            kind="invalid_span",
            document=chunk.document_key,
            start=start,
            end=end,
        )
    return source
