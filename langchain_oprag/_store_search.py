"""One search of a vector store, by any of its methods, as a retriever asks it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from langchain_core.callbacks import (
    AsyncCallbackManagerForRetrieverRun,
    CallbackManagerForRetrieverRun,
)
from langchain_core.documents import Document
from langchain_core.vectorstores import VectorStore, VectorStoreRetriever
from pydantic import PrivateAttr

from oprag.context import check_option
from oprag.errors import (
    InvalidOptionError,
    did_you_mean,
    invalid_option,
    named,
    written,
)
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


def check_search(vectorstore: VectorStore, search: Mapping[str, Any]) -> None:
    """Make sure that a store can be searched as it was said.

    Args:
        vectorstore: The store.
        search: `search_type` and `search_kwargs`, as far as they were given.

    Raises:
        InvalidOptionError: One has a value that it cannot have.
    """
    kwargs, kind = search.get("search_kwargs", {}), search.get("search_type")
    if not isinstance(kwargs, Mapping):
        takes = 'It takes a mapping: search_kwargs={"k": 4}.'
        raise invalid_option("search_kwargs", kwargs, takes)
    check_option("k", kwargs.get("k"))
    known = [*VectorStoreRetriever.allowed_search_types]
    # Stores with a retriever of their own have other searches, too.
    standard = type(vectorstore).as_retriever is VectorStore.as_retriever
    if standard and kind is not None and kind not in known:
        near = did_you_mean(str(kind), known).rstrip()
        takes = f"It takes {' or '.join(map(repr, known))}. {near}".rstrip()
        raise invalid_option("search_type", kind, takes)
    _check_threshold(kind, kwargs.get("score_threshold"))


def _check_threshold(search_type: Any, threshold: Any) -> None:
    if search_type != "similarity_score_threshold" or isinstance(threshold, float):
        return
    message = (
        'search_type="similarity_score_threshold" needs a score_threshold in '
        "search_kwargs=, a float from 0 to 1 below which nothing is returned, and has "
        f"{written(threshold)} there. Write "
        'search_kwargs={"score_threshold": 0.5}.'
    )
    raise InvalidOptionError(message, option="search_kwargs", value=threshold)
