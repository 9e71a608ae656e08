"""Which metadata keys name documents and positions, and on how many chunks."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from oprag.chunk import Hit
from oprag.diagnosing.checks import Examined
from oprag.diagnosing.report import KeyRole, KeyUse
from oprag.metadata import DOC_KEY, DOC_URI, OWN_KEYS
from oprag.positions import PART_KEYS, SCHEMES, SECTION_KEYS, as_number, look_up

_SHOWN = 60

_DOCUMENT = "ref_doc_id (node)"
_OFFSETS = "start_char_idx (node)"
"""LlamaIndex's own fields, by the names that users know."""

_ROLES: dict[str, KeyRole] = {
    **dict.fromkeys((_DOCUMENT, DOC_KEY, DOC_URI, "ref_doc_id"), "document"),
    **dict.fromkeys(("document_id", "doc_id", "file_id", "artifact_id"), "document"),
    **dict.fromkeys(("source", "file_path", "original_file_name"), "document"),
    **dict.fromkeys(("file_name", "url"), "document"),
    **{scheme.start or _OFFSETS: "position" for scheme in SCHEMES},
    **{scheme.end: "end" for scheme in SCHEMES if scheme.end is not None},
    **dict.fromkeys(PART_KEYS, "part"),
    **dict.fromkeys(SECTION_KEYS, "section"),
}


def count_keys(chunks: Iterable[Examined]) -> tuple[KeyUse, ...]:
    """Count the known keys, and any other that holds a number on every chunk.

    Returns:
        Those that some chunk carries: documents, positions, ends, parts, sections;
        then the others by name.
    """
    roles: dict[str, KeyRole] = {}
    counts: dict[str, list[int]] = {}
    examples: dict[str, str] = {}
    for number, chunk in enumerate(chunks):
        metadata = chunk.hit.metadata
        if not number:
            # Own keys that are not known count something, and say no position.
            others = sorted(metadata.keys() - _ROLES.keys() - {*OWN_KEYS})
            roles = {**_ROLES, **dict.fromkeys(others, "position")}
        for key, role in list(roles.items()):
            value = _value(chunk.hit, key)
            is_number = as_number(value) is not None
            if key not in _ROLES and not is_number:
                del roles[key]
            elif value is not None:
                named = role in {"document", "section"}
                usable = str(value) not in {"", "None"} if named else is_number
                count = counts.setdefault(key, [0, 0])
                count[0] += 1
                count[1] += usable
                examples.setdefault(key, repr(value)[:_SHOWN])
    return tuple(
        KeyUse(key, role, counts[key][0], counts[key][1], examples[key])
        for key, role in roles.items()
        if key in counts
    )


def _value(hit: Hit, key: str) -> Any:
    if key == _DOCUMENT:
        return None if hit.document == "None" else hit.document
    if key == _OFFSETS:
        return hit.offsets and hit.offsets[0]
    return look_up(hit.metadata, None, key)
