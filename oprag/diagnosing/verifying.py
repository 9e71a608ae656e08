"""`verify()`: a diagnosis of a sample of the store, and an error if questions fail."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import chain
from typing import NamedTuple

from oprag.chunk import FullText, Hit
from oprag.context import ContextOptions, arrange, warn
from oprag.diagnosing.checks import group_chunks, read_group
from oprag.diagnosing.doctor import diagnose_sample
from oprag.diagnosing.report import Diagnosis, Options
from oprag.diagnosing.sampling import take_sample
from oprag.documents import ChunkStore, ReadTexts, document_source
from oprag.errors import (
    DocumentNotFoundError,
    InvalidOptionError,
    OpragError,
    PositionError,
    UnfitIndexError,
)

_POSITIONS = frozenset(
    {
        *("missing_document", "missing_position", "unscoped_position"),
        *("ambiguous_position", "conflicting_text"),
    }
)
"""Kinds of problems for which retrieval refuses the chunks of a document."""
_LISTED = 3
"""Errors that are shown."""


class Verifiable:
    """A component that searches a store, and can examine it before any question."""

    def verify(self, sample: int | None = 200) -> Diagnosis:
        """Return before the first question what would fail question by question.

        Args:
            sample: Chunks of the store to look at, the first ones; None for all. Of
                documents of which these say too little (one chunk without a
                position, pages alone) all chunks are looked at.

        Returns:
            All that the doctor finds on them: see `oprag.diagnosing.Diagnosis`.

        Raises:
            UnfitIndexError: The store is empty; or chunks lack what names their
                document or their position, or these cannot be true (with
                `documents`: be found in the full texts); or the full text of a
                document cannot be had. The error carries the diagnosis.
            InvalidOptionError: `sample` is not possible, or what store is searched
                cannot be seen.

        Warns:
            PositionWarning: In the place of `UnfitIndexError`, with
                `on_problem="warn"`, where questions are answered all the same.
        """
        return self._verification().run(sample)

    async def averify(self, sample: int | None = 200) -> Diagnosis:
        """Async version of `verify`."""
        return await self._verification().arun(sample)

    def _verification(self) -> Verification:
        """What the component asks of its store."""
        raise NotImplementedError


class _Found(NamedTuple):
    """What a verification found."""

    diagnosis: Diagnosis
    documents: int
    unread: list[OpragError]
    """Why full texts cannot be had that are needed: questions fail."""
    refused: list[OpragError]
    """Why chunks cannot be put in order: questions fail, unless the order as retrieved
    is kept (`on_problem="warn"`)."""


class Verification(NamedTuple):
    """What a component asks of its store."""

    component: str
    """Its class name."""
    stores: Sequence[ChunkStore]
    """Those that it searches, read as its search's filter admits."""
    options: ContextOptions
    """Its own, with full texts through that filter, too."""
    full: bool = False
    """Whether it reads full documents."""
    find: Callable[[Sequence[Hit], ContextOptions], object] | None = None
    """Finds what is read by the chunks of a document, where it is not the chunks that
    are put in order; raises what a question would."""

    def run(self, sample: int | None) -> Diagnosis:
        """Examine the store; see `Verifiable.verify`."""
        return self._reported(
            self._found(sample, document_source(self.options.documents or {}).read)
        )

    async def arun(self, sample: int | None) -> Diagnosis:
        """Async version of `run`: nothing blocks the event loop."""
        import asyncio  # here, because its import takes long

        loop = asyncio.get_running_loop()
        source = document_source(self.options.documents or {})

        def read(name: str) -> FullText:
            return asyncio.run_coroutine_threadsafe(source.aread(name), loop).result()

        found = await asyncio.to_thread(self._found, sample, read)
        return self._reported(found)

    def _found(self, sample: int | None, read: Callable[[str], FullText]) -> _Found:
        position_keys = self.options.position_keys
        document_key = self.options.document_key
        scanned = chain.from_iterable(store.read() for store in self.stores)
        taken = take_sample(
            scanned, sample, position_keys=position_keys, document_key=document_key
        )
        diagnosis = diagnose_sample(taken, None, position_keys, document_key)
        groups = group_chunks(taken.chunks, document_key)
        names = [group.name for group in groups if group.name]
        texts, unread = self._read(names, read)
        question = replace(
            self.options.best_first(),
            selection="budget",
            token_budget=None,
            top_n=None,
            on_problem="error",
            documents=ReadTexts(texts) if self._locates else None,
        )
        refused: list[OpragError] = []
        for group in groups:
            hits = [taken.chunks[i].hit for i in group.members]
            try:
                (self.find or _order)(hits, question)
            except OpragError as error:
                # What cannot be named cannot be read in full.
                nameless = self.full and not group.key and self.find is None
                (unread if nameless else refused).append(error)
        if not refused and not unread and diagnosis.verdict == "not ordered":
            # But for the options of the component, which put it in order.
            problems = [replace(each, serious=False) for each in diagnosis.problems]
            diagnosis = replace(
                diagnosis, verdict="ordered with options", problems=tuple(problems)
            )
        return _Found(diagnosis, len(groups), unread, refused)

    def _read(
        self, names: Sequence[str], read: Callable[[str], FullText]
    ) -> tuple[dict[str, FullText], list[OpragError]]:
        """The exact full texts, and why others cannot be had that are needed."""
        texts: dict[str, FullText] = {}
        unread: list[OpragError] = []
        for name in names if self.options.documents is not None else ():
            try:
                text = read(name)
            except InvalidOptionError:
                raise
            except OpragError as error:
                if self.full or not isinstance(error, DocumentNotFoundError):
                    unread.append(error)
            else:
                if text.exact:
                    texts[name] = text
        return texts, unread

    @property
    def _locates(self) -> bool:
        """Whether chunks are looked for in the full texts."""
        read = self.find is not None or not self.full
        return read and self.options.documents is not None

    def _reported(self, found: _Found) -> Diagnosis:
        diagnosis = found.diagnosis
        names = " and ".join(store.name for store in self.stores)
        if not diagnosis.chunks:
            message = (
                f"{self.component}: questions on {names} will find nothing. It holds "
                "no chunk that the search may find: index documents."
            )
            raise UnfitIndexError(message, diagnosis=diagnosis)
        kept = self.options.on_problem == "warn"
        if found.refused and kept:
            message = (
                f"{self.component}: what is found in {names} will be in the order "
                f"as retrieved, with a warning. {self._said(found, found.refused)}"
            )
            warn(message, UnfitIndexError(message, diagnosis=diagnosis))
        failing = found.unread if kept else [*found.unread, *found.refused]
        if failing:
            message = (
                f"{self.component}: questions on {names} will fail. "
                f"{self._said(found, failing)}"
            )
            raise UnfitIndexError(message, diagnosis=diagnosis)
        return diagnosis

    def _said(self, found: _Found, errors: Sequence[OpragError]) -> str:
        """What is wrong, in numbers, and one way out."""
        diagnosis = found.diagnosis
        said = [
            f"{each.chunks:,} of {diagnosis.chunks:,} chunks looked at: {each.message}"
            for each in diagnosis.problems
            if each.kind in _POSITIONS and not self._locates
        ]
        said.append(f"{len(errors):,} of {found.documents:,} documents are refused:")
        own = self.options.position_keys, self.options.document_key
        if diagnosis.options != Options() and own == (None, None) and not found.unread:
            return " ".join([*said[:-1], f"Pass {diagnosis.options.code()}."])
        return " ".join([*said, *[error.message for error in errors[:_LISTED]]])


def _order(hits: Sequence[Hit], options: ContextOptions) -> None:
    """Put the chunks of a document in order, or raise what a question would."""
    arrange(hits, options)
    if options.documents is None:  # only some of them may be retrieved
        read = read_group(hits, "", options.position_keys)
        if isinstance(read, PositionError):
            raise read


def unseen_store(
    component: str, retriever: object, diagnose_with: str
) -> InvalidOptionError:
    """Return the error for a retriever whose store cannot be seen.

    Args:
        component: Class name of what was to be verified.
        retriever: What it asks.
        diagnose_with: How the store can be examined by itself, and what else to give.
    """
    name = type(retriever).__name__
    message = (
        f"{component}.verify() reads the chunks of the store, and those that a {name} "
        f"searches cannot be seen. {diagnose_with}"
    )
    return InvalidOptionError(message, option="base_retriever", value=name)
