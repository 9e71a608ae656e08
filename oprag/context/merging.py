"""Joins neighbouring chunks of one document by their offsets.

Texts are never compared to find an overlap: with exact offsets the overlap is
arithmetic, and text that happens to repeat cannot be lost or doubled.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from oprag.chunk import Chunk, Passage, Span
from oprag.context.results import single_passage
from oprag.errors import PositionError

JOINT = "\n"
"""Stands where a small gap between two chunks could not be read from the source."""

_MAX_GAP = 8
"""Characters that may lie between two chunks of one passage: splitters strip the white
space between chunks."""

SourceText = Callable[[str], str | None]
"""From a document's name to its full text, or None where it is not known."""


def merge_neighbours(
    chunks: Sequence[Chunk], *, source_text: SourceText | None = None
) -> list[Passage]:
    """Join touching, overlapping and nearly touching chunks into passages.

    Only chunks of the same document and part whose texts have the length of
    their spans are joined; all others become passages of their own.

    Args:
        chunks: In document order and checked (`check_positions`).
        source_text: Full texts by document name, to fill gaps with. Without it
            the two sides of a gap are joined by a line break, the passage keeps
            its spans apart, and `exact` is False.

    Returns:
        Passages in the order of the chunks. Each chunk is in exactly one.

    Raises:
        PositionError: The source text is at hand and a span reaches past its
            end, or the chunk's text does not stand there.
    """
    passages: list[Passage] = []
    run: list[Chunk] = []
    end = 0
    for chunk in chunks:
        joins = (
            run
            and chunk.span is not None
            and chunk.exact
            and run[-1].exact
            and (chunk.document, chunk.part) == (run[0].document, run[0].part)
            and run[0].span is not None
            and run[0].span[0] <= chunk.span[0] <= end + _MAX_GAP
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


def _join(run: Sequence[Chunk], source_text: SourceText | None) -> Passage:
    source = None if source_text is None else proved_source(run, source_text)
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
            texts.append(JOINT + chunk.text if spans else chunk.text)
            spans.append(Span(start, end))
    return Passage(
        "".join(texts), run[0].document, tuple(run), tuple(spans), len(spans) == 1
    )


def proved_source(run: Sequence[Chunk], source_text: SourceText) -> str | None:
    """Return the text that the chunks' spans are slices of, where it is at hand.

    Args:
        run: Chunks of one document and part, at least one.
        source_text: Full texts by document name.

    Returns:
        None for a part of a document, for texts that do not have the length of
        their span, and where the name is not known.

    Raises:
        PositionError: A chunk's text does not stand where its span says.
    """
    first = run[0]
    if first.part is not None or not first.exact:
        return None
    source = source_text(first.uri)
    if source is None:
        return None
    for chunk in run:
        if chunk.span is None or source.startswith(chunk.text, chunk.span[0]):
            continue
        start, end = chunk.span
        where = (
            f"past the end of the text ({len(source)} characters)"
            if end > len(source)
            else "where the text differs from the chunk's"
        )
        message = (
            f"Document {chunk.document!r}: a chunk claims characters {start}-{end}, "
            f"{where}. The text in documents= is not the one that was indexed, or the "
            "positions are wrong: index it again, or repair the positions with "
            "annotate_positions or PositionAnnotator."
        )
        raise PositionError(
            message, kind="invalid_span", document=chunk.document, start=start, end=end
        )
    return source
