"""`verify()`: a diagnosis of a sample of the store, and an error if questions fail."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from typing import Any, NamedTuple, TypeAlias

from oprag.chaining import PageCounts, report_unproved
from oprag.chunk import Hit
from oprag.context import ContextOptions, arrange, load_texts_then, warn
from oprag.diagnosing.checks import Group, find_chains, group_chunks, read_group
from oprag.diagnosing.doctor import Examination
from oprag.diagnosing.report import Diagnosis, Verdict
from oprag.diagnosing.sample import take_sample
from oprag.documents import DocumentSource
from oprag.effects import Effects, arun_effects, run_effects
from oprag.errors import InvalidOptionError, OpragError, PositionError, UnfitIndexError
from oprag.positions import Unplaced
from oprag.stores import ChunkStore

_LISTED = 3
"""The most errors that a message shows."""
_SENTENCE_END = re.compile(r"(?<=\.) (?=[A-Z])")
_NOT_OF_OPTIONS = ("divided_file", "wrong_position")
"""Problems of an index that no option of a component mends."""


class Verifiable:
    """A component that searches a store, and can examine it before any question."""

    def verify(self, sample: int | None = 200) -> Diagnosis:
        """Report before the first question every problem that questions would meet.

        Args:
            sample: Chunks of the store to look at, the first ones; None for all. If
                they show too little of a document (one chunk without a position,
                pages alone), all its chunks are looked at.

        Returns:
            All findings of the doctor on them: see `oprag.diagnosing.Diagnosis`. Its
            verdict is `ordered` only if all chunks were looked at, else `sampled`.

        Raises:
            UnfitIndexError: The store is empty. Or chunks name no document or no
                position. Or these cannot be true (with `documents`: cannot be found
                in the full texts). Or the full text of a document cannot be had. The
                error carries the diagnosis.
            InvalidOptionError: `sample` is not possible, or the searched store cannot
                be seen.

        Warns:
            PositionWarning: Instead of `UnfitIndexError`, if questions are still
                answered, with `on_problem="warn"`.
        """
        asked = self._verification()
        return asked.report(type(self).__name__, *run_effects(asked.steps(sample)))

    async def averify(self, sample: int | None = 200) -> Diagnosis:
        """Async version of `verify`."""
        asked = self._verification()
        found = await arun_effects(asked.steps(sample))
        return asked.report(type(self).__name__, *found)

    def _verification(self) -> Verification:
        """Return the demands of the component on its store."""
        raise NotImplementedError


class VerifiableOver:
    """A component that is given search results, and can examine their store."""

    def verify(self, searched: Any = None, sample: int | None = 200) -> Diagnosis:
        """Report before the first question every problem that questions would meet.

        Args:
            searched: The searched object: a store, an index or a retriever.
            sample: As in `Verifiable.verify`.

        Returns:
            All findings of the doctor: see `oprag.diagnosing.Diagnosis`.

        Raises:
            UnfitIndexError: As `Verifiable.verify` does.
            InvalidOptionError: As there; or `searched` is not given.

        Warns:
            PositionWarning: As there.
        """
        asked = self._check_searched(searched)
        return asked.report(type(self).__name__, *run_effects(asked.steps(sample)))

    async def averify(
        self, searched: Any = None, sample: int | None = 200
    ) -> Diagnosis:
        """Async version of `verify`."""
        asked = self._check_searched(searched)
        found = await arun_effects(asked.steps(sample))
        return asked.report(type(self).__name__, *found)

    def _check_searched(self, searched: Any) -> Verification:
        if searched is None:
            name = type(self).__name__
            message = (
                f"{name} is given what was retrieved, and does not know from where. "
                "Give verify() the store, the index or the retriever: verify(store)."
            )
            raise InvalidOptionError(message, option="searched", value=searched)
        return self._verification_over(searched)

    def _verification_over(self, searched: Any) -> Verification:
        """Return the demands of the component on the searched object."""
        raise NotImplementedError


_Found: TypeAlias = tuple[Diagnosis, int, list[OpragError], list[OpragError]]
"""The diagnosis, the number of documents, and two lists of errors: of documents that
cannot be read, and of documents that cannot be put in order."""


class Verification(NamedTuple):
    """The demands of a component on its store."""

    stores: Sequence[ChunkStore]
    """The stores that it searches, read through its search's filter."""
    options: ContextOptions
    """The component's options, with full texts for finding places, filtered alike."""
    full: DocumentSource | None = None
    """The source of full documents, read through that filter."""
    find: Callable[[Sequence[Hit], ContextOptions], Any] | None = None
    """Finds the texts to read for chunks of a document, unless the chunks themselves
    are put in order. Raises the errors that a question would."""
    read_found: Callable[[Any, ContextOptions], Effects[Any]] | None = None
    """Reads the texts that were found."""
    overlaps: bool = False
    """Whether it asks the store for the order of chunks without positions."""
    inside: Sequence[object] = ()
    """The components that the chunks come through. Those of oprag order them first."""

    def steps(self, sample: int | None) -> Effects[_Found]:
        """Examine the store."""
        strict = self._strict
        keys = strict.position_keys, strict.document_key
        scanned = chain.from_iterable(store.read() for store in self.stores)
        taken = take_sample(
            scanned,
            sample,
            total=self._count,
            position_keys=keys[0],
            document_key=keys[1],
        )
        diagnosis = Examination(taken, None, *keys).diagnosis
        groups = group_chunks(taken.chunks, keys[1])
        key = self.options.document_key or strict.document_key
        reading = replace(strict, documents=self.full, document_key=key)
        unread, refused = list[OpragError](), list[OpragError]()
        for group in groups:
            hits, errors = [taken.chunks[i] for i in group.members], unread
            try:
                if self.full is not None and group.key:
                    yield load_texts_then(reading, partial(_read_full_texts, hits))
                # Chunks without a document name cannot be read in full.
                errors = refused if self.full is None or group.key else unread
                found = yield load_texts_then(
                    strict, partial(self.find or _order_document, hits)
                )
                if self.read_found is not None:
                    errors = unread
                    yield from self.read_found(found, strict)
            except InvalidOptionError:  # an option is wrong
                raise
            except OpragError as error:
                left: OpragError | None = error
                if errors is refused:
                    left = self._say_of_index(error, hits, group)
                errors += [] if left is None else [left]
        return diagnosis, len(groups), unread, refused

    def _count(self) -> int | None:
        """Count the chunks that are searched; None if a filter hides some."""
        counts = [None if store.filters else store.count() for store in self.stores]
        known = [count for count in counts if count is not None]
        return sum(known) if len(known) == len(counts) else None

    @property
    def _asks_the_store(self) -> bool:
        inside = [each for each in self.inside if isinstance(each, Verifiable)]
        return self.overlaps or any(
            each._verification()._asks_the_store  # noqa: SLF001 -- above
            for each in inside
        )

    def _say_of_index(
        self, error: OpragError, hits: Sequence[Hit], group: Group
    ) -> OpragError | None:
        """Return an error as questions raise it; None if the chunks prove an order."""
        strict = self._strict
        hidden = any(store.filters for store in self.stores)
        chains = find_chains(hits, error, strict.position_keys, hidden=hidden)
        if strict.documents is not None or chains is None:
            return error
        counts: PageCounts | None = chains.counts
        if chains.counts.ordered == chains.counts.pages:
            if self._asks_the_store:
                return None
            counts = None
        return report_unproved(error, group.name, counts, is_kept=self._is_kept)

    @property
    def _is_kept(self) -> bool:
        """Whether chunks that cannot be ordered are kept, with a warning."""
        return all(each.on_problem == "warn" for each in self._ordering_options)

    @property
    def _ordering_options(self) -> list[ContextOptions]:
        """The options of all components that order chunks, this one's last."""
        chain: list[ContextOptions] = []
        for each in self.inside:
            if isinstance(each, Verifiable):
                chain += each._verification()._ordering_options  # noqa: SLF001 -- above
            elif hasattr(each, "context_options"):  # a postprocessor
                chain.append(each.context_options())
        return [*chain, self.options]

    @property
    def _strict(self) -> ContextOptions:
        for options in self._ordering_options:
            if options.documents is not None or options.on_problem == "error":
                break  # the first that finds places, or refuses chunks without
        merges = options.merge or options.selection == "recall"
        return replace(
            options.best_first(),
            merge=options is self.options and merges,
            selection="budget",
            token_budget=None,
            top_n=None,
            on_problem="error",
        )

    def report(
        self,
        component: str,
        diagnosis: Diagnosis,
        documents: int,
        unread: Sequence[OpragError],
        refused: Sequence[OpragError],
    ) -> Diagnosis:
        """Report the findings; see `Verifiable.verify`."""
        names = " and ".join(store.name for store in self.stores)
        if not diagnosis.chunks:
            message = (
                f"{component}: questions on {names} will find nothing. It holds "
                "no chunk that the search may find: index documents."
            )
            raise UnfitIndexError(message, diagnosis=diagnosis)
        failing = unread if self._is_kept else [*unread, *refused]
        if failing or refused:
            become = (
                "fail" if failing else "be in the order as retrieved, with a warning"
            )
            errors = failing or refused
            said = _say_once([error.message for error in errors[:_LISTED]])
            sampled = f" ({diagnosis.counted})" if diagnosis.sampled else ""
            together = ""
            if all(map(Unplaced.is_said_by, errors)):
                together = " that find several chunks of one page or document"
            message = (
                f"{component}: questions on {names}{together} will {become}. "
                f"{len(errors):,} of {documents:,} documents are refused{sampled}: "
                f"{said}"
            )
            unfit = UnfitIndexError(message, diagnosis=diagnosis)
            if failing:
                raise unfit
            warn(message, unfit)
        elif diagnosis.verdict == "not ordered":
            # Not for this component, whose options put the documents in order.
            problems = [
                each
                for each in diagnosis.problems
                if not each.serious or each.kind in _NOT_OF_OPTIONS
            ]
            for each in problems:
                if each.serious:
                    error = PositionError(each.message, kind=each.kind)
                    warn(f"{component}: {each.message}", error)
                    return diagnosis
            verdict: Verdict = "sampled" if diagnosis.sampled else "ordered"
            return replace(diagnosis, verdict=verdict, problems=tuple(problems))
        return diagnosis


def _say_once(messages: Sequence[str]) -> str:
    """Join messages, each sentence once: the first one of each names its document."""
    sentences = [_SENTENCE_END.split(message) for message in messages]
    first = [said[0] for said in sentences]
    rest = [each for said in sentences for each in said[1:]]
    return " ".join(dict.fromkeys([*first, *rest]))


def _read_full_texts(hits: Sequence[Hit], options: ContextOptions) -> None:
    """Read the full texts of a document's chunks, the way Self-Route does."""
    source: Any = options.documents
    named = replace(options, documents=None, on_problem="warn")
    arranged = arrange(hits, named)
    for name in {each.text_id for each in arranged.passages}:
        source.read(name)


def _order_document(hits: Sequence[Hit], options: ContextOptions) -> None:
    """Put the chunks of a document in order, or raise the error of a question."""
    arrange(hits, options)
    if options.merge and options.documents is not None:  # test that gaps are filled
        arrange(hits[::2], options)
    if options.documents is None:  # only some of them may be retrieved
        read = read_group(hits, "", options.position_keys)
        if isinstance(read, PositionError):
            raise read


def list_verified_stores(
    searches: Iterable[tuple[Any, Any]],
    chunk_store: Callable[[Any], ChunkStore],
    instead: str,
) -> list[ChunkStore]:
    """Return the stores that `verify()` looks at, read through the search's filter.

    If a store cannot be read through the filter, all its chunks are looked at.

    Args:
        searches: The searched object of each of its retrievers, and the filter.
        chunk_store: The adapter's way to read the chunks of such an object.
        instead: Advice for the message: another argument, or a way to examine results.

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
                "verify() reads the chunks of the store, and those that a "
                f"{name} searches cannot be seen. {instead}"
            )
            raise InvalidOptionError(
                message, option="base_retriever", value=name
            ) from error
        readable = where is not None and store.takes_filter(where)
        stores.append(store.within(where) if readable else store)
    return stores
