"""Finds positions that contradict each other, and drops chunks retrieved twice."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from operator import attrgetter
from typing import TYPE_CHECKING

from oprag.chunk import Chunk
from oprag.errors import AmbiguousPositionError, ConflictingTextError, PositionError
from oprag.ordering import group_by_document

if TYPE_CHECKING:
    from oprag.positions.reading import MissingPosition


def without_duplicates(chunks: Iterable[Chunk]) -> list[Chunk]:
    """Keep one of the chunks that several queries or retrievers brought twice.

    Chunks are the same when document, position and text are the same; the one
    with the best rank stays. Equal texts at two positions are two chunks; equal
    texts of one document without positions are one.

    Returns:
        A new list in the order of the input.
    """
    best: dict[tuple[str, tuple[float, ...] | None, str], Chunk] = {}
    for chunk in chunks:
        key = (chunk.document, chunk.position, chunk.text)
        known = best.get(key)
        if known is None or chunk.rank < known.rank:
            best[key] = chunk
    return list(best.values())


def check_positions(
    chunks: Iterable[Chunk], *, missing_position: MissingPosition = "error"
) -> list[Chunk]:
    """Make sure that the positions of each document can all be true at once.

    Two different texts cannot stand at one position, and overlapping spans must
    agree on the characters they share. Where they do not, the positions restart
    somewhere (per page, per section) or were found by a wrong search.

    Args:
        chunks: Without duplicates; in any order.
        missing_position: With `"error"` a contradiction is raised. Otherwise the
            positions of that document are doubtful and count as missing: its
            chunks stand by rank.

    Returns:
        The chunks, in the order of the input; the same objects where nothing is
        in doubt.

    Raises:
        ConflictingTextError: Two spans overlap and their texts disagree.
        AmbiguousPositionError: Two texts have the same ordinal, line or page.
    """
    chunks = list(chunks)
    doubtful = set()
    for document, members in group_by_document(chunks).items():
        error = _contradiction(document, members)
        if error is not None:
            if missing_position == "error":
                raise error
            doubtful.add(document)
    if not doubtful:
        return chunks
    return [
        chunk._replace(position=None, span=None, part=None)
        if chunk.document in doubtful
        else chunk
        for chunk in chunks
    ]


def _contradiction(document: str, chunks: Sequence[Chunk]) -> PositionError | None:
    placed = [chunk for chunk in chunks if chunk.position is not None]
    placed.sort(key=attrgetter("position", "rank"))
    reach: Chunk | None = None
    end = 0
    for before, chunk in zip([None, *placed], placed, strict=False):
        if before is not None and before.position == chunk.position:
            return _same_place(document, before, chunk)
        span = chunk.span
        if span is None or not chunk.exact:
            continue
        if reach is None or reach.part != chunk.part:
            reach, end = chunk, span[1]
            continue
        if span[0] < end and _disagree(reach, chunk):
            return _conflict(document, reach, chunk)
        if span[1] > end:
            reach, end = chunk, span[1]
    return None


def _disagree(left: Chunk, right: Chunk) -> bool:
    """Whether two exact chunks differ where they overlap; `left` starts first."""
    if left.span is None or right.span is None:
        return False
    shared = min(left.span[1], right.span[1]) - right.span[0]
    if shared <= 0:
        return False
    offset = right.span[0] - left.span[0]
    return left.text[offset : offset + shared] != right.text[:shared]


def _same_place(document: str, first: Chunk, second: Chunk) -> PositionError:
    if first.exact and second.exact:
        return _conflict(document, first, second)
    position = first.position or ()
    shown = ", ".join(str(number) for number in position)
    message = (
        f"Document {document!r}: the chunks at ranks {first.rank} and {second.rank} "
        f"have different texts and the same position ({shown}), so their order is not "
        "known. A page, row or restarting index needs an offset beside it: split with "
        "add_start_index=True or with oprag's splitters, repair the index with "
        "annotate_positions or PositionAnnotator, name a finer key with "
        'position_keys=, or pass missing_position="rank" to keep such documents in '
        "rank order."
    )
    return AmbiguousPositionError(
        message,
        document=document,
        position=position,
        ranks=(first.rank, second.rank),
    )


def _conflict(document: str, left: Chunk, right: Chunk) -> ConflictingTextError:
    spans = (_plain(left), _plain(right))
    message = (
        f"Document {document!r}: the chunks at ranks {left.rank} and {right.rank} "
        f"claim characters {spans[0][0]}-{spans[0][1]} and {spans[1][0]}-{spans[1][1]}"
        ", but their texts differ where these overlap. The offsets restart (per page "
        "or section), were found by a wrong search, or belong to two versions of the "
        "document. Repair them with annotate_positions or PositionAnnotator, name the "
        "part in position_keys=, tell the versions apart with document_key=, or pass "
        'missing_position="rank" to keep such documents in rank order.'
    )
    return ConflictingTextError(message, document=document, spans=spans)


def _plain(chunk: Chunk) -> tuple[int, int]:
    return (0, 0) if chunk.span is None else (chunk.span[0], chunk.span[1])
