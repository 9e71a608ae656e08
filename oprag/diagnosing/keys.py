"""Which metadata keys name documents and positions, and on how many chunks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Literal

from oprag.diagnosing.checks import Examined
from oprag.diagnosing.report import KeyUse
from oprag.metadata import DOC_KEY, DOC_URI, OWN_KEYS
from oprag.positions import PART_KEYS, SCHEMES, SECTION_KEYS, as_number, look_up

_Role = Literal["document", "position", "end", "part", "section"]

_SHOWN = 60

_NAMES = (
    *(DOC_KEY, DOC_URI, "ref_doc_id", "document_id", "doc_id", "file_id"),
    *("artifact_id", "source", "file_path", "original_file_name", "file_name", "url"),
)


def count_keys(chunks: Sequence[Examined]) -> tuple[KeyUse, ...]:
    """Count the known keys, and any other that holds a number on every chunk.

    Returns:
        Those that some chunk carries: documents, positions, ends, parts, sections;
        then the others by name.
    """
    found = []
    known = dict(_known())
    # Own keys that are not known count something, and say no position.
    others = [key for key in numeric_keys(chunks) if key not in {*known, *OWN_KEYS}]
    for key, role in [*known.items(), *((key, "position") for key in others)]:
        values = [
            value for chunk in chunks if (value := _value(chunk, key)) is not None
        ]
        if not values:
            continue
        if role in {"position", "end", "part"}:
            usable = sum(as_number(value) is not None for value in values)
        else:
            usable = sum(str(value) not in {"", "None"} for value in values)
        shown = repr(values[0])[:_SHOWN]
        found.append(KeyUse(_shown(key), role, len(values), usable, shown))
    return tuple(found)


def _known() -> Iterator[tuple[str, _Role]]:
    yield "<document>", "document"
    for key in _NAMES:
        yield key, "document"
    for scheme in SCHEMES:
        yield scheme.start or "<offsets>", "position"
    for scheme in SCHEMES:
        if scheme.end is not None:
            yield scheme.end, "end"
    for key in PART_KEYS:
        yield key, "part"
    for key in SECTION_KEYS:
        yield key, "section"


def _value(chunk: Examined, key: str) -> Any:
    hit = chunk.hit
    if key == "<document>":
        return None if hit.document == "None" else hit.document
    if key == "<offsets>":
        return None if hit.offsets is None else hit.offsets[0]
    return look_up(hit.metadata, None, key)


def _shown(key: str) -> str:
    """The framework's own fields by the names that users know."""
    names = {"<document>": "ref_doc_id (node)", "<offsets>": "start_char_idx (node)"}
    return names.get(key, key)


def numeric_keys(chunks: Sequence[Examined]) -> list[str]:
    """Return the keys that hold a number on every chunk, sorted."""
    first = chunks[0].hit.metadata if chunks else {}
    return sorted(
        key
        for key in first
        if all(as_number(chunk.hit.metadata.get(key)) is not None for chunk in chunks)
    )
