"""Whether the positions of chunks can all be true: duplicates, conflicts."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from itertools import takewhile
from operator import attrgetter

from oprag.chunk import Chunk, Span
from oprag.errors import OpragError
from oprag.ordering import group_by_document
from oprag.positions.errors import report_contradiction


def deduplicate(chunks: Iterable[Chunk]) -> list[Chunk]:
    """Keep one of the chunks that several queries or retrievers brought twice.

    Chunks are the same if document, position and text are the same. The one with the
    best rank stays. Equal texts at two positions are two chunks; equal texts of one
    document without positions are one.

    Returns:
        A new list in the order of the input.
    """
    best: dict[tuple[object, ...], Chunk] = {}
    for chunk in chunks:
        key: tuple[object, ...] = (chunk.document_key, chunk.position)
        known = best.get(key)
        if known is not None and known.text != chunk.text:
            key = (*key, chunk.text)  # only here: to hash all texts takes long
            known = best.get(key)
        if known is None or chunk.rank < known.rank:
            best[key] = chunk
    return list(best.values())


_SHORTEST_HEADER = 8
"""All chunks of a document do not share that many first characters by chance."""


def check_positions(
    chunks: Iterable[Chunk],
    *,
    problems: dict[str, OpragError] | None = None,
    agreeing: Collection[str] = (),
) -> list[Chunk]:
    """Make sure that the positions of each document can all be true at once.

    Two different texts cannot be at one position, and overlapping spans must agree on
    the characters they share. If they do not, the positions start again somewhere (per
    page, per section) or were found by a wrong search. One header before every chunk of
    the document makes them disagree as well. Such chunks are ordered by their starts,
    and their ends are not known.

    Args:
        chunks: Without duplicates; in any order.
        problems: Collects by document key the errors that are raised without it. The
            chunks of such a document get no position. If only pages or single values of
            the user's key are known, they keep these and their order.
        agreeing: Keys of documents that are known to have no contradiction.

    Returns:
        The chunks, in the order of the input; the same objects if nothing is in doubt.

    Raises:
        ConflictingPositionsError: Two spans overlap and their texts disagree.
        ConflictingPositionsError: Two texts have the same ordinal, line or page.
    """
    chunks = list(chunks)
    open_ended, wrong = set[str](), set[str]()
    for document, members in group_by_document(chunks).items():
        pair = None if document in agreeing else find_contradiction(members)
        if pair is None:
            continue
        error = report_contradiction(*pair)
        if error.kind == "conflicting_text" and _have_one_header(members):
            open_ended.add(document)
        elif problems is None:
            raise error
        else:
            problems.setdefault(document, error)
            if not all(_is_at_page(c) or c.proof == "chained" for c in members):
                wrong.add(document)
    if not wrong and not open_ended:
        return chunks
    return _change_places(chunks, wrong, open_ended)


def _change_places(
    chunks: Iterable[Chunk], wrong: Collection[str], open_ended: Collection[str]
) -> list[Chunk]:
    """Drop the places of wrong documents, and open the spans of open-ended ones."""
    kept = []
    for chunk in chunks:
        if chunk.document_key in wrong:
            kept.append(drop_place(chunk))
        elif chunk.document_key in open_ended and chunk.span:
            kept.append(_find_ending_at(chunk, chunk.span.start))
        else:
            kept.append(chunk)
    return kept


def _is_at_page(chunk: Chunk) -> bool:
    """Return whether a single number gives the place: a page, or a user's value."""
    position = chunk.position
    return chunk.span is None and position is not None and len(position) == 1


def drop_place(chunk: Chunk) -> Chunk:
    """Return the chunk without its position."""
    return chunk._replace(position=None, span=None, part=None, proof="none")


def _find_ending_at(chunk: Chunk, end: int) -> Chunk:
    start = chunk.span.start if chunk.span else end
    position = (*(chunk.position or (0,))[:-1], end)
    return chunk._replace(position=position, span=Span(start, end), proof="recorded")


def find_contradiction(chunks: Iterable[Chunk]) -> tuple[Chunk, Chunk] | None:
    """Return the first two chunks of a document whose places contradict each other."""
    placed = [
        chunk for chunk in chunks if chunk.position is not None and not chunk.problem
    ]
    before: Chunk | None = None
    furthest: Chunk | None = None
    part, begin, reach = None, 0, 0
    for chunk in sorted(placed, key=attrgetter("position", "rank")):
        if before and before.position == chunk.position and not _go_on(before, chunk):
            return before, chunk
        before, span = chunk, chunk.span
        if span is None or not chunk.fits_span:
            continue
        start, end = span
        if furthest is not None and part == chunk.part and start < reach:
            shared = chunk.text[: reach - start]
            if not furthest.text.startswith(shared, start - begin):
                return furthest, chunk
            if end <= reach:
                continue
        furthest, part, begin, reach = chunk, chunk.part, start, end
    return None


def _go_on(first: Chunk, second: Chunk) -> bool:
    """Return whether two texts at one place may be one text and its beginning."""
    if first.span is None or second.span is None:
        return False
    if first.fits_span or second.fits_span:
        return False
    short, long = sorted((first.text, second.text), key=len)
    return long.startswith(short)


def _have_one_header(chunks: Sequence[Chunk]) -> bool:
    """Return whether the texts agree after the beginning that all of them share."""
    texts = [chunk.text for chunk in chunks]
    pairs = zip(min(texts), max(texts), strict=False)  # all share what these two do
    shared = [a for a, _ in takewhile(lambda pair: pair[0] == pair[1], pairs)]
    if not all(chunk.fits_span for chunk in chunks):
        return False
    for length in range(len(shared), _SHORTEST_HEADER - 1, -1):
        ends_a_word = shared[length - 1].isspace()
        if not ends_a_word or not all(text[length:].strip() for text in texts):
            continue
        bodies = [_cut_beginning(chunk, length) for chunk in chunks]
        if find_contradiction(bodies) is None:
            return True
    return False


def _cut_beginning(chunk: Chunk, length: int) -> Chunk:
    """Return the chunk at its old start, without that many first characters."""
    end = chunk.span.end if chunk.span else 0
    return _find_ending_at(chunk, end - length)._replace(text=chunk.text[length:])
