"""Why a document is not put together, and what to do about it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from oprag.documents.stored_chunks import PartStamp, Piece
from oprag.errors import (
    DocumentNotFoundError,
    IncompleteDocumentError,
    InconsistentChunksError,
)

REPAIR = (
    "in Chroma by `oprag doctor --repair`, elsewhere by `oprag.diagnosing.plan_repair`"
)
"""How positions are repaired: the command line writes to Chroma only."""

_WAYS_OUT = (
    "Index it again with oprag's splitters, or give the full text with documents=."
)
_INEXACT = "document_source(store, exact=False), or StoreSource(…, exact=False)"

_LISTED = 10
"""Ranges of missing chunks, and chunks, that an error names."""


def no_chunks(name: str, where: str) -> DocumentNotFoundError:
    """No chunk carries the document's key."""
    message = (
        f"There is no document {name!r} in {where}: no chunk there has the doc_key of "
        "this name. Either the store does not hold it, or its chunks were indexed "
        "without oprag's metadata, or under another name (doc_uri). Index it with "
        "index_documents, or write the positions into the index as it is: "
        f"{REPAIR}."
    )
    return DocumentNotFoundError(message, document=name)


def missing_chunks(
    name: str, indexes: Sequence[int], total: int, where: str
) -> IncompleteDocumentError:
    """Some chunks are not there."""
    missing = [
        range(before + 1, after)
        for before, after in zip([-1, *indexes], [*indexes, total], strict=True)
        if before + 1 < after
    ]
    shown = ", ".join(
        str(r.start) if len(r) == 1 else f"{r.start}-{r.stop - 1}"
        for r in missing[:_LISTED]
    )
    more = ", …" if len(missing) > _LISTED else ""
    message = (
        f"Document {name!r}: {where} gave {len(indexes):,} of its {total:,} chunks; "
        f"missing: {shown}{more}. Either the store limits or filters what it gives, or "
        "it does not hold them: an interrupted indexing leaves such documents. Index "
        "the document again, or give the full text with documents=."
    )
    return IncompleteDocumentError(
        message,
        document=name,
        expected=total,
        found=len(indexes),
        missing=tuple(missing[:_LISTED]),
        gap=None,
    )


class Gap(NamedTuple):
    """Characters of a part that no chunk holds."""

    start: int
    end: int
    before: int | None
    """`chunk_index` of the chunk before it; None at the start of the part."""
    after: int | None
    """Of the one behind it; None at the end."""

    def __str__(self) -> str:
        if self.before is None:
            place = f"before chunk {self.after}, the first"
        elif self.after is None:
            place = f"behind chunk {self.before}, the last"
        else:
            place = f"between chunks {self.before} and {self.after}"
        return f"no chunk holds characters {self.start:,}-{self.end:,}, {place}"


def gap_in_text(name: str, gap: Gap, total: int) -> IncompleteDocumentError:
    """All chunks are there, and they are to touch; but something is in none of them."""
    return _incomplete(
        name,
        f"{gap}. The chunks of oprag's splitters touch, so these are of several "
        f"versions of the document, or of parts of it. {_WAYS_OUT}",
        total,
        gap,
    )


def white_space_lacks(
    name: str, pieces: Sequence[Piece], gap: Gap | None
) -> IncompleteDocumentError:
    """All is there but white space, and the text is to be exact."""
    where = str(gap) if gap else f"as in chunks {pieces[0][0]}-{pieces[-1][0]}"
    return _incomplete(
        name,
        f"its chunks do not hold all its white space ({where}): other splitters than "
        f"oprag's drop some. {_WAYS_OUT} Or take the text as it is but for white "
        f"space: {_INEXACT}.",
        pieces[0][1],
        gap,
    )


def unproved(name: str, first: Piece, *, parts: bool = False) -> Exception:
    """Nothing says how long the text was, or what it was; or which parts it had."""
    what = "chunk {}, the first of its text, carries no length and hash of it "
    keys = "(text_length, text_hash)"
    if parts:
        what, keys = "chunk {} does not say of which parts it is one ", "(doc_version)"
    return _incomplete(
        name,
        f"{what.format(first[0])}{keys}, so nothing shows that all of it is there. It "
        "was indexed before these were written, or the store lost them. Index it "
        "again, have them written by `oprag doctor --repair` (Chroma, with the full "
        f"texts), or take the text unproved: {_INEXACT}.",
        first[1],
        None,
    )


def unknown_overlap(name: str, before: Piece, piece: Piece) -> Exception:
    """Nothing is wrong with two chunks, and yet they cannot be joined."""
    what = (
        f"chunks {before[0]} and {piece[0]} overlap, and white space was altered in "
        f"both, so that where one goes on is not known. {_WAYS_OUT}"
    )
    return _incomplete(name, what, piece[1], None)


def altered(
    name: str, pieces: Sequence[Piece], stamp: PartStamp, gap: Gap | None
) -> Exception:
    """The text is not the one that was split."""
    first, last = pieces[0][0], pieces[-1][0]
    chunks = f"chunk {first}" if first == last else f"chunks {first}-{last}"
    part = "" if pieces[0][4] is None else f" of part {pieces[0][4]}"
    what = (
        f"the text of {chunks} (characters 0-{stamp.length:,}{part}) is not the one "
        "that was indexed (text_hash)"
    )
    if gap is not None:
        what += f", and {gap}"
        return _incomplete(
            name,
            f"{what}. Either the splitter dropped more than white space, or a text was "
            f"altered. {_WAYS_OUT}",
            pieces[0][1],
            gap,
        )
    return inconsistent(name, what, [piece[0] for piece in pieces])


def _incomplete(
    name: str, what: str, total: int, gap: Gap | None
) -> IncompleteDocumentError:
    """All chunks are there, and yet not all of the text, or nobody knows."""
    return IncompleteDocumentError(
        f"Document {name!r}: {what}",
        document=name,
        expected=total,
        found=total,
        missing=(),
        gap=None if gap is None else (gap.start, gap.end),
    )


def inconsistent(
    name: str, what: str, chunks: Sequence[int]
) -> InconsistentChunksError:
    """The chunks cannot all be of one text."""
    message = (
        f"Document {name!r}: {what}. The store holds chunks of several versions of the "
        "document, texts that were cut or altered, or positions that are wrong. Delete "
        "the document's chunks and index it again, or repair the positions: "
        f"{REPAIR}."
    )
    return InconsistentChunksError(
        message, document=name, chunks=tuple(chunks[:_LISTED])
    )
