"""Descriptions of options: read out of one docstring, written into others."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from inspect import cleandoc
from typing import Any, TypeVar, cast

_Documented = TypeVar("_Documented")
_Component = TypeVar("_Component")

_ENTRY = r"^    (\*{0,2}%s): (.*(?:\n {8}.*)*)"
_WIDTH = 84


def described(documented: Any) -> dict[str, str]:
    """Return what a docstring in Google style says of each argument.

    Args:
        documented: A class or function. Under `python -OO` it has no docstring.
    """
    _, _, section = cleandoc(documented.__doc__ or "").partition("\nArgs:\n")
    # The next section begins at the margin.
    section = re.split(r"^(?=\S)", section, maxsplit=1, flags=re.MULTILINE)[0]
    entries = re.findall(_ENTRY % r"\w+", section, re.MULTILINE)
    return {name: " ".join(text.split()) for name, text in entries}


def list_options(
    descriptions: Mapping[str, str],
) -> Callable[[_Documented], _Documented]:
    """Put options in the place of `**options` in a docstring's `Args:`.

    Args:
        descriptions: Of all options, by name. Those that the docstring describes
            itself stay as they are there.

    Returns:
        A decorator for functions and classes.
    """
    from textwrap import fill

    def listing(documented: _Documented) -> _Documented:
        own = described(documented)
        listed = "\n".join(
            fill(
                f"    {name}: {text}",
                _WIDTH,
                subsequent_indent=" " * 8,
                break_on_hyphens=False,
            )
            for name, text in descriptions.items()
            if name not in own
        )
        documented.__doc__ = re.sub(
            _ENTRY % "options",
            lambda _: listed,
            cleandoc(documented.__doc__ or ""),
            count=1,
            flags=re.MULTILINE,
        )
        return documented

    return listing


def documented(component: type[_Component]) -> type[_Component]:
    """Describe all fields of a pydantic class, as fields and in its docstring.

    Fields without a description take that of the docstring's `Args:`; those that it
    leaves out are listed there in the place of `**options`.
    """
    fields: Mapping[str, Any] = cast("Any", component).model_fields
    for name, text in described(component).items():
        if name in fields:
            fields[name].description = fields[name].description or text
    told = {name: field.description or "" for name, field in fields.items()}
    return list_options(told)(component)
