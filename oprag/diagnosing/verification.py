"""`verify()`: a diagnosis of a sample of the store, and an error if questions fail."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from itertools import chain
from typing import Any, NamedTuple, TypeAlias

from oprag.chunk import Hit
from oprag.context import ContextOptions, arrange, warn, with_texts
from oprag.diagnosing.checks import Group, group_chunks, read_group
from oprag.diagnosing.doctor import Examination
from oprag.diagnosing.report import Diagnosis
from oprag.diagnosing.sample import take_sample
from oprag.documents import ChunkStore, DocumentSource, document_source
from oprag.errors import InvalidOptionError, OpragError, PositionError, UnfitIndexError
from oprag.tokens import Do, Steps, acarry_out, carry_out

_LISTED = 3
"""Errors that are shown."""


class Verifiable:
    """A component that searches a store, and can examine it before any question."""

    def verify(self, sample: int | None = 200) -> Diagnosis:
        """Return before the first question what would fail question by question.

        Args:
            sample: Chunks of the store to look at, the first ones; None for all. Where
                these say too little of a document (one chunk without a position,
                pages alone) all its chunks are looked at.

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
        asked = self._verification()
        return asked.reported(*carry_out(asked.steps(sample)))

    async def averify(self, sample: int | None = 200) -> Diagnosis:
        """Async version of `verify`."""
        asked = self._verification()
        return asked.reported(*await acarry_out(asked.steps(sample)))

    def _verification(self) -> Verification:
        """Return the demands of the component on its store."""
        raise NotImplementedError


_Found: TypeAlias = tuple[Diagnosis, int, list[OpragError], list[OpragError]]
"""What is there, the number of documents, and the errors of those that cannot be read,
and of those that cannot be put in order."""
_Find: TypeAlias = Callable[[Sequence[Hit], ContextOptions], Iterable[str]]


class Verification(NamedTuple):
    """The demands of a component on its store."""

    component: str
    """Its class name."""
    stores: Sequence[ChunkStore]
    """The stores that it searches, read through its search's filter."""
    options: ContextOptions
    """Its own, with the full texts in which it finds places, through that filter."""
    full: DocumentSource | None = None
    """Where it reads full documents, through that filter."""
    find: _Find | None = None
    """Names the documents that are read for chunks of one, where it is not the chunks
    that are put in order; raises what a question would."""
    inside: object = None
    """What it asks: a component of oprag finds places in texts of its own."""

    def steps(self, sample: int | None) -> Steps[_Found]:
        """Examine the store."""
        keys = self.options.position_keys, self.options.document_key
        scanned = chain.from_iterable(store.read() for store in self.stores)
        taken = take_sample(
            scanned, sample, position_keys=keys[0], document_key=keys[1]
        )
        by_file = self.options.documents is not None
        diagnosis = Examination(taken, None, *keys, by_file=by_file).diagnosis
        groups = group_chunks(taken.chunks, keys[1])
        unread, refused = list[OpragError](), list[OpragError]()
        for fails, question in self._questions(groups, taken.chunks):
            try:
                yield question
            except InvalidOptionError:  # what is wrong with an option
                raise
            except OpragError as error:
                (unread if fails else refused).append(error)
        return diagnosis, len(groups), unread, refused

    @property
    def _strict(self) -> ContextOptions:
        options = self.options
        if isinstance(self.inside, Verifiable):
            texts = self.inside._verification().options.documents  # noqa: SLF001 -- above
            options = replace(options, documents=texts)
        return replace(
            options.best_first(),
            merge=self.options.merge or self.options.selection == "recall",
            selection="budget",
            token_budget=None,
            top_n=None,
            on_problem="error",
        )

    def _questions(
        self, groups: Sequence[Group], chunks: Sequence[Hit]
    ) -> Iterator[tuple[bool, Do]]:
        """Yield the work on each document, and whether it fails even with `"warn"`."""
        strict, full = self._strict, self.full is not None
        reading = replace(strict, documents=self.full)
        for group in groups:
            hits = [chunks[i] for i in group.members]
            if self.find is not None:
                yield True, with_texts(strict, partial(_read_found, self.find, hits))
            elif full and group.key:
                yield True, with_texts(reading, partial(_read, group.name))
            fails = full and not group.key  # what has no name cannot be read in full
            yield fails, with_texts(strict, partial(self.find or _order, hits))

    def reported(
        self,
        diagnosis: Diagnosis,
        documents: int,
        unread: Sequence[OpragError],
        refused: Sequence[OpragError],
    ) -> Diagnosis:
        """Say what was found; see `Verifiable.verify`."""
        names = " and ".join(store.name for store in self.stores)
        if not diagnosis.chunks:
            message = (
                f"{self.component}: questions on {names} will find nothing. It holds "
                "no chunk that the search may find: index documents."
            )
            raise UnfitIndexError(message, diagnosis=diagnosis)
        kept = self.options.on_problem == "warn"
        failing = unread if kept else [*unread, *refused]
        if failing or refused:
            become = (
                "fail" if failing else "be in the order as retrieved, with a warning"
            )
            errors = failing or refused
            said = " ".join(error.message for error in errors[:_LISTED])
            message = (
                f"{self.component}: questions on {names} will {become}. "
                f"{len(errors):,} of {documents:,} documents are refused: {said}"
            )
            unfit = UnfitIndexError(message, diagnosis=diagnosis)
            if failing:
                raise unfit
            warn(message, unfit)
        elif diagnosis.verdict == "not ordered":
            # But for the options of the component, which put documents in order.
            problems = [
                replace(each, serious=each.kind == "divided_file")
                for each in diagnosis.problems
            ]
            for each in problems:
                if each.serious:
                    error = PositionError(each.message, kind=each.kind)
                    warn(f"{self.component}: {each.message}", error)
                    return diagnosis
            return replace(diagnosis, verdict="ordered", problems=tuple(problems))
        return diagnosis


def _read_found(find: _Find, hits: Sequence[Hit], options: ContextOptions) -> None:
    names: Iterable[str] = ()
    with suppress(OpragError):  # another question says it
        names = find(hits, options)
    for name in names:
        _read(name, options)


def _read(name: str, options: ContextOptions) -> None:
    document_source(options.documents or {}).read(name)


def _order(hits: Sequence[Hit], options: ContextOptions) -> None:
    """Put the chunks of a document in order, or raise what a question would."""
    arrange(hits, options)
    if options.merge and options.documents is not None:  # gaps are to be filled
        arrange(hits[::2], options)
    if options.documents is None:  # only some of them may be retrieved
        read = read_group(hits, "", options.position_keys)
        if isinstance(read, PositionError):
            raise read


def verified_stores(
    component: str,
    searches: Iterable[tuple[Any, Any]],
    chunk_store: Callable[[Any], ChunkStore],
    instead: str,
) -> list[ChunkStore]:
    """Return the stores that `verify()` looks at, read as the search's filter admits.

    Of a store that cannot be read through the filter all chunks are looked at.

    Args:
        component: Class name of what is verified.
        searches: What each of its retrievers searches, and the filter.
        chunk_store: How the adapter reads the chunks of it.
        instead: How the store can be examined by itself, and what else to give.

    Raises:
        InvalidOptionError: The chunks of one cannot be read.
    """
    stores = []
    for searched, where in searches:
        try:
            store = chunk_store(searched)
        except InvalidOptionError as error:
            name = type(getattr(searched, "vector_store", searched)).__name__
            message = (
                f"{component}.verify() reads the chunks of the store, and those that a "
                f"{name} searches cannot be seen. {instead}"
            )
            raise InvalidOptionError(
                message, option="base_retriever", value=name
            ) from error
        readable = where is not None and store.takes_filter(where)
        stores.append(store.within(where) if readable else store)
    return stores
