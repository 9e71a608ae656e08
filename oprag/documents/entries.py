"""Lists that have to be of one class: documents, chunks, texts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from oprag.errors import InvalidOptionError, named


def check_entries(option: str, values: Any, wanted: type) -> None:
    """Make sure that every value of a list is what is wanted.

    Args:
        option: What the error calls the list.
        values: What was given. A generator is not read.
        wanted: The class that each has to have.

    Raises:
        InvalidOptionError: One is of another class; or they are no list.
    """
    check_listed(option, values, wanted)
    for place, value in enumerate(values if isinstance(values, (list, tuple)) else ()):
        check_entry(f"{option}[{place}]", value, wanted)


def check_listed(option: str, values: Any, wanted: type) -> None:
    """Make sure that values are listed at all; what each is, is not looked at.

    Raises:
        InvalidOptionError: It is one value alone, a text, a mapping or no list.
    """
    # A model of pydantic can be iterated over, and gives pairs of names and values.
    model = hasattr(type(values), "model_fields")
    single = model or isinstance(values, (str, Mapping, wanted))
    if single or not isinstance(values, Iterable):
        raise _unlike(option, values, wanted)


def check_entry(entry: str, value: Any, wanted: type) -> None:
    """Make sure that one value of a list is what is wanted."""
    if not isinstance(value, wanted):
        raise _unlike(entry, value, wanted)


def _unlike(entry: str, value: Any, wanted: type) -> InvalidOptionError:
    package = wanted.__module__.partition(".")[0]
    of = "texts" if wanted is str else f"{wanted.__name__} objects of {package}"
    message = f"{entry} is {named(value)}. It takes a list of {of}."
    return InvalidOptionError(message, option=entry.partition("[")[0], value=value)
