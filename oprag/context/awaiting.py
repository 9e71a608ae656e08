"""Full texts that have to be awaited, and work that has to be: for async callers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TypeVar

from oprag.context.options import ContextOptions
from oprag.documents import DocumentSource, refuse_strangers
from oprag.errors import DocumentNotFoundError, OpragError
from oprag.tokens import in_thread_if_long, load_counter

_T = TypeVar("_T")


async def with_texts(
    options: ContextOptions, work: Callable[[ContextOptions], _T], characters: int
) -> _T:
    """Do what may need full texts, and again once those that it asked for are here.

    What is needed is known only when chunks are selected and in order. Work on long
    texts is done in a thread (`oprag.tokens.in_thread_if_long`); so is loading what
    counts their tokens.

    Args:
        options: Their `documents` are awaited, never asked from sync code.
        work: Has no effect but its result; it may be done several times.
        characters: Of the chunks that it looks at.

    Raises:
        OpragError: As `work` raises it with all texts at hand, or `documents`.
    """
    if options.token_budget is not None:
        await load_counter(options.token_counter)
    if not isinstance(options.documents, DocumentSource):
        return await in_thread_if_long(characters, partial(work, options))
    texts = _Texts(options.documents)
    while True:
        try:
            result = await in_thread_if_long(
                characters + texts.characters,
                partial(work, replace(options, documents=texts.at_hand)),
            )
        except OpragError:
            if not texts.asked:
                raise
        else:
            if not texts.asked:
                texts.check()
                return result
        await texts.fetch()


class _Texts:
    def __init__(self, source: DocumentSource) -> None:
        self._source = source
        self._texts: dict[str, str | None] = {}
        self._there: dict[str, bool] = {}
        self.asked: dict[str, None] = {}
        """Names of texts that are not here yet."""

    @property
    def characters(self) -> int:
        return sum(len(text) for text in self._texts.values() if text)

    def at_hand(self, name: str) -> str | None:
        if name not in self._texts:
            self.asked[name] = None
        return self._texts.get(name)

    def check(self) -> None:
        """Refuse a source that has nothing of what was asked for."""
        refuse_strangers(self._there, self._source)

    async def fetch(self) -> None:
        for name in self.asked:
            try:
                found = await self._source.aread(name)
            except DocumentNotFoundError:
                self._texts[name] = None
                self._there[name] = False
            else:
                self._there[name] = True
                self._texts[name] = found.text if found.exact else None
        self.asked = {}
