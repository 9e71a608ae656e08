"""Components as `repr` shows them: what they are made of, and nothing secret."""

from __future__ import annotations

import inspect
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
    listed = isinstance(value, (list, tuple)) and any(
        not isinstance(each, (str, int, float)) for each in value
    )
    if listed or isinstance(value, (Mapping, bytes)):
        return f"<{type(value).__name__} of {len(value)}>"
    if isinstance(value, str) and len(value) > _LONGEST:
        return f"{value[:_LONGEST]!r}…"
    if isinstance(value, PurePath):
        return repr(str(value))
    if inspect.isroutine(value):
        return f"<function {value.__name__}>"
    return written(value)


def _same(value: Any, default: Any) -> bool:
    plain = isinstance(value, (str, int, float))
    return value is default or (plain and value == default)


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
        if name not in defaults or not _same(value, defaults[name])
    ]
    return f"{type(component).__name__}({', '.join(told)})"


class PlainRepr:
    """Gives components made of pydantic's classes a `repr` as `shown` writes it."""

    def __repr_args__(self) -> Iterator[tuple[str, Any]]:
        """Name what differs from its default, each in a few words."""
        for name, field in type(self).model_fields.items():  # type: ignore[attr-defined]  # of pydantic
            value = self.__dict__.get(name)
            made = field.default_factory is not None
            left_out = made or name in _LEFT_OUT
            if not left_out and not _same(value, field.default):
                yield name, _Brief(value)

    def __str__(self) -> str:
        return repr(self)
