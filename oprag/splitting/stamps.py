"""The id, the position and the document version that a chunk carries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from oprag.metadata import (
    CHUNK_HASH,
    DOC_VERSION,
    STAMP_KEYS,
    chunk_ids,
    chunk_metadata,
    document_version,
    text_hash,
    text_stamp,
    version_settings,
    version_text,
)
from oprag.splitting.parts import Part, are_own_chunks


class Stamp(NamedTuple):
    """The id and the metadata of one chunk."""

    id: str
    metadata: dict[str, str | int]


def stamp_chunks(
    parts: Sequence[Part],
    rows: Sequence[Sequence[tuple[int, int, int]]],
    *,
    settings: Sequence[object],
    counter: Any,
) -> list[list[Stamp]]:
    """Make ids and metadata for all chunks of one document.

    Args:
        parts: One document of `group_parts`.
        rows: Start, end and tokens of the chunks of each part, relative to its text.
        settings: All that decides where a text is cut, except the counter.
        counter: The `NamedTokenCounter` that counted the tokens.

    Returns:
        One per chunk, nested like `rows`.
    """
    name = parts[0].name
    facts = splitter_settings(*settings, counter.name or counter.count)
    version = document_version(facts, texts_in_chunks(parts, rows))
    again = are_own_chunks([part.source for part in parts])
    known = {version_text(part.source.metadata.get(DOC_VERSION)) for part in parts}
    if again and len(known) == 1:
        # Chunks that are cut again are still of the text that they were cut out of.
        version = f"{version_settings(version)}-{known.pop()}"
    offsets = [part.offset or 0 for part in parts]
    placed = [
        [(start + offset, end + offset, tokens) for start, end, tokens in row]
        for offset, row in zip(offsets, rows, strict=True)
    ]
    numbers = [part.number for part in parts]
    written = chunk_metadata(
        name, placed, counter.name, numbers=numbers, version=version
    )
    stamps = []
    for part, offset, spans, row in zip(parts, offsets, rows, written, strict=True):
        text = part.source.text
        for (start, end, _), entry in zip(spans, row, strict=True):
            if part.proved:
                entry[CHUNK_HASH] = text_hash(text[start:end])
        if row and not offset:
            # A chunk that is cut again may have that of the whole part with it.
            own = part.source.metadata
            kept = {key: own[key] for key in STAMP_KEYS if key in own}
            row[0].update(kept if again else text_stamp(text))
        ids = chunk_ids(
            name, range(len(row)), version=version, part=part.number, offset=offset
        )
        stamps.append([*map(Stamp, ids, row)])
    return stamps


def splitter_settings(*facts: object) -> str:
    """Name the settings of a splitter, the same way on every run.

    Args:
        facts: The settings that decide where it cuts. Callables are named by module
            and name; of other objects, which may hold anything, only the class counts.
    """
    return " ".join(map(_fact, facts))


def name_callable(function: Any) -> str:
    """Return module and name of a callable, or of its class."""
    named = function if hasattr(function, "__qualname__") else type(function)
    module = getattr(named, "__module__", "builtins")  # methods of C have none
    return f"{module}.{named.__qualname__}"


def _fact(value: object) -> str:
    if value is None or isinstance(value, (str, int, float)):
        return repr(value)
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(_fact, value))}]"
    if isinstance(value, Mapping):
        items = [f"{_fact(key)}: {_fact(item)}" for key, item in value.items()]
        return f"{{{', '.join(sorted(items))}}}"
    if isinstance(value, partial):
        return splitter_settings(
            value.func, *value.args, *sorted(value.keywords.items())
        )
    return name_callable(value)


def texts_in_chunks(
    parts: Sequence[Part], rows: Sequence[Sequence[object]]
) -> list[str]:
    """Return the texts of the parts, without those that are blank and have no chunk.

    Anyone who has only the chunks knows of no others.
    """
    return [
        part.source.text
        for part, row in zip(parts, rows, strict=True)
        if row or part.source.text.strip()
    ]
