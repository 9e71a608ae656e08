"""The steps that bring a store up to date, so that it can be stopped anywhere.

Of every document, what goes is deleted before anything is added. Stopped in between,
a document lacks chunks, which everything that reads it notices by `n_chunks`; never
does it mix old and new without a sign. The next run finds what is there and does the
rest.
"""

from __future__ import annotations

import itertools
from collections.abc import Generator, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias, TypeVar

from oprag.documents import ChunkStore, StoredChunk
from oprag.errors import (
    DuplicateDocumentError,
    InvalidOptionError,
    UnreadableFileError,
    invalid_option,
)
from oprag.indexing.plan import IndexingPlan, Replace, WantedChunk, WantedDocument, plan
from oprag.metadata import DOC_KEY, DOC_URI, document_key
from oprag.positions import shared_key

T = TypeVar("T")

Readable: TypeAlias = WantedDocument | UnreadableFileError
"""A document, or a file that is passed over and why."""


@dataclass(frozen=True)
class IndexingReport:
    """What was done. Documents by their names, in the order they were given."""

    added: tuple[str, ...] = ()
    """Documents that the store held nothing of."""
    updated: tuple[str, ...] = ()
    """Documents of which something changed, or that were left incomplete."""
    unchanged: tuple[str, ...] = ()
    """Documents that the store held as they are; none of their chunks was embedded."""
    removed: tuple[str, ...] = ()
    """Documents that were not given and are deleted, sorted by name."""
    empty: tuple[str, ...] = ()
    """Documents without any text. Nothing is stored of them, and what was is gone."""
    skipped: tuple[UnreadableFileError, ...] = ()
    """Files of a folder that are no text. What the store holds of them stays."""
    chunks_added: int = 0
    """Chunks that were embedded and written."""
    chunks_deleted: int = 0
    """Chunks that were deleted, those that were written anew among them."""
    chunks_unchanged: int = 0
    """Chunks that were left as they were."""


class Fetch(NamedTuple):
    """Asks for the stored chunks of a document."""

    doc_key: str


class Delete(NamedTuple):
    """Asks for chunks to be deleted."""

    ids: Sequence[str]


class Add(NamedTuple):
    """Asks for chunks to be embedded and written."""

    chunks: Sequence[WantedChunk]


Request: TypeAlias = Fetch | Delete | Add
Steps: TypeAlias = Generator[Request, Any, IndexingReport]


def advance(steps: Steps, answer: Any = None) -> Request | IndexingReport:
    """Answer the last request; give the next one, or how it ended."""
    try:
        return steps.send(answer)
    except StopIteration as stop:
        report: IndexingReport = stop.value
        return report


def indexing_steps(
    documents: Iterable[Readable],
    store: ChunkStore,
    *,
    remove_missing: bool = False,
    replace: Replace = "document",
    batch_size: int = 256,
) -> Steps:
    """Bring a store up to date; see `oprag.indexing.update_index`.

    Yields:
        What is to be done next. `Fetch` is answered with the stored chunks, the
        others with None.

    Returns:
        What was done.
    """
    if batch_size < 1:
        raise invalid_option("batch_size", batch_size, "1 or more")
    if replace not in {"document", "same_settings"}:
        raise invalid_option("replace", replace, "'document' or 'same_settings'")
    run = _Run(batch_size, replace)
    for document in documents:
        yield from run.take(document)
    yield from run.flush()
    if remove_missing:
        yield from run.remove_missing(store)
    return run.report()


class _Run:
    """The state of one run."""

    def __init__(self, batch_size: int, replace: Replace) -> None:
        self._batch_size = batch_size
        self._replace: Replace = replace
        self._names: dict[str, list[str]] = {
            key: [] for key in ("added", "updated", "unchanged", "removed", "empty")
        }
        self._skipped: list[UnreadableFileError] = []
        self._given: dict[str, str] = {}
        self._pending: list[IndexingPlan] = []
        self._pending_size = 0
        self._counts = {"added": 0, "deleted": 0, "unchanged": 0}

    def take(self, document: Readable) -> Generator[Request, Any, None]:
        """Compare one document with the store, and write when there is enough."""
        if isinstance(document, UnreadableFileError):
            self._skipped.append(document)
            self._given[document_key(document.path)] = document.path
            return
        name, chunks = document
        key = document_key(name)
        if key in self._given:
            other = self._given[key]
            raise _duplicate(name) if other == name else shared_key(key, other, name)
        self._given[key] = name
        present: list[StoredChunk] = yield Fetch(key)
        todo = plan(key, chunks, present, self._replace)
        self._names[_outcome(todo, chunks)].append(name)
        self._counts["unchanged"] += todo.unchanged
        if todo.add or todo.delete:
            self._pending.append(todo)
            self._pending_size += max(len(todo.add), len(todo.delete))
        if self._pending_size >= self._batch_size:
            yield from self.flush()

    def flush(self) -> Generator[Request, Any, None]:
        """Write what is pending: all that is deleted, then all that is added."""
        pending, self._pending, self._pending_size = self._pending, [], 0
        yield from self._delete([id_ for todo in pending for id_ in todo.delete])
        for chunks in self._batches([chunk for todo in pending for chunk in todo.add]):
            yield Add(chunks)
            self._counts["added"] += len(chunks)

    def remove_missing(self, store: ChunkStore) -> Generator[Request, Any, None]:
        """Delete the documents that the store holds and that were not given."""
        if not self._given:
            message = (
                "There is no document to index, and remove_missing=True would delete "
                "everything that the store holds. If that is meant, delete the "
                "store's content yourself; otherwise see whether the documents are "
                "where they are read from."
            )
            raise InvalidOptionError(message, option="remove_missing", value=True)
        stored = _stored_documents(store)
        for key, name in sorted(stored.items(), key=lambda item: item[1]):
            if key in self._given:
                continue
            present: list[StoredChunk] = yield Fetch(key)
            yield from self._delete(plan(key, (), present).delete)
            self._names["removed"].append(name)

    def _delete(self, ids: Sequence[str]) -> Generator[Request, Any, None]:
        for batch in self._batches(ids):
            yield Delete(batch)
            self._counts["deleted"] += len(batch)

    def _batches(self, items: Sequence[T]) -> Iterable[Sequence[T]]:
        rest = iter(items)
        while batch := list(itertools.islice(rest, self._batch_size)):
            yield batch

    def report(self) -> IndexingReport:
        """Say what was done."""
        return IndexingReport(
            **{key: tuple(names) for key, names in self._names.items()},
            skipped=tuple(self._skipped),
            chunks_added=self._counts["added"],
            chunks_deleted=self._counts["deleted"],
            chunks_unchanged=self._counts["unchanged"],
        )


def _outcome(todo: IndexingPlan, chunks: Sequence[WantedChunk]) -> str:
    if not chunks:
        return "empty"
    if not todo.add and not todo.delete:
        return "unchanged"
    return "updated" if todo.delete or todo.unchanged else "added"


def _duplicate(name: str) -> DuplicateDocumentError:
    message = (
        f"The document {name!r} comes twice in one run. Pages and other parts of a "
        "document have to follow one another without other documents between them; "
        "two different documents need two names."
    )
    return DuplicateDocumentError(message, document=name)


def _stored_documents(store: ChunkStore) -> dict[str, str]:
    """Names of all documents of a store by their keys, as far as they are oprag's."""
    names: dict[str, str] = {}
    for chunk in store.scan():
        key, name = chunk.metadata.get(DOC_KEY), chunk.metadata.get(DOC_URI)
        if key in names or not isinstance(key, str) or not isinstance(name, str):
            continue
        # Another application may use these names for something else.
        if document_key(name) == key:
            names[key] = name
    return names
