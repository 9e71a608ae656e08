"""Lists that have to be of one class: documents, chunks, texts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from oprag.chunk import Passage
from oprag.errors import InvalidOptionError, named


def check_entries(
    option: str, values: Any, wanted: type, instead: Callable[[Any], str] = lambda _: ""
) -> None:
    """Make sure that every value of a list is what is wanted.

    Args:
        option: What the error calls the list.
        values: What was given. A generator is not read.
        wanted: The class that each has to have.
        instead: Says of a value that is none what to change, with a space before it.

    Raises:
        InvalidOptionError: One is of another class; or they are no list.
    """
    check_listed(option, values, wanted, instead)
    for place, value in enumerate(values if isinstance(values, (list, tuple)) else ()):
        check_entry(f"{option}[{place}]", value, wanted, instead)


def check_listed(
    option: str, values: Any, wanted: type, instead: Callable[[Any], str] = lambda _: ""
) -> None:
    """Make sure that values are listed at all; what each is, is not looked at.

    Raises:
        InvalidOptionError: It is one value alone, a text, a mapping or no list.
    """
    one = isinstance(values, wanted)
    # A model of pydantic can be iterated over, and gives pairs of names and values.
    single = isinstance(values, (str, Mapping)) or hasattr(type(values), "model_fields")
    if one or single or not isinstance(values, Iterable):
        hint = f" Give a list: [{option.removesuffix('s')}]." if one else ""
        message = f"{option} is {named(values)}. {_takes(wanted)}"
        message += hint or instead(values) or elsewhere(values, wanted)
        raise InvalidOptionError(message, option=option, value=values)


def check_passages(passages: Any) -> None:
    """Make sure that what is to be made results is passages.

    Raises:
        InvalidOptionError: Something else is among them, such as results.
    """
    check_entries("passages", passages, Passage, _as_results)


def _as_results(value: Any) -> str:
    if hasattr(value, "metadata"):
        return " Leave the call out: these are results already."
    return ""


def check_entry(
    entry: str, value: Any, wanted: type, instead: Callable[[Any], str] = lambda _: ""
) -> None:
    """Make sure that one value of a list is what is wanted."""
    if not isinstance(value, wanted):
        hint = _first_of_pair(value, wanted) or instead(value)
        hint = hint or elsewhere(value, wanted)
        message = f"{entry} is {named(value)}. {_takes(wanted)}{hint}"
        option = entry.partition("[")[0]
        raise InvalidOptionError(message, option=option, value=value)


_FRAMEWORKS = {
    "langchain_core": " Use langchain_oprag for LangChain's objects.",
    "llama_index": " Use llamaindex_oprag for LlamaIndex's objects.",
}


def elsewhere(value: Any, wanted: type) -> str:
    """Say which package takes what is of the other framework.

    Args:
        value: What was given.
        wanted: The class that was wanted.

    Returns:
        A sentence with a space before it; empty for anything else.
    """
    own = wanted.__module__.partition(".")[0]
    if own not in _FRAMEWORKS:
        return ""
    # A store may be of a third package, above a class of the framework.
    of = {base.__module__.partition(".")[0] for base in type(value).__mro__} - {own}
    return next((hint for each, hint in _FRAMEWORKS.items() if each in of), "")


def _takes(wanted: type) -> str:
    package = wanted.__module__.partition(".")[0]
    if wanted is str:
        return "It takes a list of texts."
    return f"It takes a list of {wanted.__name__} objects of {package}."


def _first_of_pair(value: Any, wanted: type) -> str:
    if isinstance(value, tuple) and value and isinstance(value[0], wanted):
        return " Take the first of each pair: [each for each, _ in pairs]."
    return ""
