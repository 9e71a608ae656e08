"""Components as `repr` shows them: what they are made of, and nothing secret."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import PurePath
from typing import Any

from oprag.errors import written

_LONGEST = 60
_LEFT_OUT = ("callback_manager", "metadata", "tags")


class _Brief:
    """A value that is shown in a few words."""

    def __init__(self, value: Any) -> None:
        self._shown = brief(value)

    def __repr__(self) -> str:
        return self._shown


def brief(value: Any) -> str:
    """Return a value in a few words: of what may hold texts or a client, the class."""
    if isinstance(value, (Mapping, bytes)) or (
        isinstance(value, (list, tuple)) and len(value) > 1 and len(repr(value)) > 200
    ):
        return f"<{type(value).__name__} of {len(value)}>"
    if isinstance(value, str) and len(value) > _LONGEST:
        return f"{value[:_LONGEST]!r}…"
    if isinstance(value, PurePath):
        return repr(str(value))
    return written(value)


def shown(component: object, values: Mapping[str, Any], defaults: Any) -> str:
    """Return the `repr` of a component.

    Args:
        component: Whose class is named.
        values: What it is made of, by name.
        defaults: By name; what has its default is left out.
    """
    told = [
        f"{name}={brief(value)}"
        for name, value in values.items()
        if name not in defaults or value is not defaults[name]
    ]
    return f"{type(component).__name__}({', '.join(told)})"


class PlainRepr:
    """Gives components made of pydantic's classes a `repr` as `shown` writes it."""

    def __repr_args__(self) -> Iterator[tuple[str, Any]]:
        """Name what differs from its default, each in a few words."""
        for name, field in type(self).model_fields.items():  # type: ignore[attr-defined]  # of pydantic
            value = self.__dict__.get(name)
            made = field.default_factory is not None
            if not made and name not in _LEFT_OUT and value is not field.default:
                yield name, _Brief(value)

    def __str__(self) -> str:
        return repr(self)
