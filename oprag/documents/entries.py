"""Lists that have to be of one class: documents, chunks, texts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from oprag.errors import InvalidOptionError, describe_type


def check_entries(option: str, values: Any, wanted: type, *others: type) -> None:
    """Make sure that values are a list, and that each is of a wanted class.

    Args:
        option: The name of the list in the error.
        values: The values that were given. A generator is not read.
        wanted: The class that each has to have.
        *others: Classes that are accepted as well.

    Raises:
        InvalidOptionError: One is of another class; or they are no list.
    """
    # A pydantic model can be iterated over, and gives pairs of names and values.
    model = hasattr(type(values), "model_fields")
    single = model or isinstance(values, (str, Mapping, wanted))
    wrong = [values] if single or not isinstance(values, Iterable) else []
    if isinstance(values, (list, tuple)):
        wrong += [each for each in values if not isinstance(each, (wanted, *others))]
    if wrong:
        package = wanted.__module__.partition(".")[0]
        plain: dict[Any, str] = {str: "texts", Mapping: "mappings"}
        of = plain.get(wanted) or f"{wanted.__name__} objects of {package}"
        message = f"{option} takes a list of {of}, but got {describe_type(wrong[0])}."
        raise InvalidOptionError(message, option=option, value=wrong[0])
