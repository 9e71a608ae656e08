"""The filter of a search: it binds every chunk that is read for the search.

A filter keeps chunks from the searcher. Further reads from the same store must not give
them back. So they go through the same filter, or do not happen at all.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from oprag.errors import InvalidOptionError


class SearchFilter(NamedTuple):
    """The filter of a search, as far as it can be seen."""

    where: Any = None
    """The filter in the form of its framework; None for a search without one."""
    ids: frozenset[str] | None = None
    """Ids of the chunks that the search is also limited to; None for all."""
    unseen: str | None = None
    """The reason that this may not be the whole filter, as a clause; None if it is."""

    def refusal(self, store: str, option: str = "documents") -> InvalidOptionError:
        """Return the error for a filter that cannot be carried over to a store."""
        why = self.unseen
        if why is None:
            where = f"{self.where!r:.200}"
            why = f"these cannot be read through the search's filter {where}"
        message = (
            f"{option}= reads more chunks of {store}, and {why}. What a filter keeps "
            f"out of the search must not come back that way: leave {option}= out."
        )
        return InvalidOptionError(message, option=option, value=store)


NO_FILTER = SearchFilter()
"""The filter of a search that finds every chunk."""


def combine_filters(filters: Iterable[SearchFilter]) -> SearchFilter:
    """Return the filter of a search that consists of several searches.

    Returns:
        The only filter that there is, or none. If one search has a filter and another
        has none, it applies to the chunks that both find.
    """
    one = NO_FILTER
    for each in filters:
        if each.unseen is not None:
            return each
        if one not in (NO_FILTER, each) and each != NO_FILTER:
            return SearchFilter(unseen="its searches have different filters")
        one = one if each == NO_FILTER else each
    return one


def inner_retrievers(
    retriever: object, inside: Mapping[tuple[str, str], str]
) -> list[Any]:
    """Return the retrievers that another one searches with.

    Args:
        retriever: Any object.
        inside: By package and class name, the attribute that holds them, either one
            retriever or a list.

    Returns:
        Empty for a class that is not listed, or is only a subclass: it may do anything.
    """
    kind = type(retriever)
    attribute = inside.get((kind.__module__.partition(".")[0], kind.__name__))
    found = getattr(retriever, attribute) if attribute else []
    return list(found) if isinstance(found, (list, tuple)) else [found]


def is_unchanged(retriever: object, kind: type) -> bool:
    """Return whether an object's class is `kind`, or changes no method of it."""
    if not isinstance(retriever, kind):
        return False
    line = type(retriever).__mro__
    return not any(
        callable(value) and callable(getattr(kind, name, None))
        for subclass in line[: line.index(kind)]
        for name, value in vars(subclass).items()
        if not name.startswith(("__", "model_"))  # pydantic writes the latter itself
    )


def contradicts(where: Any, metadata: Mapping[str, Any]) -> bool:
    """Return whether a filter certainly excludes a chunk.

    Only plain conditions, `{key: text}`, are looked at, because some stores ignore a
    filter without a word. The store has to apply all others.
    """
    if not isinstance(where, Mapping):
        return False
    found = ((metadata.get(key), wanted) for key, wanted in where.items())
    return any(
        isinstance(wanted, str) and value != wanted and isinstance(value, str | None)
        for value, wanted in found
    )
