"""When positions are missing or cannot be trusted: the checks and their errors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from oprag.chunk import Hit
from oprag.errors import InvalidSpanError, MissingPositionError, UnscopedPositionError
from oprag.positions.identity import PART_KEYS, SECTION_KEYS
from oprag.positions.schemes import SCHEMES, as_number

_WAYS_OUT = (
    "Ways out: split with add_start_index=True or with oprag's own splitters; repair "
    "the index with annotate_positions (LangChain) or PositionAnnotator (LlamaIndex); "
    "name the key that holds the position with position_keys=; or accept another "
    'order with missing_position="last" or "rank".'
)


def refuse_negative(values: Sequence[Any], document: str) -> None:
    """Say so when a start is negative; -1 alone means "not found" and is missing."""
    for value in values:
        if type(value) in (int, float) and value < 0 and value != -1:
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
    differing = []
    for key in keys:
        values = [hit.metadata.get(key) for hit in hits]
        if any(value != values[0] for value in values):
            differing.append(key)
    if not differing:
        return
    message = (
        f"Document {document!r}: start_index counts from the start of a section here "
        f"(the chunks differ in {', '.join(differing)}), so it does not order the "
        f'document. If it does count from the start, say position_keys="start_index". '
        f"{_WAYS_OUT}"
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
            f"so it does not order the document. {_WAYS_OUT}"
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
        f"and ends after its start. {_WAYS_OUT}"
    )
    found = as_number(end)
    return InvalidSpanError(
        message, document=document, start=start, end=start if found is None else found
    )


def no_position(
    hit: Hit, rank: int, document: str, position_keys: Any
) -> MissingPositionError:
    """Make the error for a chunk without a usable position."""
    keys = tuple(sorted(map(str, hit.metadata)))
    useless = [
        f"{key}={value!r}"
        for key in (*(s.start for s in SCHEMES), *PART_KEYS)
        if key and (value := hit.metadata.get(key)) is not None
    ]
    found = ", ".join(keys) or "none"
    message = (
        f"Document {document!r}: the chunk at rank {rank} has no position that can be "
        f"used. Metadata keys found: {found}."
    )
    if position_keys is not None:
        message += f" position_keys={position_keys!r} gives no number on it."
    elif useless:
        message += f" Not usable for every chunk of the document: {', '.join(useless)}."
    return MissingPositionError(
        f"{message} {_WAYS_OUT}", document=document, rank=rank, keys=keys
    )


def only_a_label(
    document: str, rank: int, hit: Hit, label: Any
) -> MissingPositionError:
    """Make the error for a page that has only a label, and no number."""
    message = (
        f"Document {document!r}: the chunk at rank {rank} has only a page_label, and "
        f"{label!r} is not a number that orders pages. Let the reader write the page's "
        f"number under `page` as well, or name another key. {_WAYS_OUT}"
    )
    keys = tuple(sorted(map(str, hit.metadata)))
    return MissingPositionError(message, document=document, rank=rank, keys=keys)
