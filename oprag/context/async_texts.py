"""Await full texts, and the work on them, for async callers."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from typing import TypeVar

from oprag.chunk import FullText
from oprag.context.options import ContextOptions
from oprag.documents import DocumentSource, not_found
from oprag.effects import run_in_thread
from oprag.errors import DocumentNotFoundError, OpragError

_T = TypeVar("_T")


async def aload_texts_then(
    options: ContextOptions, work: Callable[[ContextOptions], _T]
) -> _T:
    """Do work, and repeat it once the full texts that it asked for are here.

    Which texts are needed is known only when chunks are selected and in order. Work is
    done in a thread: it may be on long texts, or load a token counter.
    """
    if not isinstance(options.documents, DocumentSource):
        return await run_in_thread(partial(work, options))
    texts = _Texts(options.documents)
    while True:
        try:
            result = await run_in_thread(
                partial(work, replace(options, documents=texts))
            )
        except OpragError:
            if not texts.asked:
                raise
        else:
            if not texts.asked:
                return result
        await texts.fetch()


class _Texts(DocumentSource):
    """The texts that are here, and the names of those that are asked for."""

    def __init__(self, source: DocumentSource) -> None:
        self._source = source
        self._found: dict[str, FullText | DocumentNotFoundError] = {}
        self.asked: dict[str, None] = {}
        """Names of texts that are not here yet."""

    @property
    def at_hand(self) -> bool:
        return self._source.at_hand

    def read(self, document_id: str) -> FullText:
        found = self._found.get(document_id)
        if document_id not in self._found:
            self.asked[document_id] = None
        if found is None:
            found = not_found(document_id, "what was read of documents=")
        if isinstance(found, DocumentNotFoundError):
            raise found
        return found

    def names(self) -> Iterable[str]:
        return self._source.names()

    def has(self, document_id: str) -> bool:
        return self._source.has(document_id)

    async def fetch(self) -> None:
        for name in self.asked:
            try:
                self._found[name] = await self._source.aread(name)
            except DocumentNotFoundError as error:
                self._found[name] = error
        self.asked = {}
