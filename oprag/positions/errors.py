"""Errors about places: the problem that was found, and the one way out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from oprag.chunk import Chunk, Hit, is_cut
from oprag.errors import ConflictingPositionsError, MissingPositionError, PositionError
from oprag.metadata import as_number, uri_of
from oprag.positions.identity import POSITION_METADATA
from oprag.positions.keys import PART_KEYS
from oprag.positions.schemes import read_known_positions

_WAY_OUT = (
    "Give the full texts as documents=, and each chunk is looked for in its text."
)
_NO_NUMBERING = POSITION_METADATA - {*PART_KEYS}
_LISTED = 3
"""The most chunks that an error names."""
_CUT = "was cut inside a character (U+FFFD)"
_WHY = {"ambiguous": "is more than once in its text", "not_found": "is not in its text"}


def report_no_position(
    lacking: Sequence[tuple[Hit, int]],
    document: str,
    position_keys: Any,
    hits: Sequence[Hit],
) -> MissingPositionError:
    """Return the error for chunks without a position that can be used.

    Args:
        lacking: The chunks and their ranks. The message names the first, or the first
            that has a value that is no number.
        document: Key of their document.
        position_keys: The option.
        hits: All chunks of the document. If a key has a different whole number on each,
            the message names it as the way out.
    """
    hit, rank = lacking[0]
    for each in lacking:
        if None in map(as_number, read_known_positions(each[0]).values()):
            hit, rank = each
            break
    keys = tuple(sorted(map(str, hit.metadata)))
    useless = [f"{key}={value!r}" for key, value in read_known_positions(hit).items()]
    why = ""
    if position_keys is not None:
        why = (
            f" position_keys={position_keys!r} gives no number and no date on it. A "
            "function may return anything that can be compared."
        )
    elif useless:
        why = f" Not usable for every chunk of the document: {', '.join(useless)}."
    if is_cut(hit.text):
        why += f" It {_CUT}, so that no text has it as it is."
    way_out = _WAY_OUT
    if position_keys is None and (numbering := _find_numbering_key(hits)):
        way_out = (
            f"{numbering!r} has another number on each chunk: if it counts them in "
            f"reading order, give position_keys={numbering!r}. If not: {_WAY_OUT}"
        )
    message = (
        f"Document {uri_of(hit.metadata, document)!r}: the chunk at rank {rank} has no "
        "position that can be used. Metadata keys found: "
        f"{', '.join(keys) or 'none'}.{why} {way_out}"
    )
    return MissingPositionError(message, document=document, rank=rank, keys=keys)


def _find_numbering_key(hits: Sequence[Hit]) -> str | None:
    """Return the first key, by its name, with a different number on each chunk.

    A list of numbers counts: the pages that a chunk lies on.
    """
    for key in sorted(hits[0].metadata, key=str):
        if not isinstance(key, str) or key in _NO_NUMBERING:
            continue
        numbers = {_first_number(hit.metadata.get(key)) for hit in hits}
        if len(numbers) == len(hits) > 1 and None not in numbers:
            return key
    return None


def _first_number(value: Any) -> int | None:
    if isinstance(value, (list, tuple)) and len(value) > 0:
        value = value[0]
    return as_number(value)


def report_not_comparable(
    document: str, values: Sequence[Any], given: Any
) -> PositionError:
    """Return the error for values of the user's keys that have no order.

    Args:
        document: Key of the document.
        values: The positions that were read.
        given: The option `position_keys`.
    """
    message = (
        f"Document {document!r}: the values that position_keys={given!r} gives cannot "
        f"be compared with one another ({_list_types(values)}). Give a function "
        "that returns one kind of value for every chunk."
    )
    return PositionError(message, kind="not_comparable", document=document)


def report_not_hashable(
    document: str, values: Sequence[Any], given: Any
) -> PositionError:
    """Return the error for values by which equal places cannot be found.

    Args:
        document: Key of the document.
        values: The positions that were read.
        given: The option `position_keys`.
    """
    message = (
        f"Document {document!r}: the values that position_keys={given!r} gives cannot "
        f"be hashed ({_list_types(values)}), so equal ones are not found. Give a "
        "function that returns numbers, texts, or objects that never change "
        "(@dataclass(order=True, frozen=True))."
    )
    return PositionError(message, kind="not_comparable", document=document)


def _list_types(values: Sequence[Any]) -> str:
    kinds = set[str]()
    for value in values:
        kinds.update(type(part).__name__ for part in value or ())
    return ", ".join(sorted(kinds))


def report_not_located(
    chunks: Sequence[Chunk], unproved: Sequence[tuple[Chunk, str]], *, known: bool
) -> MissingPositionError:
    """Return the error for chunks whose place in their full text cannot be proved.

    Args:
        chunks: The retrieved chunks of the document.
        unproved: The chunks concerned, with the reason: `not_found` or `ambiguous`.
        known: Whether the full text of the document is at hand.
    """
    first, _ = unproved[0]
    name = first.text_id
    of = f"{len(unproved)} of its {len(chunks)} retrieved chunks"
    if known:
        listed = "; ".join([_why(*each) for each in unproved[:_LISTED]])
        more = "; …" if len(unproved) > _LISTED else ""
        what = f"the places of {of} cannot be proved ({listed}{more})"
        do = "Give the text that was indexed, or index the document again."
        if {why for _, why in unproved} == {"ambiguous"}:
            do = 'Set on_problem="warn", and such chunks follow the others, marked.'
        if all(is_cut(chunk.text) for chunk, _ in unproved):
            do = "Index it again with a splitter of oprag, which cuts no character."
    else:
        what = f"{of} have no position that can be used, and documents= has no exact "
        what += f"text by the name {name!r}"
        do = f"Give its text under that name: documents={{{name!r}: text}}."
    message = f"Document {first.document_name or first.document_key!r}: {what}. {do}"
    keys = tuple(sorted(map(str, first.metadata)))
    return MissingPositionError(
        message, document=first.document_key, rank=first.rank, keys=keys
    )


def _why(chunk: Chunk, status: str) -> str:
    """Say why the place of a chunk cannot be proved."""
    if is_cut(chunk.text):
        return f"rank {chunk.rank} {_CUT}, and what is left {_WHY[status]}"
    return f"rank {chunk.rank} {_WHY[status]}"


def report_unscoped(
    document: str, key: str, origin: str, keys: tuple[str, ...]
) -> PositionError:
    """Return the error for offsets that are not counted from the document's start.

    Args:
        document: Key of the document.
        key: The offsets.
        origin: The text that they are counted from.
        keys: The keys that show it.
    """
    message = (
        f"Document {document!r}: {key} counts from the start of {origin}, so it does "
        f"not order the document. {_WAY_OUT} If {key} counts from the start of the "
        f"document after all, give position_keys={key!r}."
    )
    return PositionError(
        message, kind="unscoped_position", document=document, keys=keys
    )


def report_contradiction(first: Chunk, second: Chunk) -> ConflictingPositionsError:
    """Return the error for two chunks whose places contradict each other."""
    ranks, position = (first.rank, second.rank), first.position or ()
    facts: dict[str, Any] = {"position": position, "ranks": ranks}
    spans = tuple(tuple(chunk.span or (0, 0)) for chunk in (first, second))
    if first.fits_span and second.fits_span:
        places = " and ".join([f"{start}-{end}" for start, end in spans])
        what = f"claim characters {places}, but their texts differ where these overlap"
        why = "the offsets restart, or are of two versions of the document"
        facts = {"kind": "conflicting_text", "spans": spans}
    else:
        shown = ", ".join([str(number) for number in position])
        what = f"have different texts and the same position ({shown})"
        why = "their order is not known"
        facts["kind"] = "ambiguous_position"
    message = (
        f"Document {first.document_name or first.document_key!r}: the chunks at ranks "
        f"{ranks[0]} and {ranks[1]} {what}: {why}. {_WAY_OUT}"
    )
    return ConflictingPositionsError(message, document=first.document_key, **facts)
