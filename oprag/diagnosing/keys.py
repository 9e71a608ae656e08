"""Which metadata keys name documents and positions, and on how many chunks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
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


class _Count:
    """What the chunks have under one key."""

    def __init__(self, key: str, role: _Role) -> None:
        self.key = key
        self.role = role
        self.chunks = self.usable = 0
        self.example = ""

    def add(self, value: Any) -> None:
        if self.role in {"position", "end", "part"}:
            self.usable += as_number(value) is not None
        else:
            self.usable += str(value) not in {"", "None"}
        if not self.chunks:
            self.example = repr(value)[:_SHOWN]
        self.chunks += 1


def count_keys(chunks: Iterable[Examined]) -> tuple[KeyUse, ...]:
    """Count the known keys, and any other that holds a number on every chunk.

    Returns:
        Those that some chunk carries: documents, positions, ends, parts, sections;
        then the others by name.
    """
    known = {key: _Count(key, role) for key, role in _known()}
    others: dict[str, _Count] | None = None
    for chunk in chunks:
        metadata = chunk.hit.metadata
        if others is None:
            # Own keys that are not known count something, and say no position.
            others = {
                key: _Count(key, "position")
                for key in _numeric(metadata, metadata)
                if key not in known and key not in OWN_KEYS
            }
        gone = [key for key in others if as_number(metadata.get(key)) is None]
        for key in gone:
            del others[key]
        for count in (*known.values(), *others.values()):
            value = _value(chunk, count.key)
            if value is not None:
                count.add(value)
    return tuple(
        KeyUse(_shown(each.key), each.role, each.chunks, each.usable, each.example)
        for each in (*known.values(), *(others or {}).values())
        if each.chunks
    )


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


def numeric_keys(chunks: Iterable[Examined]) -> list[str]:
    """Return the keys that hold a number on every chunk, sorted."""
    keys: list[str] | None = None
    for chunk in chunks:
        metadata = chunk.hit.metadata
        keys = _numeric(metadata, metadata if keys is None else keys)
    return keys or []


def _numeric(metadata: Mapping[str, Any], keys: Iterable[str]) -> list[str]:
    return sorted(key for key in keys if as_number(metadata.get(key)) is not None)
