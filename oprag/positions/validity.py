"""Whether positions can be true: missing, out of scope, contradictory; the errors."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import takewhile
from operator import add, attrgetter
from typing import Any

from oprag.chunk import Chunk, Hit, Span
from oprag.errors import (
    AmbiguousPositionError,
    ConflictingTextError,
    InvalidSpanError,
    MixedVersionsWarning,
    OpragError,
    PositionError,
    UnscopedPositionError,
    warn_user,
)
from oprag.metadata import CITATION, DOC_KEY, DOC_VERSION, HASH, version_text
from oprag.positions.keys import HIGHEST, SECTION_KEYS, as_number
from oprag.positions.missing import AT_INDEXING, WAYS_OUT, ways_out


def refuse_negative(values: Sequence[Any], document: str) -> None:
    """Say so when a start is negative; -1 alone means "not found" and is missing.

    So is what no column of 64 bits holds, such as minus infinity.
    """
    for value in values:
        if type(value) in (int, float) and -HIGHEST <= value < 0 and value != -1:
            raise invalid_span(document, int(value), None)


def refuse_sections(
    hits: Sequence[Hit], parts: Sequence[int | None], document: str
) -> None:
    """Refuse `start_index` when the chunks come from several sections.

    LangChain copies the metadata of the text that was split into every chunk, so
    chunks whose section differs were split from different texts, and their
    offsets count from the start of each. So were chunks of several parents
    (`doc_id`), unless these are pages.
    """
    keys = SECTION_KEYS if parts[0] is not None else (*SECTION_KEYS, "doc_id")
    there = set().union(*[hit.metadata for hit in hits])
    differing = []
    for key in filter(there.__contains__, keys):
        values = [hit.metadata.get(key) for hit in hits]
        if any(value != values[0] for value in values):
            differing.append(key)
    if not differing:
        return
    message = (
        f"Document {document!r}: start_index counts from the start of a section here "
        f"(the chunks differ in {', '.join(differing)}), so it does not order the "
        f'document. If it does count from the start, say position_keys="start_index". '
        f"{WAYS_OUT}{AT_INDEXING}"
    )
    raise UnscopedPositionError(message, document=document, keys=tuple(differing))


def refuse_frames(
    hits: Sequence[Hit],
    starts: Sequence[int | None],
    parts: Sequence[int | None],
    document: str,
) -> None:
    """Refuse framework offsets that are relative to something else.

    Each part is a text of its own, with its own last chunk.
    """
    for part in dict.fromkeys(parts):
        members = [
            (hit, start)
            for hit, start, its_part in zip(hits, starts, parts, strict=True)
            if its_part == part
        ]
        restarts = part is None and len({hit.document for hit, _ in members}) > 1
        if not restarts and not _has_wrong_frame(members):
            continue
        origin = (
            "several framework documents, each counted from 0, that no page or part "
            "number puts in order"
            if restarts
            else "a parent or an intermediate text (hierarchical or chained node "
            "parsers write such offsets)"
        )
        message = (
            f"Document {document!r}: start_char_idx counts from the start of {origin}, "
            f"so it does not order the document. {WAYS_OUT}{AT_INDEXING}"
        )
        raise UnscopedPositionError(
            message, document=document, keys=("start_char_idx",)
        )


def _has_wrong_frame(members: Sequence[tuple[Hit, int | None]]) -> bool:
    """Whether the chunks cannot all be of one text that was split once.

    Such a text has one last chunk, the furthest one, and no chunk stands alone
    beside it. Chained parsers leave one chunk that looks alone, and many that look
    like the last.
    """
    frames = [hit.frame for hit, _ in members]
    if "parent" in frames or "last" not in frames:
        return "parent" in frames
    last = {start for hit, start in members if hit.frame == "last"}
    furthest = max(start for _, start in members if start is not None)
    return "only" in frames or last != {furthest}


def invalid_span(document: str, start: int, end: Any) -> InvalidSpanError:
    """Make the error for a span that cannot be one."""
    shown = f"start {start}" if end is None else f"span [{start}, {end!r})"
    message = (
        f"Document {document!r}: a chunk has the {shown}; a span starts at 0 or later "
        f"and ends after its start. {WAYS_OUT}{AT_INDEXING}"
    )
    found = as_number(end)
    return InvalidSpanError(
        message, document=document, start=start, end=start if found is None else found
    )


def without_duplicates(chunks: Iterable[Chunk]) -> list[Chunk]:
    """Keep one of the chunks that several queries or retrievers brought twice.

    Chunks are the same when document, position and text are the same; the one
    with the best rank stays. Equal texts at two positions are two chunks; equal
    texts of one document without positions are one.

    Returns:
        A new list in the order of the input.
    """
    best: dict[tuple[object, ...], Chunk] = {}
    for chunk in chunks:
        key: tuple[object, ...] = (chunk.document, chunk.position)
        known = best.get(key)
        if known is not None and known.text != chunk.text:
            key = (*key, chunk.text)  # only here: to hash all texts takes long
            known = best.get(key)
        if known is None or chunk.rank < known.rank:
            best[key] = chunk
    return list(best.values())


def within_one_version(chunks: Sequence[Chunk]) -> list[Chunk]:
    """Keep the chunks of one text where those of several versions were retrieved.

    An interrupted indexing leaves chunks of two texts of a document, which have no
    common order. Chunks of several sizes of one text stay together (`doc_version`), and
    so do pages, which may have been split one by one: each is looked at by itself.

    Args:
        chunks: Best first.

    Returns:
        For each text that of its best chunk, in the order of the input.

    Warns:
        MixedVersionsWarning: Some were left out.
    """
    best: dict[tuple[Any, int | None], str] = {}
    kept = []
    last: object = None
    version = ""
    for chunk in chunks:
        written = chunk.metadata.get(DOC_VERSION)
        if written != last:
            last, version = written, version_text(written)
        scope = chunk.metadata.get(DOC_KEY), chunk.part
        if not version or best.setdefault(scope, version) == version:
            kept.append(chunk)
    if len(kept) < len(chunks):
        left_out = len(chunks) - len(kept)
        names = dict.fromkeys(c.name or c.document for c in chunks if c not in kept)
        message = (
            f"{left_out} retrieved chunks of {', '.join(map(repr, names))} were left "
            "out: they are of another version of the text (doc_version) than the best "
            "chunk. An interrupted indexing leaves such chunks: index these documents "
            "again."
        )
        warn_user(message, MixedVersionsWarning)
    return kept


_SHORTEST_HEADER = 8
"""Characters that all chunks of a document do not begin with by chance."""


def check_positions(
    chunks: Iterable[Chunk], *, problems: dict[str, OpragError] | None = None
) -> list[Chunk]:
    """Make sure that the positions of each document can all be true at once.

    Two different texts cannot stand at one position, and overlapping spans must
    agree on the characters they share. Where they do not, the positions restart
    somewhere (per page, per section) or were found by a wrong search. One header, put
    before every chunk of the document, makes them disagree as well: such chunks are
    ordered by their starts, and where they end is not known.

    Args:
        chunks: Without duplicates; in any order.
        problems: Collects, by document key, what is raised without it. The chunks of
            such a document get no position.

    Returns:
        The chunks, in the order of the input; the same objects where nothing is
        in doubt.

    Raises:
        ConflictingTextError: Two spans overlap and their texts disagree.
        AmbiguousPositionError: Two texts have the same ordinal, line or page.
    """
    chunks = list(chunks)
    groups: dict[str, list[Chunk]] = {}
    for chunk in chunks:
        groups.setdefault(chunk.document, []).append(chunk)
    headed, doubtful = set(), set()
    for document, members in groups.items():
        error = _contradiction(document, members)
        if error is None:
            continue
        if isinstance(error, ConflictingTextError) and _have_one_header(members):
            headed.add(document)
        elif problems is None:
            raise error
        else:
            problems.setdefault(document, error)
            doubtful.add(document)
    if not headed and not doubtful:
        return chunks
    return [
        without_place(chunk)
        if chunk.document in doubtful
        else _without_end(chunk)
        if chunk.document in headed
        else chunk
        for chunk in chunks
    ]


def without_place(chunk: Chunk) -> Chunk:
    """Return the chunk as one of which nobody knows where it stands."""
    return chunk._replace(position=None, span=None, part=None)


def _without_end(chunk: Chunk) -> Chunk:
    span, position = chunk.span, chunk.position
    if span is None or position is None:
        return chunk
    return chunk._replace(
        position=(*position[:-1], span.start), span=Span(span.start, span.start)
    )


def _have_one_header(chunks: Sequence[Chunk]) -> bool:
    """Whether the texts agree behind something that all of them begin with."""
    placed = [chunk for chunk in chunks if chunk.span is not None and chunk.exact]
    texts = [chunk.text for chunk in placed]
    pairs = zip(min(texts), max(texts), strict=False)  # what these share, all do
    shared = [a for a, _ in takewhile(lambda pair: pair[0] == pair[1], pairs)]
    return len(placed) == len(chunks) and any(
        shared[length - 1].isspace()
        and all(text[length:].strip() for text in texts)
        and overlaps_agree(
            [chunk.part for chunk in placed],
            [chunk.span.start for chunk in placed if chunk.span],
            [chunk.span.end - length for chunk in placed if chunk.span],
            [text[length:] for text in texts],
        )
        for length in range(len(shared), _SHORTEST_HEADER - 1, -1)
    )


def _contradiction(document: str, chunks: Sequence[Chunk]) -> PositionError | None:
    placed = [chunk for chunk in chunks if chunk.position is not None]
    spans = [chunk.span for chunk in placed if chunk.span is not None and chunk.exact]
    if len(spans) == len(placed) and overlaps_agree(
        [chunk.part for chunk in placed],
        [span[0] for span in spans],
        [span[1] for span in spans],
        [chunk.text for chunk in placed],
    ):
        return None
    placed.sort(key=attrgetter("rank"))
    placed.sort(key=attrgetter("position"))
    return _disagreement(document, placed)


def overlaps_agree(
    scopes: Sequence[Any],
    starts: Sequence[int],
    ends: Sequence[int],
    texts: Sequence[str],
) -> bool:
    """Whether spans that overlap have the same text there.

    Args:
        scopes: The text that each span is relative to; hashable.
        starts: The first character of each.
        ends: One past its last.
        texts: What stands there: as long as the span.
    """
    known = dict.fromkeys(scopes)
    if len(known) > 1:  # as if they were one text, each behind the one before
        longest = max(ends)
        begins = {scope: longest * number for number, scope in enumerate(known)}
        offsets = [*map(begins.__getitem__, scopes)]
        starts, ends = [*map(add, starts, offsets)], [*map(add, ends, offsets)]
    order = sorted(range(len(starts)), key=starts.__getitem__)
    columns = (map(column.__getitem__, order) for column in (starts, ends, texts))
    # The one that reaches furthest has all that is between its start and there.
    begin, reach, furthest = 0, 0, ""
    for start, end, text in zip(*columns, strict=True):
        if start < reach:
            if not furthest.startswith(text[: reach - start], start - begin):
                return False
            if end <= reach:
                continue
        begin, reach, furthest = start, end, text
    return True


def _disagreement(document: str, placed: Sequence[Chunk]) -> PositionError | None:
    """The first that is at the place of the one before and has another text."""
    before: Chunk | None = None
    reach: Chunk | None = None
    place: object = None
    part, begin, end, text = None, 0, 0, ""
    for chunk in placed:
        if before is not None and place == chunk.position and not _go_on(before, chunk):
            return _same_place(document, before, chunk)
        before, place, span = chunk, chunk.position, chunk.span
        if span is None or not chunk.exact:
            continue
        start, stop = span
        if reach is not None and part == chunk.part:
            if start < end:
                shared = chunk.text[: end - start]
                if not text.startswith(shared, start - begin):
                    return _conflict(document, reach, chunk)
            if stop <= end:
                continue
        reach, part, begin, end, text = chunk, chunk.part, start, stop, chunk.text
    return None


def _go_on(first: Chunk, second: Chunk) -> bool:
    """Whether one of two texts that begin at one place goes on where the other ends."""
    if first.span is None or second.span is None or first.exact or second.exact:
        return False
    short, long = sorted((first.text, second.text), key=len)
    return long.startswith(short)


def _same_place(document: str, first: Chunk, second: Chunk) -> PositionError:
    if first.exact and second.exact:
        return _conflict(document, first, second)
    position = first.position or ()
    shown = ", ".join(str(number) for number in position)
    why = (
        "A page, row or restarting index needs an offset beside it. "
        f"{ways_out(first.metadata)}"
    )
    cited = first.metadata.get(CITATION)
    if HASH in first.metadata and cited == second.metadata.get(CITATION):
        why = (
            "They are pieces of one result of oprag, which was split again, and each "
            f"has the place of the whole ({cited}). Split with oprag's splitters, "
            "which place the pieces, or split before results are put in order."
        )
    message = (
        f"Document {document!r}: the chunks at ranks {first.rank} and {second.rank} "
        f"have different texts and the same position ({shown}), so their order is not "
        f"known. {why}"
    )
    return AmbiguousPositionError(
        message, document=document, position=position, ranks=(first.rank, second.rank)
    )


def _conflict(document: str, left: Chunk, right: Chunk) -> ConflictingTextError:
    spans = (_plain(left), _plain(right))
    message = (
        f"Document {document!r}: the chunks at ranks {left.rank} and {right.rank} "
        f"claim characters {spans[0][0]}-{spans[0][1]} and {spans[1][0]}-{spans[1][1]}"
        ", but their texts differ where these overlap. The offsets restart (per page "
        "or section), were found by a wrong search, or belong to two versions of the "
        "document: then tell these apart with document_key=. "
        f"{WAYS_OUT}{AT_INDEXING}"
    )
    return ConflictingTextError(message, document=document, spans=spans)


def _plain(chunk: Chunk) -> tuple[int, int]:
    return (0, 0) if chunk.span is None else (chunk.span[0], chunk.span[1])
