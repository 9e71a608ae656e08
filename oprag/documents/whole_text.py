"""The full document out of a store's chunks, whole and proved, or an error.

Stores truncate, ignore filters, keep old versions, and return chunks in any order. So
chunks of other documents are dropped, repeated ones are counted once, and every
`chunk_index` must be there. The texts are joined by their offsets, and the result must
have the hash that was written when the document was split
(`oprag.metadata.text_stamp`).
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby, pairwise
from operator import attrgetter
from typing import Any, NamedTuple

from oprag.chunk import FullText, Span
from oprag.documents.sources import PART_SEPARATOR
from oprag.errors import (
    ConflictingPositionsError,
    DocumentNotFoundError,
    IncompleteDocumentError,
    PositionError,
    PositionWarning,
    find_caller_stacklevel,
)
from oprag.metadata import (
    CHAR_END,
    CHAR_START,
    CHUNK_INDEX,
    DOC_KEY,
    DOC_VERSION,
    N_CHUNKS,
    NONSPACE_HASH,
    PART_INDEX,
    TEXT_HASH,
    TEXT_LENGTH,
    as_number,
    document_key,
    text_hash,
    text_stamp,
    version_of_hashes,
    version_text,
)
from oprag.stores import StoredChunk

_LISTED = 10
"""The most ranges of missing chunks, or chunks, that an error names."""
_AGAIN = "Index the document again."


def rebuild(
    name: str,
    chunks: Iterable[StoredChunk],
    *,
    exact: bool = True,
    where: str = "the store",
    warns: bool = True,
) -> FullText:
    """Put a document back together from its chunks.

    Overlaps are resolved by arithmetic on `char_start` and `char_end`. If there are
    chunks of several versions, only those of one complete version are taken.

    Args:
        name: The document's name, its `doc_uri`.
        chunks: All its chunks, in any order. Repeated chunks and those of other
            documents do no harm. Integers may have become floats.
        exact: Whether only the exact text will do. If not, a text that is proved apart
            from white space is given as well, with `FullText.exact` False. Chunks of
            other splitters, which drop white space, give such a text. Each gap is
            filled with white space of its length.
        where: The place that the chunks come from, for messages.
        warns: Whether to warn.

    Returns:
        The whole document, a blank line between its parts (`part_index`).

    Raises:
        DocumentNotFoundError: No chunk is of this document.
        IncompleteDocumentError: There are missing chunks, or characters that no chunk
            holds. Or the number, place or hash is missing that would rule this out.
        ConflictingPositionsError: The chunks cannot all be of one text, or are not of
            the text that was split; or different texts have the same `chunk_index`.

    Warns:
        PositionWarning: There are two whole versions with different texts. An
            interrupted indexing leaves them, or an indexing of only one size. The same
            one is given every time; it need not be the newer.
    """
    key = document_key(name)
    own = [chunk for chunk in chunks if chunk.metadata.get(DOC_KEY) == key]
    if not own:
        message = (
            f"There is no document {name!r} in {where}: no chunk there has the doc_key "
            "of this name. Index it with index_documents."
        )
        raise DocumentNotFoundError(message, document=name)
    versions = {
        version: [own[i] for i in members]
        for version, members in group_by_version(
            chunk.metadata for chunk in own
        ).items()
    }
    if len(versions) > 1:
        where += f", with chunks of {len(versions)} versions of it (doc_version),"
    found: dict[str, FullText] = {}
    failures: dict[str, Exception] = {}
    for version in _whole_versions(name, versions):
        try:
            found[version] = _join_spans(name, versions[version], where, exact=exact)
        except (IncompleteDocumentError, PositionError) as error:
            failures[version] = error
    # Versions of one text differ only in size, so one sound version is enough.
    texts = {version_text(version) for version in (*found, *failures)}
    if failures and (not found or len(texts) > 1):
        raise next(iter(failures.values()))
    if warns and len({text.text for text in found.values()}) > 1:
        message = (
            f"Document {name!r}: the store holds {len(found)} versions of it with "
            "different texts, each of them whole. One is read, which need not be the "
            "newer. Index the document again, in every size."
        )
        warnings.warn(message, PositionWarning, stacklevel=find_caller_stacklevel())
    return max(found.values(), key=attrgetter("exact"))  # the first of equals


def group_by_version(metadatas: Iterable[Mapping[str, Any]]) -> dict[str, list[int]]:
    """Return the numbers of the chunks of each version, by its `doc_version`."""
    versions: dict[str, list[int]] = {}
    for number, metadata in enumerate(metadatas):
        version = str(metadata.get(DOC_VERSION) or "")
        versions.setdefault(version, []).append(number)
    return versions


def _are_all_there(chunks: Sequence[StoredChunk]) -> bool:
    """Return whether their numbers are exactly those that `n_chunks` promises."""
    totals = {as_number(chunk.metadata.get(N_CHUNKS)) for chunk in chunks}
    indexes = {as_number(chunk.metadata.get(CHUNK_INDEX)) for chunk in chunks}
    return totals == {len(indexes)} and indexes == set(range(len(indexes)))


def _whole_versions(
    name: str, versions: Mapping[str, Sequence[StoredChunk]]
) -> list[str]:
    """Return the complete versions, those with the fewest chunks first.

    Chunks of two sizes may exist side by side, and an interrupted run may leave those
    of two texts. If no version is complete, the one with the most chunks is returned:
    its error names the missing chunks. Pages that were indexed one by one are versions
    as well, and none of them is the document.
    """
    ordered = sorted(versions, key=lambda version: (len(versions[version]), version))
    whole = [version for version in ordered if _are_all_there(versions[version])]
    parts = {v: {c.metadata.get(PART_INDEX) for c in versions[v]} for v in versions}
    # A version that replaces another one may have more pages, or fewer.
    eligible = [v for v in whole if all(parts[v] & other for other in parts.values())]
    if whole and not eligible:
        what = "its chunks are of several versions (doc_version), each of other parts"
        raise _inconsistent(name, what)
    return eligible or ordered[-1:]


class _Piece(NamedTuple):
    number: int
    start: int
    end: int
    """-1, like `start`, for a blank chunk without a known place."""
    part: int | None
    text: str
    stamp: tuple[Any, Any, int | None]
    """Hashes and length of the part's whole text; see `text_stamp`."""


def _join_spans(
    name: str, chunks: Sequence[StoredChunk], where: str, *, exact: bool
) -> FullText:
    pieces = _pieces(name, chunks, where)
    rows = [[*row] for _, row in groupby(pieces, key=attrgetter("part"))]
    joined = [_part(name, row, len(pieces), exact=exact) for row in rows]
    hashes = [str(row[0].stamp[0]) for row in rows]
    recorded = version_text(chunks[0].metadata.get(DOC_VERSION))
    if not recorded and rows[0][0].part is None:
        recorded = hashes[0]
    if version_of_hashes(hashes) != recorded:
        what = "its parts are not those that were indexed, or not in their order"
        raise _inconsistent(name, f"{what} ({DOC_VERSION})")
    texts = tuple(text for text, _ in joined)
    proved = all(proved for _, proved in joined)
    return FullText(
        PART_SEPARATOR.join(texts), proved, texts, _pages(chunks, rows, texts)
    )


def _pages(
    chunks: Sequence[StoredChunk], rows: Sequence[list[_Piece]], texts: Sequence[str]
) -> tuple[tuple[Mapping[str, Any], Span], ...]:
    """Return metadata and span of each part, if the document has numbered parts."""
    if all(row[0].part is None for row in rows):
        return ()
    of = {as_number(chunk.metadata.get(PART_INDEX)): chunk.metadata for chunk in chunks}
    pages, start = [], 0
    for row, text in zip(rows, texts, strict=True):
        end = start + len(text)
        if (part := row[0].part) is not None:
            pages.append((of[part], Span(start, end)))
        start = end + len(PART_SEPARATOR)
    return tuple(pages)


def _pieces(name: str, chunks: Sequence[StoredChunk], where: str) -> list[_Piece]:
    """Return exactly one piece for each `chunk_index`, ascending."""
    pieces: dict[int, _Piece] = {}
    totals: set[int] = set()
    for text, metadata, *_ in chunks:
        index = as_number(metadata.get(CHUNK_INDEX))
        total = as_number(metadata.get(N_CHUNKS))
        start = as_number(metadata.get(CHAR_START))
        end = as_number(metadata.get(CHAR_END))
        placed = start is not None and end is not None
        if index is None or total is None or not (placed or not text.strip()):
            keys = (CHUNK_INDEX, N_CHUNKS, CHAR_START, CHAR_END)
            numbers = zip(keys, (index, total, start, end), strict=True)
            lacking = [key for key, number in numbers if number is None]
            what = f"one of its chunks has no usable {' and '.join(lacking)}"
            raise _incomplete(name, what, len(chunks))
        length = as_number(metadata.get(TEXT_LENGTH))
        stamp = (metadata.get(TEXT_HASH), metadata.get(NONSPACE_HASH), length)
        part = as_number(metadata.get(PART_INDEX))
        at = (start, end) if start is not None and end is not None else (-1, -1)
        piece = _Piece(index, *at, part, text, stamp)
        if pieces.setdefault(index, piece) != piece:
            what = f"two different chunks have {CHUNK_INDEX} {index}"
            raise _inconsistent(name, what, index)
        totals.add(total)
    total, last = min(totals), max(pieces)
    if len(totals) > 1 or last >= total:
        said = ", others ".join(f"{each:,}" for each in sorted(totals))
        what = f"some of its chunks have {N_CHUNKS} {said}; the last is chunk {last:,}"
        raise _inconsistent(name, what, last)
    if len(pieces) < total:
        raise _find_missing_chunks(name, sorted(pieces), total, where)
    return [pieces[index] for index in range(total)]


def _part(
    name: str, pieces: Sequence[_Piece], total: int, *, exact: bool
) -> tuple[str, bool]:
    """Join the pieces of one part. Return its text, and whether it is proved."""
    whole_hash, nonspace_hash, length = pieces[0].stamp
    text, gap = _laid_out(pieces, length)
    if text_hash(text) == whole_hash:
        return text, True
    first, last = pieces[0].number, pieces[-1].number
    of_part = f"of chunks {first}-{last}"
    if text_stamp(text, exact=False)[NONSPACE_HASH] == nonspace_hash:
        if not exact:
            return text, False
        what = "its chunks do not hold all its white space (exact=False)"
    elif not whole_hash:
        what = f"chunk {first} carries no length and hash of the text ({TEXT_HASH})"
    elif gap is not None:
        what = f"no chunk holds characters {gap[0]:,}-{gap[1]:,} of the text {of_part}"
    else:
        what = f"the text {of_part} is not the one that was indexed ({TEXT_HASH})"
        raise _inconsistent(name, what, *(piece.number for piece in pieces))
    raise _incomplete(name, what, total, gap=gap)


def _laid_out(
    pieces: Sequence[_Piece], length: int | None
) -> tuple[str, tuple[int, int] | None]:
    """Join pieces by their places. Return the text, and its widest gap, if any.

    Each gap, and the rest after the last piece up to `length`, is white space.
    """
    texts: list[str] = []
    gaps: list[tuple[int, int]] = []
    reach, before = 0, None
    for piece in pieces:
        if piece.start < 0 or piece.end < piece.start:
            continue
        if piece.start > reach:
            gaps.append((reach, piece.start))
            texts.append(_white_space(piece.start - reach))
            texts.append(piece.text)
        elif before is None or piece.start == reach:
            texts.append(piece.text)
        elif piece.end > reach:
            texts.append(_beyond(before, piece))
        if piece.end >= reach:
            reach, before = piece.end, piece
    if length is not None and reach < length:
        gaps.append((reach, length))
        texts.append(_white_space(length - reach))
    return "".join(texts), max(gaps, key=lambda gap: gap[1] - gap[0], default=None)


def _white_space(length: int) -> str:
    """Return the likeliest stripped text: line breaks, then an indentation."""
    return "\n" * min(length, 2) + " " * (length - 2)


def _beyond(before: _Piece, piece: _Piece) -> str:
    """Return the characters that a piece adds to the text that `before` ends.

    If the text is not as long as its span, its white space was altered. Then the
    overlap with the text before it is measured there, without white space.
    """
    shared = before.end - piece.start
    if len(piece.text) == piece.end - piece.start:
        return piece.text[shared:]
    solid = len("".join(before.text[piece.start - before.start :].split()))
    seen = 0
    for place, character in enumerate(piece.text):
        if seen == solid:
            return piece.text[place:]
        seen += not character.isspace()
    return ""


def _find_missing_chunks(
    name: str, indexes: Sequence[int], total: int, where: str
) -> IncompleteDocumentError:
    missing = [
        range(before + 1, after)
        for before, after in pairwise([-1, *indexes, total])
        if before + 1 < after
    ]
    listed = missing[:_LISTED]
    shown = [str(r.start) if len(r) == 1 else f"{r.start}-{r.stop - 1}" for r in listed]
    more = ", …" if len(missing) > _LISTED else ""
    what = (
        f"{where} gave {len(indexes):,} of its {total:,} chunks; missing: "
        f"{', '.join(shown)}{more}"
    )
    found = len(indexes)
    return _incomplete(name, what, total, missing=tuple(listed), found=found)


def _incomplete(
    name: str, what: str, total: int, **facts: Any
) -> IncompleteDocumentError:
    facts = {"found": total, "missing": (), "gap": None, **facts}
    message = f"Document {name!r}: {what}. {_AGAIN}"
    return IncompleteDocumentError(message, document=name, expected=total, **facts)


def _inconsistent(name: str, what: str, *chunks: int) -> ConflictingPositionsError:
    message = f"Document {name!r}: {what}. {_AGAIN}"
    return ConflictingPositionsError(
        message, kind="inconsistent_chunks", document=name, chunks=chunks[:_LISTED]
    )
