"""Metadata that every vector store accepts and gives back unchanged.

Stores reject mappings, reject or lose lists, and drop None. All of them keep strings,
numbers and booleans.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Collection, Mapping
from typing import Any, Literal, TypeAlias

from oprag.errors import UnreadableFileError

UnsupportedMetadata: TypeAlias = Literal["error", "drop"]
"""The treatment of a metadata entry that not every store keeps."""

_INTEGERS = range(-(2**63), 2**63)
"""The integers of 64 bits."""

_OF_STORES = frozenset({"chroma:document"})
"""Keys that a store keeps for itself and refuses."""


def flat_metadata(
    metadata: Mapping[Any, Any],
    *,
    document: str,
    unsupported_metadata: UnsupportedMetadata = "error",
    reserved: Collection[str] = (),
) -> dict[str, str | int | float]:
    """Return a copy of metadata without entries that a store rejects or changes.

    Strings, booleans, integers of 64 bits and finite floats are kept, as plain Python
    values, but no strings with NUL characters or half surrogate pairs. None is left
    out: an absent key means the same in every store.

    Args:
        metadata: Any metadata; not changed.
        document: Name of its document, for messages.
        unsupported_metadata: `"error"`, or `"drop"`: all other entries are left out.
        reserved: Keys that a framework or a store itself writes, over any value
            there; they count as unsupported.
    """
    flat: dict[str, str | int | float] = {}
    for key, value in metadata.items():
        if value is None:
            continue
        plain = _plain(value)
        taken = key in reserved or key in _OF_STORES
        named = isinstance(key, str) and is_storable(key) and not taken
        if named and plain is not None:
            flat[key] = plain
        elif unsupported_metadata == "error":
            what = f"is {value!r:.80}" if named else "has a name that is reserved"
            reason = f"the metadata {key!r} {what}, which not every vector store keeps"
            message = (
                f"Document {document!r}: {reason}. Metadata is kept as strings, finite "
                "numbers and booleans under names of your own. Pass "
                'unsupported_metadata="drop" to leave all else out.'
            )
            raise UnreadableFileError(message, path=document, reason=reason)
    return flat


def _plain(value: Any) -> str | int | float | None:
    """Return a plain `str`, `bool`, `int` or `float`; None if the value is none."""
    if isinstance(value, bool):
        return value
    if isinstance(value, str):
        text = str.__str__(value)  # an enumeration's value, not its name
        return text if is_storable(text) else None
    if isinstance(value, numbers.Integral):
        return int(value) if int(value) in _INTEGERS else None
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    return None


def is_storable(text: str) -> bool:
    """Return whether no store rejects a text, or fails on it ever after."""
    try:
        text.encode()  # fails for half a surrogate pair
    except UnicodeEncodeError:
        return False
    return "\0" not in text
