"""Keys of metadata: those of parts and sections, and those that users give."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

PositionKeys: TypeAlias = str | Callable[[Any], Any] | Sequence[Any]
"""A metadata key, an attribute name, a callable on the framework's object, or a
list of these, the most significant first (`["page", "start_index"]`).

Under a key, numbers, texts of numbers (`"1718041234.000300"`) and dates are positions.
A callable may return anything that can be compared and hashed, or a tuple of it."""

PART_KEYS = (
    "part_index",
    "page",
    "page_number",
    "page_label",
    "row",
    "seq_num",
    "loc.pageNumber",
)
"""Keys of readers that make one framework document per page, row or record.

`page` comes before `page_label`: a label may be a roman numeral.
"""

SECTION_KEYS = (
    *(f"Header {level}" for level in range(1, 7)),
    *(f"h{level}" for level in range(1, 7)),
    "header_path",
    "section",
)
"""Keys of splitters that cut a document into sections first."""


def look_up(metadata: Mapping[str, Any], subject: Any, key: Any) -> Any:
    """Return the value of a user's key: a call, a metadata key, a path or attribute.

    Args:
        metadata: Looked in first, by the whole `key`, then along its dots
            (`loc.lines.from` also finds `{"loc": {"lines": {"from": 3}}}`, and
            `items.0.page` looks into a list).
        subject: The framework's object. It is passed to a callable, and is asked last
            for an attribute of that name. If it is None, a callable gets the metadata.
        key: A callable or a string.

    Returns:
        The value, or None if there is none.
    """
    if callable(key):
        return key(metadata if subject is None else subject)
    value = metadata.get(key)
    if value is None and "." in key:
        value = metadata
        for step in key.split("."):
            value = _step_into(value, step)
    return getattr(subject, key, None) if value is None else value


def _step_into(value: Any, step: str) -> Any:
    if isinstance(value, Mapping):
        return value.get(step)
    if isinstance(value, (list, tuple)) and step.isdecimal() and int(step) < len(value):
        return value[int(step)]
    return None


def list_keys(keys: str | Callable[[Any], Any] | Sequence[Any]) -> Sequence[Any]:
    """Return a list of the keys, even if one alone was given."""
    return [keys] if isinstance(keys, str) or callable(keys) else keys
