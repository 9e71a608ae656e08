"""Results as text with places and gap marks, and as passages and back."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from langchain_core.documents import Document

from langchain_oprag._convert import make_document, make_hits
from oprag.chunk import Passage
from oprag.context import read_passages, render
from oprag.documents import check_entries

ResultLike: TypeAlias = Document | Mapping[str, Any]
"""A document, or the mapping that a checkpointer or JSON made of it."""


def format_documents(
    documents: Iterable[ResultLike],
    *,
    citations: bool | None = None,
    separator: str = "\n\n",
) -> str:
    """Write documents as text with their places, in the order given.

    The text is the same that `oprag.render` writes for the same passages, and
    `llamaindex_oprag.format_nodes` for the same nodes. Give a component that has a
    `token_budget` also `citations=True` and the same `separator=`: its budget then has
    room for the whole text.

    Args:
        documents: The results of any component, or any documents; also as the
            mappings that LangGraph's checkpointers make of them.
        citations: Put each document's number and place before it, on a separate line
            `[1] contract.txt, characters 0-120`, and `[…]` between documents of one
            text that do not touch. None: yes, except for a component with a
            `token_budget` and without `citations=True`.
        separator: Between two documents.

    Returns:
        The text; the empty string for no documents.

    Raises:
        InvalidOptionError: Something in `documents` is no document.

    Example:
        >>> place = {"source": "a.txt", "start_index": 0}
        >>> print(format_documents([Document("To begin.", metadata=place)]))
        [1] a.txt, characters 0-9
        To begin.
    """
    return render(as_passages(documents), separator=separator, citations=citations)


def as_passages(documents: Iterable[ResultLike]) -> list[Passage]:
    """Return the passage of each document, in the order given.

    Args:
        documents: As `format_documents` takes them. For documents that no component
            returned, the place is read if possible, and `rank` is the place in the
            list.

    Returns:
        Passages with text, spans, rank and citation. Each is of one chunk, whose
        `source` is the document.

    Raises:
        InvalidOptionError: Something in `documents` is no document.
    """
    check_entries("documents", documents, Document, Mapping)
    found = [*map(make_one_document, documents)]
    return read_passages(make_hits(found))


def as_documents(passages: Sequence[Passage]) -> list[Document]:
    """Return a document for each passage, in the order given.

    The inverse of `as_passages`: the documents get their text, metadata and id back.
    Passages of `oprag.order_context` become documents without an id.

    Args:
        passages: Any.

    Raises:
        InvalidOptionError: Something in `passages` is no passage.
    """
    check_entries("passages", passages, Passage)
    return [make_document(passage) for passage in passages]


def make_one_document(given: ResultLike) -> Document:
    """Return a document, or make one of the mapping that stands for it."""
    text = given.get("page_content") if isinstance(given, Mapping) else None
    if isinstance(given, Mapping) and isinstance(text, str):
        return Document(text, id=given.get("id"), metadata=given.get("metadata") or {})
    check_entries("documents", [given], Document)
    return given  # type: ignore[return-value]  # or it was refused
