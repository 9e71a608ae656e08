"""What is said of chunks without a position: what was found, and what can be done."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from oprag.chunk import Chunk, Hit
from oprag.errors import MissingPositionError
from oprag.positions.keys import PART_KEYS, SCHEMES, as_number, what_was_found

WAYS_OUT = (
    "Ways out: run `oprag doctor` on the index, which says what it lacks and repairs "
    "it from the full texts; give these as documents=, and each chunk is found in its "
    "text; name the key or attribute that holds the position with position_keys=; or "
    'keep the order as retrieved where it has to be with on_problem="warn".'
)
_LISTED = 3
"""Chunks that an error names."""
_NO_NUMBER = " (no number)"
_ANNOTATED = (
    "annotate_positions (LangChain) or PositionAnnotator (LlamaIndex) behind others."
)
AT_INDEXING = f" Or index again with oprag's own splitters, or with {_ANNOTATED}"
_AT_SPLITTING = (
    " Or index again with oprag's own splitters, with add_start_index=True, or with "
    f"{_ANNOTATED}"
)


def ways_out(keys: Iterable[str]) -> str:
    """What can be done; nothing that was done, as the keys of a chunk show."""
    return WAYS_OUT + (AT_INDEXING if "start_index" in keys else _AT_SPLITTING)


def no_position(
    hits: Sequence[Hit],
    ranks: Sequence[int],
    places: Sequence[object | None],
    document: str,
    position_keys: Any,
) -> MissingPositionError:
    """Make the error for the first chunk without a usable position.

    Args:
        hits: All that was retrieved of the document.
        ranks: Of each.
        places: Of each; None without. Where none has one, it is told of the first that
            has something else than a number.
        document: Its key.
        position_keys: The option.
    """
    useless = [_positions_on(hit) for hit in hits]
    of = [i for i, found in enumerate(useless) if any(_NO_NUMBER in f for f in found)]
    culprit = of[0] if of and not any(places) else places.index(None)
    return _no_position(
        hits[culprit], ranks[culprit], useless[culprit], document, position_keys
    )


def _positions_on(hit: Hit) -> list[str]:
    return [
        f"{key}={value!r}{_NO_NUMBER if as_number(value) is None else ''}"
        for key in (*(s.start for s in SCHEMES), *PART_KEYS)
        if key and (value := hit.metadata.get(key)) is not None
    ]


def _no_position(
    hit: Hit, rank: int, useless: Sequence[str], document: str, position_keys: Any
) -> MissingPositionError:
    keys = tuple(sorted(map(str, hit.metadata)))
    message = (
        f"Document {document!r}: the chunk at rank {rank} has no position that can be "
        f"used. {what_was_found(hit)}"
    )
    if position_keys is not None:
        message += f" position_keys={position_keys!r} gives no number on it."
        if isinstance(position_keys, str) and "," in position_keys:
            several = [key.strip() for key in position_keys.split(",")]
            message += f" Several keys are a list: position_keys={several!r}."
    elif useless:
        message += f" Not usable for every chunk of the document: {', '.join(useless)}."
    return MissingPositionError(
        f"{message} {ways_out(keys)}", document=document, rank=rank, keys=keys
    )


def not_located(
    chunks: Sequence[Chunk], unproved: Sequence[tuple[Chunk, str]], *, known: bool
) -> MissingPositionError:
    """Make the error for chunks whose place in their full text cannot be proved.

    Args:
        chunks: What was retrieved of the document.
        unproved: The chunks concerned, with why: `not_found` or `ambiguous`.
        known: Whether the full text of the document is at hand.
    """
    first, _ = unproved[0]
    name = first.name or first.document
    if not known:
        what = (
            f"{len(unproved)} of its {len(chunks)} retrieved chunks have no position "
            f"that can be used, and documents= has no exact text by the name {name!r}"
        )
        give = (
            f"Give its text under that name: documents={{{name!r}: text}}, or a "
            'Document that has it as its "source"'
            if name
            else "Chunks that name no document cannot be looked up: name the key that "
            "holds it with document_key="
        )
        do = f'{give}; on_problem="warn" keeps the order as retrieved.'
    else:
        whys = {
            "ambiguous": "stands in its text more than once",
            "not_found": "does not stand in its text",
        }
        listed = ", ".join(
            f"rank {chunk.rank} {whys[why]}" for chunk, why in unproved[:_LISTED]
        )
        more = ", …" if len(unproved) > _LISTED else ""
        what = (
            f"where {len(unproved)} of its {len(chunks)} retrieved chunks stand cannot "
            f"be proved ({listed}{more})"
        )
        do = (
            "Text that is not found was altered, or documents= has another version. "
            "`oprag doctor` on the whole index proves more, as chunks prove the places "
            'of their neighbours; on_problem="warn" keeps the order as retrieved.'
        )
    keys = tuple(sorted(map(str, first.metadata)))
    message = f"Document {first.document!r}: {what}. {do}"
    return MissingPositionError(
        message, document=first.document, rank=first.rank, keys=keys
    )


def only_a_label(
    document: str, rank: int, hit: Hit, label: Any
) -> MissingPositionError:
    """Make the error for a page that has only a label, and no number."""
    message = (
        f"Document {document!r}: the chunk at rank {rank} has only a page_label, and "
        f"{label!r} is not a number that orders pages. Let the reader write the page's "
        f"number under `page` as well, or name another key. {ways_out(hit.metadata)}"
    )
    keys = tuple(sorted(map(str, hit.metadata)))
    return MissingPositionError(message, document=document, rank=rank, keys=keys)
