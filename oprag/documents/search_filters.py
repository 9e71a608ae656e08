"""What a search is filtered by, and why it cannot be carried over to whole documents.

A filter keeps chunks from whoever searches. What is rebuilt from the same store must
not give them back: it is read through the same filter, or not at all.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from oprag.errors import FilteredDocumentError, InvalidOptionError

_WAY_OUT = (
    "If everyone who asks may read all of it, say so by giving the texts as a "
    "function: documents=document_source(…).get, or .aget for async code."
)


class SearchFilter(NamedTuple):
    """What a search is filtered by, as far as that can be seen."""

    where: Any = None
    """The filter as its framework has it; None for a search without one."""
    ids: frozenset[str] | None = None
    """Ids of the chunks that it is limited to besides; None for all."""
    unseen: str | None = None
    """Why this may not be all, as a clause; None when it is."""


def one_filter(filters: Iterable[SearchFilter]) -> SearchFilter:
    """Tell what a search is filtered by that consists of several.

    Returns:
        The only one that there is, or none. Where one search has a filter and another
        has not, it holds for what both find.
    """
    one = SearchFilter()
    for each in filters:
        if each.unseen is not None:
            return each
        if one not in (SearchFilter(), each) and each != SearchFilter():
            return SearchFilter(unseen="its searches have different filters")
        one = one if each == SearchFilter() else each
    return one


def inner_retrievers(
    retriever: object, inside: Mapping[tuple[str, str], str]
) -> list[Any]:
    """Return the retrievers that another one searches with.

    Args:
        retriever: Any object.
        inside: By package and class name, the attribute that holds them, alone or in
            a list.

    Returns:
        Empty for a class that is not listed, subclasses included: they may do
        anything.
    """
    kind = type(retriever)
    attribute = inside.get((kind.__module__.partition(".")[0], kind.__name__))
    found = getattr(retriever, attribute) if attribute else []
    return list(found) if isinstance(found, (list, tuple)) else [found]


def is_unchanged(retriever: object, kind: type) -> bool:
    """Say whether an object is of a class, or of one that changes no method of it."""
    if not isinstance(retriever, kind):
        return False
    line = type(retriever).__mro__
    return not any(
        callable(value) and callable(getattr(kind, name, None))
        for subclass in line[: line.index(kind)]
        for name, value in vars(subclass).items()
        if not name.startswith(("__", "model_"))  # pydantic writes the latter itself
    )


_READING = {
    "widen": ("reads chunks of {} beside those that were found", "as neighbours"),
    "bm25": ("finds chunks of {} by their words", "that way"),
}
"""What options do that read single chunks, and how those come back."""


def unseen_filter(
    unseen: str, store: str, option: str = "documents"
) -> InvalidOptionError:
    """What a search is filtered by cannot be told."""
    if option in _READING:
        does, back = _READING[option]
        message = (
            f"{option}= {does.format(store)}, and "
            f"{unseen}. Chunks that a filter keeps out of the search must not come "
            f"back {back}. Use OrderPreservingRetriever around the vector "
            f"store's own retriever, with nothing but a filter; or leave {option}= out."
        )
        return InvalidOptionError(message, option=option, value=store)
    message = (
        f"documents= puts texts together from the chunks of {store}, and {unseen}. "
        "Chunks that a filter keeps out of the search must not come back in a full "
        "text or a filled gap. Use OrderPreservingRetriever or Self-Route around the "
        f"vector store's own retriever, with nothing but a filter. {_WAY_OUT}"
    )
    return InvalidOptionError(message, option="documents", value=store)


def unknown_filter(
    where: Any, store: str, option: str = "documents"
) -> InvalidOptionError:
    """A store's chunks cannot be read through a search's filter."""
    if option in _READING:
        what = "neighbours" if option == "widen" else "chunks"
        message = (
            f"The search is filtered by {where!r:.200}, and the chunks of {store} "
            f"cannot be read through that filter. So {option}= cannot read {what} "
            f"from them: leave the filter out, or {option}=."
        )
        return InvalidOptionError(message, option=option, value=store)
    message = (
        f"The search is filtered by {where!r:.200}, and the chunks of {store} cannot "
        "be read through that filter. So documents= cannot put full texts together "
        f"from them: leave the filter out, or documents=. {_WAY_OUT}"
    )
    return InvalidOptionError(message, option="documents", value=store)


def filtered(name: str) -> FilteredDocumentError:
    """A search's filter hides chunks of a document."""
    message = (
        f"The search's filter hides chunks of document {name!r}, so its full text is "
        "not given: a document is read whole or not at all. Search without the "
        "filter, or give every chunk of the document what the filter asks for."
    )
    return FilteredDocumentError(message, document=name)


def contradicts(where: Any, metadata: Mapping[str, Any]) -> bool:
    """Say whether a filter certainly keeps a chunk out.

    Only plain conditions, `{key: text}`, are looked at: some stores ignore a filter
    without a word. All others are the store's to apply.
    """
    if not isinstance(where, Mapping):
        return False
    found = ((metadata.get(key), wanted) for key, wanted in where.items())
    return any(
        isinstance(wanted, str) and value != wanted and isinstance(value, str | None)
        for value, wanted in found
    )
