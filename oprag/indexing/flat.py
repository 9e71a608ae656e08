"""Metadata that every vector store accepts and gives back as it was.

Stores reject mappings, reject or lose lists, and drop None; what they all keep is
strings, numbers and booleans.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Collection, Mapping
from typing import Any, Literal, TypeAlias

from oprag.errors import UnreadableFileError

UnsupportedMetadata: TypeAlias = Literal["error", "drop"]
"""What becomes of a metadata entry that not every store keeps."""

_INTEGERS = range(-(2**63), 2**63)
"""What a column of 64 bits holds."""

_OF_STORES = frozenset({"chroma:document"})
"""Keys that a store keeps for itself and refuses."""


def flat_metadata(
    metadata: Mapping[Any, Any],
    *,
    document: str,
    unsupported_metadata: UnsupportedMetadata = "error",
    reserved: Collection[str] = (),
) -> dict[str, str | int | float]:
    """A copy of metadata with nothing in it that a store rejects or changes.

    Strings, booleans, integers of 64 bits and finite floats are kept, as plain
    Python values; no strings with NUL characters or half surrogate pairs. None is
    left out: an absent key says the same in every store.

    Args:
        metadata: Any metadata; not changed.
        document: Name of its document, for messages.
        unsupported_metadata: `"error"`, or `"drop"`: all other entries are left out.
        reserved: Keys that a framework or a store writes itself, whatever stands
            there; they count as unsupported.
    """
    flat: dict[str, str | int | float] = {}
    for key, value in metadata.items():
        if value is None:
            continue
        plain = _plain(value)
        is_reserved = key in reserved or key in _OF_STORES
        named = isinstance(key, str) and not unstorable(key)
        if named and not is_reserved and plain is not None:
            flat[key] = plain
        elif unsupported_metadata == "error":
            raise _unsupported(document, key, value, is_reserved=is_reserved)
    return flat


def _plain(value: Any) -> str | int | float | None:
    """The value as a plain `str`, `bool`, `int` or `float`; None if it is none."""
    if isinstance(value, bool):
        return value
    if isinstance(value, str):
        text = str.__str__(value)  # an enumeration's value, not its name
        return None if unstorable(text) else text
    if isinstance(value, numbers.Integral):
        return int(value) if int(value) in _INTEGERS else None
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    return None


def unstorable(text: str) -> str:
    """Say what is in a text that some stores reject, or fail on ever after; or ""."""
    if "\0" in text:
        return f"a NUL character (at {text.index(chr(0)):,})"
    try:
        text.encode()
    except UnicodeEncodeError as error:
        return f"half a surrogate pair (at {error.start:,})"
    return ""


def _unsupported(
    document: str, key: Any, value: Any, *, is_reserved: bool
) -> UnreadableFileError:
    text = next((t for t in (key, value) if isinstance(t, str) and unstorable(t)), "")
    if is_reserved:
        what = "is a name that the framework or a store overwrites or refuses"
    else:
        found = unstorable(text) if text else f"{value!r}"[:80]
        what = f"holds {found}, which not every vector store keeps"
    message = (
        f"Document {document!r}: the metadata {key!r} {what}. Metadata is kept as "
        "strings, finite numbers and booleans under names of your own. Pass "
        'unsupported_metadata="drop" to leave all else out.'
    )
    return UnreadableFileError(
        message, path=document, reason=f"the metadata {key!r} {what}"
    )
