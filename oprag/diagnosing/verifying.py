"""What would fail question by question, found before the first one: `verify()`.

The doctor's judgement of a sample of the store, with the options of a component; and
the full texts of its documents, read as a question would have them read.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice

from oprag.chunk import FullText, Hit
from oprag.context import ContextOptions, arrange, warn
from oprag.diagnosing.doctor import diagnose
from oprag.diagnosing.report import Diagnosis, Options, Problem
from oprag.documents import (
    ChunkStore,
    DocumentSource,
    StoredChunk,
    document_source,
    stored_hit,
)
from oprag.errors import (
    DocumentNotFoundError,
    InvalidOptionError,
    OpragError,
    PositionError,
    UnfitIndexError,
)
from oprag.positions import read_documents

_POSITIONS = frozenset(
    {
        *("missing_position", "unscoped_position", "ambiguous_position"),
        *("invalid_span", "conflicting_text"),
    }
)
"""Kinds of problems for which retrieval refuses the chunks of a document."""
_LISTED = 3
"""Documents that are named."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verification:
    """What a component asks of its store.

    Args:
        component: Its class name.
        stores: Those that it searches, read as its search's filter admits.
        options: Its own.
        documents: Full texts, through the filter too; None where it has none.
        sample: Chunks to look at, the first ones; None for all.
        full: Whether it reads full documents.
    """

    component: str
    stores: Sequence[ChunkStore]
    options: ContextOptions
    documents: DocumentSource | None
    sample: int | None
    full: bool = False

    def run(self) -> Diagnosis:
        """Examine the store.

        Raises:
            UnfitIndexError: Questions would fail.

        Warns:
            PositionWarning: In its place, with `on_problem="warn"`.
        """
        chunks, diagnosis = self._examined()
        texts = {name: self._read(name) for name in self._names(chunks)}
        return self._told(diagnosis, self._faults(chunks, diagnosis, texts))

    async def arun(self) -> Diagnosis:
        """Async version of `run`: nothing blocks the event loop."""
        from asyncio import to_thread  # here, because its import takes long

        chunks, diagnosis = await to_thread(self._examined)
        texts = {name: await self._aread(name) for name in self._names(chunks)}
        faults = await to_thread(self._faults, chunks, diagnosis, texts)
        return self._told(diagnosis, faults)

    def _examined(self) -> tuple[list[StoredChunk], Diagnosis]:
        scanned = chain.from_iterable(store.scan() for store in self.stores)
        more = None if self.sample is None else self.sample + 1
        found = list(islice(scanned, more))
        diagnosis = diagnose(
            found,
            sample=self.sample,
            position_keys=self.options.position_keys,
            document_key=self.options.document_key,
        )
        return found[: self.sample], diagnosis

    def _names(self, chunks: Sequence[StoredChunk]) -> list[str]:
        """Names of the documents whose full texts are asked for."""
        if self.documents is None:
            return []
        return [name for name in self._by_document(chunks) if name]

    def _by_document(self, chunks: Sequence[StoredChunk]) -> dict[str, list[Hit]]:
        hits = [stored_hit(chunk) for chunk in chunks]
        read = read_documents(
            hits, document_key=self.options.document_key, missing_document="one"
        )
        groups: dict[str, list[Hit]] = {}
        for hit, (_, name) in zip(hits, read, strict=True):
            groups.setdefault(name, []).append(hit)
        return groups

    def _read(self, name: str) -> FullText | OpragError:
        try:
            return (self.documents or document_source({})).read(name)
        except InvalidOptionError:
            raise
        except OpragError as error:
            return error

    async def _aread(self, name: str) -> FullText | OpragError:
        try:
            return await (self.documents or document_source({})).aread(name)
        except InvalidOptionError:
            raise
        except OpragError as error:
            return error

    def _faults(
        self,
        chunks: Sequence[StoredChunk],
        diagnosis: Diagnosis,
        texts: dict[str, FullText | OpragError],
    ) -> list[str]:
        """What would fail, one sentence or more for each kind."""
        if not chunks:
            return ["It holds no chunk that the search may find: index documents first"]
        policy = self.options.missing_position
        refused = _POSITIONS if policy == "error" else frozenset()
        if self.options.missing_document == "error":
            refused |= {"missing_document"}
        faults = [
            self._described(problem, diagnosis)
            for problem in diagnosis.problems
            if problem.kind in refused
        ]
        if policy == "locate":
            faults += self._not_located(chunks, texts)
        unread = [
            error.message
            for error in texts.values()
            if isinstance(error, OpragError)
            and (self.full or not isinstance(error, DocumentNotFoundError))
        ]
        if unread:
            what = "documents cannot be read in full"
            faults.append(_counted(unread, len(texts), what))
        return faults

    def _not_located(
        self, chunks: Sequence[StoredChunk], texts: dict[str, FullText | OpragError]
    ) -> Iterator[str]:
        known = {
            name: text.text
            for name, text in texts.items()
            if isinstance(text, FullText) and text.exact
        }
        options = replace(
            self.options.best_first(),
            selection="budget",
            token_budget=None,
            top_n=None,
            on_problem="error",
            documents=known,
        )
        groups = self._by_document(chunks)
        groups.pop("", None)
        refused = []
        for hits in groups.values():
            try:
                arrange(hits, options)
            except PositionError as error:
                refused.append(error.message)
        if refused:
            what = "documents have chunks that are not found in their full texts"
            yield _counted(refused, len(groups), what)

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
            "the index from the full texts; or give these as documents= with "
            'missing_position="locate"'
        )

    def _told(self, diagnosis: Diagnosis, faults: Sequence[str]) -> Diagnosis:
        if not faults:
            return diagnosis
        names = " and ".join(store.name for store in self.stores)
        message = (
            f"{self.component}: questions on {names} will fail. {'. '.join(faults)}."
        )
        error = UnfitIndexError(message, diagnosis=diagnosis)
        if self.options.on_problem == "error":
            raise error
        warn(message, error)
        return diagnosis


def unseen_store(
    component: str, retriever: object, diagnose_with: str
) -> InvalidOptionError:
    """What a retriever searches cannot be seen, so that it cannot be verified."""
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
