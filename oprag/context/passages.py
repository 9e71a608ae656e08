"""Build passages of one chunk or of joined neighbours; read back those of results.

Chunks are joined by their offsets. Texts are never compared to find an overlap: with
exact offsets the overlap is arithmetic, and text that happens to repeat cannot be lost
or doubled.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from oprag.chunk import SMALL_GAP, Chunk, Hit, Passage, Span
from oprag.context.options import ContextOptions
from oprag.context.pieces import slice_of
from oprag.errors import PositionError
from oprag.ordering import document_order, rank_order
from oprag.positions import (
    are_of_one_file,
    identify_documents,
    read_chunks,
    read_citation,
    read_position,
    read_spans,
)
from oprag.result_key import WrittenPlace, read_written

TextByName = Callable[[str], str | None]
"""A function from a text id to the document's full text, or None if it is not known."""


def single_passage(chunk: Chunk) -> Passage:
    """Make a passage of one unchanged chunk."""
    span, metadata = chunk.span, chunk.metadata
    spans: tuple[Span, ...] = () if span is None else (span,)
    written = read_written(metadata)
    if written is None:
        return Passage(chunk.text, chunk.document_key, (chunk,), spans)
    cited = None
    if span is not None:
        spans = read_spans(metadata, span)
    if _is_as_written(written, chunk):
        cited = written.citation
        if written.counted is not None:
            cited = read_citation(metadata, written)
    return Passage(chunk.text, chunk.document_key, (chunk,), spans, cited)


def _is_as_written(written: WrittenPlace, chunk: Chunk) -> bool:
    """Return whether the chunk still has the place and text that were written."""
    return written.whole == chunk.span and written.describes(chunk.text)


def read_passages(hits: Sequence[Hit]) -> list[Passage]:
    """Return the passage of each result, in the order given.

    Returns:
        One passage per hit, of one chunk that has the hit's object as its `source`.
    """
    documents = identify_documents(hits, problems={})
    passages = []
    for chunk in read_chunks(hits, documents, problems={}):
        written = read_written(chunk.metadata)
        # Trust the place written on this result, whatever hits are beside it.
        if written is not None:
            position = read_position(written, chunk.text)
            chunk = chunk._replace(  # noqa: PLW2901 -- the same chunk
                rank=written.rank or 0,
                position=position.key,
                span=position.span,
                part=position.part,
                problem=written.problem,
            )
        passage = single_passage(chunk)
        # A number holds only for the text it was given to.
        if written is not None and _is_as_written(written, chunk):
            passage = passage._replace(number=written.number)
        passages.append(passage)
    return passages


def build_passages(chunks: Sequence[Chunk], options: ContextOptions) -> list[Passage]:
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
            texts.check_any_found()
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
    their spans are joined; all others become separate passages. So do chunks that only
    touch, if facts of a file (a title, a folder) differ: they may be of two files.

    Args:
        chunks: In document order and checked (`check_positions`).
        source_text: Full texts by their ids, to fill gaps with. Without it
            the two sides of a gap are joined by a space or a blank line, and the
            passage keeps its spans apart and is not `exact`.

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
        if run and not _continues(run, chunk, end):
            passages.append(_join(run, source_text))
            run = []
        if chunk.span is not None:
            end = max(end, chunk.span[1]) if run else chunk.span[1]
        run.append(chunk)
    if run:
        passages.append(_join(run, source_text))
    return passages


def _continues(run: Sequence[Chunk], chunk: Chunk, end: int) -> bool:
    """Return whether the chunk joins the run, whose text ends at `end`."""
    first, last = run[0], run[-1]
    if (chunk.document_key, chunk.part) != (first.document_key, first.part):
        return False
    if first.span is None or chunk.span is None:
        return False
    if not (last.fits_span and chunk.fits_span):
        return False
    if not first.span[0] <= chunk.span[0] <= end + SMALL_GAP:
        return False
    # Chunks that only touch may be of two files; overlapping text would prove one.
    return chunk.span[0] < end or are_of_one_file(last, chunk)


def _join(run: Sequence[Chunk], source_text: TextByName | None) -> Passage:
    source = None if source_text is None else find_verified_text(run, source_text)
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
            texts.append(fill_gap(spans, start) + chunk.text)
            spans.append(Span(start, end))
    return Passage("".join(texts), run[0].document_key, tuple(run), tuple(spans))


def fill_gap(spans: Sequence[Span], start: int) -> str:
    """Return white space for a small gap before a start, if no full text is known.

    For one character a space, for more a blank line; nothing before the first span.
    """
    if not spans:
        return ""
    return " " if start - spans[-1].end == 1 else "\n\n"


def locate_spans(text: str, spans: Sequence[Span]) -> list[tuple[Span, int]] | None:
    """Return each span with its offset: its start minus its index in the text.

    None if the text has not the length of these spans and the white space between them.
    """
    places, length = [], 0
    for number, span in enumerate(spans):
        length += len(fill_gap(spans[:number], span.start))
        places.append((span, span.start - length))
        length += span.end - span.start
    return places if spans and length == len(text) else None


def split_merged(chunks: Sequence[Chunk]) -> list[Chunk]:
    """Split merged results that overlap others into the slices that they are made of.

    Two searches may have merged the same chunks. Other results stay unchanged.
    """
    return [part for chunk in chunks for part in _slices_of(chunk, chunks)]


def _slices_of(chunk: Chunk, chunks: Sequence[Chunk]) -> list[Chunk]:
    written = read_written(chunk.metadata)
    if written is None or not written.is_joined or not written.describes(chunk.text):
        return [chunk]
    if chunk.span is None or not any(_overlap(chunk, other) for other in chunks):
        return [chunk]
    cuts = locate_spans(chunk.text, read_spans(chunk.metadata, chunk.span)) or ()
    parts = [
        (span, chunk.text[span[0] - offset : span[1] - offset]) for span, offset in cuts
    ]
    return [slice_of(chunk, *span, text) for span, text in parts] or [chunk]


def _overlap(one: Chunk, other: Chunk) -> bool:
    if one is other or one.span is None or other.span is None:
        return False
    is_near = (one.document_key, one.part) == (other.document_key, other.part)
    return is_near and one.span[0] < other.span[1] and other.span[0] < one.span[1]


def find_verified_text(run: Sequence[Chunk], source_text: TextByName) -> str | None:
    """Return the text that the chunks' spans are slices of, if it is at hand.

    Args:
        run: Chunks of one document and part, at least one.
        source_text: Full texts by their ids.

    Returns:
        None for a part of a document, for texts that do not have the length of
        their span, and for a name that is not known.

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
