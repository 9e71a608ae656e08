"""One search of a vector store, by any of its methods, as a retriever asks it."""

from __future__ import annotations

from typing import Any

from langchain_core.callbacks import (
    AsyncCallbackManagerForRetrieverRun,
    CallbackManagerForRetrieverRun,
)
from langchain_core.documents import Document
from langchain_core.vectorstores import VectorStoreRetriever
from pydantic import PrivateAttr

from oprag.errors import InvalidOptionError, named
from oprag.metadata import RANK


class StoreSearch(VectorStoreRetriever):
    """Calls one method and remembers what came beside each document."""

    method: str
    """Its name; awaited, that of the async one."""
    asked: Any
    """What is looked for: a text, a vector, or whatever the method takes first."""
    takes_k: bool = True
    """Whether the method takes `k`."""

    _beside: list[tuple[Any, ...]] | None = PrivateAttr(default=None)

    @property
    def question(self) -> str:
        """The text that is looked for; empty for a vector."""
        return self.asked if isinstance(self.asked, str) else ""

    def paired(self, documents: list[Document]) -> list[Any]:
        """Return what the method returns: documents, or pairs of each and its score.

        Args:
            documents: What the search became. The score of each is that of the best
                hit in it, by its rank.
        """
        beside = self._beside
        if beside is None:
            return documents
        return [(document, *beside[document.metadata[RANK]]) for document in documents]

    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun, **kwargs: Any
    ) -> list[Document]:
        search = getattr(self.vectorstore, self.method)
        return self._kept(search(self.asked, **self._arguments(kwargs)))

    async def _aget_relevant_documents(
        self,
        query: str,
        *,
        run_manager: AsyncCallbackManagerForRetrieverRun,
        **kwargs: Any,
    ) -> list[Document]:
        search = getattr(self.vectorstore, self.method)
        return self._kept(await search(self.asked, **self._arguments(kwargs)))

    def _arguments(self, call: dict[str, Any]) -> dict[str, Any]:
        arguments = {**self.search_kwargs, **call}
        if not self.takes_k:
            arguments.pop("k", None)
        return arguments

    def _kept(self, found: Any) -> list[Document]:
        listed = isinstance(found, list)
        if listed and all(isinstance(each, Document) for each in found):
            self._beside, documents = None, found
        elif listed and all(
            isinstance(each, tuple) and each and isinstance(each[0], Document)
            for each in found
        ):
            self._beside = [each[1:] for each in found]
            documents = [each[0] for each in found]
        else:
            message = (
                f"{self.method} of the vector store returned {named(found)}, which "
                "cannot be put in order. Call it on the store itself, .vectorstore."
            )
            raise InvalidOptionError(message, option=self.method, value=found)
        # What a store holds has the rank of this search, whatever one before it wrote.
        return list(map(_unranked, documents))


def _unranked(document: Document) -> Document:
    if RANK not in document.metadata:
        return document
    metadata = {k: v for k, v in document.metadata.items() if k != RANK}
    return document.model_copy(update={"metadata": metadata})
