"""Why a document is not put together, and what to do about it."""

from __future__ import annotations

from collections.abc import Sequence

from oprag.errors import (
    DocumentNotFoundError,
    IncompleteDocumentError,
    InconsistentChunksError,
)

REPAIR = (
    "in Chroma by `oprag doctor --repair`, elsewhere by `oprag.diagnosing.plan_repair`"
)
"""How positions are repaired: the command line writes to Chroma only."""

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
    """Some chunks are not there.

    Args:
        name: The document's name.
        indexes: Those that are there, ascending.
        total: How many there should be.
        where: What they come from.
    """
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


def gap_too_wide(
    name: str,
    gap: tuple[int, int],
    chunks: tuple[int | None, int],
    *,
    total: int,
    max_gap: int | None,
) -> IncompleteDocumentError:
    """All chunks are there, and between two of them, or before the first, is a gap.

    `max_gap` is None where there must be none at all.
    """
    before, after = chunks
    place = (
        f"before chunk {after}, the first"
        if before is None
        else f"between chunks {before} and {after}"
    )
    advice = (
        f"That is more than the white space that a splitter strips (up to {max_gap} "
        "characters, or as much as is found inside these chunks). If white space is "
        "all that is missing, rebuild with StoreSource(…, max_gap=…); if not, give the "
        "full text with documents=, or index with oprag's splitters."
        if max_gap is not None
        else "The chunks of oprag's splitters touch, so these are of several versions "
        "of the document, or of parts of it. Index it again, or give the full text "
        "with documents=."
    )
    message = (
        f"Document {name!r}: no chunk holds characters {gap[0]:,}-{gap[1]:,}, {place}. "
        f"{advice}"
    )
    return IncompleteDocumentError(
        message, document=name, expected=total, found=total, missing=(), gap=gap
    )


def inconsistent(
    name: str, what: str, chunks: Sequence[int]
) -> InconsistentChunksError:
    """The chunks cannot all be of one text."""
    message = (
        f"Document {name!r}: {what}. The store holds chunks of several versions of the "
        "document, or positions that are wrong. Delete the document's chunks and index "
        f"it again, or repair the positions: {REPAIR}."
    )
    return InconsistentChunksError(
        message, document=name, chunks=tuple(chunks[:_LISTED])
    )
