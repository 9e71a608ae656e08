"""What would fail question by question, found before the first one: `verify()`.

The doctor's judgement of a sample of the store, with the options of a component; and
the full texts of its documents, read as a question would have them read.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from typing import NamedTuple

from oprag.chunk import Chunk, FullText, Hit
from oprag.context import ContextOptions, arrange, unwidened, warn
from oprag.diagnosing.checks import group_chunks, read_group
from oprag.diagnosing.doctor import diagnose_sample
from oprag.diagnosing.report import Diagnosis, Options, Problem
from oprag.diagnosing.sampling import Sample
from oprag.documents import ChunkStore, DocumentSource, ReadTexts, document_source
from oprag.errors import (
    DocumentNotFoundError,
    InvalidOptionError,
    OpragError,
    OpragWarning,
    PositionError,
    UnfitIndexError,
    warn_user,
)

_POSITIONS = frozenset(
    {
        *("missing_position", "unscoped_position", "ambiguous_position"),
        *("invalid_span", "conflicting_text"),
    }
)
"""Kinds of problems for which retrieval refuses the chunks of a document."""
_LISTED = 3
"""Documents that are named."""


class _Faults(NamedTuple):
    """What would go wrong, one sentence or more for each kind."""

    failing: list[str]
    """Questions fail, or find nothing, whatever the options."""
    unordered: list[str]
    """They fail, unless the order as retrieved is kept (`on_problem="warn"`)."""
    unwidened: str = ""
    """They are answered, and nothing is read beside what they find."""


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
    widens: bool = False
    """Whether it reads neighbours."""
    linked: Callable[[Sequence[str]], bool] | None = None
    """Whether any of the chunks of these ids names one beside it in a way of its
    framework's; None where neighbours are read by the keys of the chunks alone."""
    find: Callable[[Sequence[Hit], ContextOptions], object] | None = None
    """Finds what is read by the chunks of a document, where it is not the chunks that
    are put in order; raises what a question would."""

    def run(self, sample: int | None) -> Diagnosis:
        """Examine the store.

        Args:
            sample: Chunks to look at, the first ones; None for all. See `Sample`.

        Returns:
            All that was found of its chunks.

        Raises:
            UnfitIndexError: Questions would fail.
            InvalidOptionError: `sample` is not possible.

        Warns:
            PositionWarning: In its place, with `on_problem="warn"`, where they would
                be answered in the order as retrieved.
        """
        taken = self._taken(sample)
        texts = {name: self._read(name) for name in self._names(taken)}
        return self._told(*self._judged(taken, texts))

    async def arun(self, sample: int | None) -> Diagnosis:
        """Async version of `run`: nothing blocks the event loop."""
        from asyncio import to_thread  # here, because its import takes long

        taken = await to_thread(self._taken, sample)
        names = await to_thread(self._names, taken)
        texts = {name: await self._aread(name) for name in names}
        return self._told(*await to_thread(self._judged, taken, texts))

    def _taken(self, sample: int | None) -> Sample:
        scanned = chain.from_iterable(store.scan() for store in self.stores)
        return Sample(scanned, sample)

    def _names(self, taken: Sample) -> list[str]:
        """Names of the documents whose full texts are asked for."""
        if self.options.documents is None:
            return []
        groups = group_chunks(taken.chunks, self.options.document_key)
        return [group.name for group in groups if group.name]

    @property
    def _documents(self) -> DocumentSource:
        return document_source(self.options.documents or {})

    def _read(self, name: str) -> FullText | OpragError:
        try:
            return self._documents.read(name)
        except InvalidOptionError:
            raise
        except OpragError as error:
            return error

    async def _aread(self, name: str) -> FullText | OpragError:
        try:
            return await self._documents.aread(name)
        except InvalidOptionError:
            raise
        except OpragError as error:
            return error

    def _judged(
        self, taken: Sample, texts: dict[str, FullText | OpragError]
    ) -> tuple[Diagnosis, _Faults]:
        options = self._options_of_one_document(texts)
        taken.read_on(partial(_read, options), options.document_key)
        diagnosis = diagnose_sample(
            taken,
            None,
            position_keys=options.position_keys,
            document_key=options.document_key,
        )
        if not taken.chunks:
            nothing = "It holds no chunk that the search may find: index documents"
            return diagnosis, _Faults([nothing], [])
        faults = self._faults(taken, diagnosis, texts, options)
        if not any(faults) and diagnosis.verdict == "not ordered":
            diagnosis = self._settled(taken, diagnosis, options)
        return diagnosis, faults

    def _settled(
        self, taken: Sample, diagnosis: Diagnosis, options: ContextOptions
    ) -> Diagnosis:
        """Tell it ordered where the component's options put all of it in order."""
        answered = _POSITIONS if self._locates else frozenset[str]()
        problems = tuple(
            replace(each, serious=False) if each.kind in answered else each
            for each in diagnosis.problems
        )
        left = {each.kind for each in problems if each.serious}
        if left & {*_POSITIONS, "missing_document"} or self._refused(taken, options):
            return diagnosis
        return replace(diagnosis, verdict="ordered with options", problems=problems)

    def _options_of_one_document(
        self, texts: dict[str, FullText | OpragError]
    ) -> ContextOptions:
        known = {
            name: text
            for name, text in texts.items()
            if isinstance(text, FullText) and text.exact
        }
        return replace(
            self.options.best_first(),
            selection="budget",
            token_budget=None,
            top_n=None,
            on_problem="error",
            documents=ReadTexts(known) if self._locates else None,
        )

    @property
    def _locates(self) -> bool:
        """Whether chunks are looked for in the full texts."""
        read = self.find is not None or not self.full
        return read and self.options.documents is not None

    def _faults(
        self,
        taken: Sample,
        diagnosis: Diagnosis,
        texts: dict[str, FullText | OpragError],
        options: ContextOptions,
    ) -> _Faults:
        failing: list[str] = []
        unordered: list[str] = []
        for problem in () if self.find else diagnosis.problems:
            if problem.kind == "missing_document":
                # What cannot be named cannot be read in full.
                told = failing if self.full else unordered
                told.append(self._described(problem, diagnosis))
            elif problem.kind in _POSITIONS and options.documents is None:
                unordered.append(self._described(problem, diagnosis))
        if unordered and taken.unsettled:
            unordered.append(
                f"{taken.unsettled:,} more have no better position, and may not be the "
                "only ones of their documents"
            )
        if not unordered and (refused := self._refused(taken, options)):
            groups = group_chunks(taken.chunks, options.document_key)
            unordered.append(_counted(refused, len(groups), self._lack))
        unread = [
            error.message
            for error in texts.values()
            if isinstance(error, OpragError)
            and (self.full or not isinstance(error, DocumentNotFoundError))
        ]
        if unread:
            what = "documents cannot be read in full"
            failing.append(_counted(unread, len(texts), what))
        return _Faults(failing, unordered, self._unwidened(taken))

    @property
    def _lack(self) -> str:
        """What is said of documents of which questions refuse the chunks."""
        if self.find:
            return "documents have chunks of which the unit cannot be told"
        if self._locates:
            return "documents have chunks that are not found in their full texts"
        return "documents cannot be put in order"

    def _unwidened(self, taken: Sample) -> str:
        if not self.widens or self.options.documents is not None:
            return ""
        groups = group_chunks(taken.chunks, self.options.document_key)
        several = [i for each in groups if len(each.members) > 1 for i in each.members]
        lacking = unwidened(taken.chunks[i].hit for i in several)
        if lacking is None:
            return ""
        ids = [taken.chunks[i].id for i in several]
        return "" if self.linked and self.linked(ids) else lacking.message

    def _refused(self, taken: Sample, options: ContextOptions) -> list[str]:
        """What retrieval says of the documents that it refuses."""
        named = self.find is None
        read = [
            self._read_group(
                options, [taken.chunks[i].hit for i in group.members], group.name
            )
            for group in group_chunks(taken.chunks, options.document_key)
            if group.key or not named
        ]
        return [each.message for each in read if isinstance(each, OpragError)]

    def _read_group(
        self, options: ContextOptions, hits: list[Hit], name: str
    ) -> list[Chunk] | OpragError:
        if self.find is None:
            return _read(options, hits, name)
        try:
            self.find(hits, options)
        except OpragError as error:
            return error
        return []

    def _described(self, problem: Problem, diagnosis: Diagnosis) -> str:
        """One kind of problem of the chunks, in numbers, with what to do about it."""
        first = problem.examples[0]
        of = f" of {first.document!r}" if first.document else ""
        detail = f" ({first.detail})" if first.detail else ""
        what = (
            f"{problem.chunks:,} of {diagnosis.chunks:,} chunks looked at: "
            f"{problem.message} First: chunk {first.chunk!r}{of}{detail}. "
        )
        if problem.kind == "missing_document":
            return what + "Name the key that holds the document with document_key="
        there = [
            f"{use.key} on {use.usable:,} of {diagnosis.chunks:,}"
            for use in diagnosis.keys
            if use.role in {"position", "part"}
        ]
        usable = f"Usable are: {', '.join(there)}. " if there else ""
        if diagnosis.options != Options():
            passed = diagnosis.options
            return (
                f"{what}{usable}It is in order with position_keys="
                f"{passed.position_keys!r}, document_key={passed.document_key!r}"
            )
        return (
            f"{what}{usable}Run `oprag doctor`, which names all of them and repairs "
            "the index from the full texts; or give these as documents="
        )

    def _told(self, diagnosis: Diagnosis, faults: _Faults) -> Diagnosis:
        failing, unordered, beside = faults
        names = " and ".join(store.name for store in self.stores)
        kept = self.options.on_problem == "warn"
        if unordered and kept:
            message = (
                f"{self.component}: what is found in {names} will stand in the order "
                f"as retrieved, with a warning. {'. '.join(unordered)}."
            )
            warn(message, UnfitIndexError(message, diagnosis=diagnosis))
        if failing or (unordered and not kept):
            told = ". ".join([*failing, *([] if kept else unordered)])
            will = "will fail" if diagnosis.chunks else "will find nothing"
            message = f"{self.component}: questions on {names} {will}. {told}."
            raise UnfitIndexError(message, diagnosis=diagnosis)
        for lost in (each for each in diagnosis.problems if each.kind == "lost_name"):
            message = f"{self.component}: {lost.chunks:,} chunks of {names}. "
            warn_user(message + lost.message, OpragWarning)
        if beside:
            message = f"{self.component}: nothing beside what is found in {names} "
            message += f"will be read. {beside}"
            raise UnfitIndexError(message, diagnosis=diagnosis)
        return diagnosis


def _read(
    options: ContextOptions, hits: list[Hit], name: str
) -> list[Chunk] | PositionError:
    """The chunks of one document as retrieval reads them, or the error it raises."""
    if options.documents is None:
        return read_group(hits, name, options.position_keys)
    try:
        passages = arrange(hits, options).passages()
    except PositionError as error:
        return error
    return [chunk for passage in passages for chunk in passage.chunks]


def unseen_store(
    component: str, retriever: object, diagnose_with: str
) -> InvalidOptionError:
    """What a retriever searches cannot be seen, so that it cannot be verified.

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


def _counted(messages: Sequence[str], total: int, what: str) -> str:
    listed = " ".join(messages[:_LISTED]).rstrip(".")
    more = f". And {len(messages) - _LISTED} more" if len(messages) > _LISTED else ""
    return f"{len(messages):,} of {total:,} {what}: {listed}{more}"
