"""Documents are added to the store that a retriever searches."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from langchain_core.documents import Document
from langchain_core.retrievers import RetrieverLike

from langchain_oprag._options import unwrap
from langchain_oprag._searched import inner_searches
from oprag.errors import InvalidOptionError


class AddsDocuments:
    """Adds documents to the one store that `base_retriever` searches."""

    base_retriever: RetrieverLike

    def add_documents(self, documents: list[Document], **kwargs: Any) -> list[str]:
        """Add documents to the store that is searched, as its own retriever does.

        Nothing is split or changed: documents can be put in order if they were cut
        before, with positions or with overlaps.

        Args:
            documents: Documents to add.
            **kwargs: As the store takes them, such as `ids`.

        Returns:
            The ids of the added documents.

        Raises:
            InvalidOptionError: The retriever inside searches several stores, or one
                that takes no documents.
        """
        writer = _find_writer(self.base_retriever)
        try:
            added: list[str] = writer.add_documents(documents, **kwargs)
        finally:  # some may have been added
            self._forget_chunks()
        return added

    async def aadd_documents(
        self, documents: list[Document], **kwargs: Any
    ) -> list[str]:
        """Async version of `add_documents`."""
        writer = _find_writer(self.base_retriever)
        try:
            added: list[str] = await writer.aadd_documents(documents, **kwargs)
        finally:
            self._forget_chunks()
        return added

    def _forget_chunks(self) -> None:
        """Forget the facts about the store's chunks, because it was written to."""


def _find_writer(retriever: Any) -> Any:
    """Return the one retriever inside to which documents can be added.

    Args:
        retriever: Any.

    Raises:
        InvalidOptionError: There is none, or there are several.
    """
    writers = [*_writers(retriever)]
    targets = {id(getattr(each, "vectorstore", each)) for each in writers}
    if len(targets) == 1 and None not in writers:
        return writers[0]
    message = (
        "add_documents() adds to the one store that is searched, and "
        f"{type(retriever).__name__} searches several, or one that takes no documents. "
        "Call add_documents() of the store itself."
    )
    raise InvalidOptionError(message, option="base_retriever", value=retriever)


def _writers(retriever: Any) -> Iterator[Any]:
    """Yield the retrievers that take documents; None for one that takes none."""
    retriever, _, _ = unwrap(retriever, {})
    if callable(getattr(retriever, "add_documents", None)):
        yield retriever
        return
    inner = inner_searches(retriever)
    for each in inner:
        yield from _writers(each)
    if not inner:
        yield None
