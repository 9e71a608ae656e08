"""The calls that a run asks of a store, in an order that loses nothing.

All that is new is added before anything is deleted.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Generator, Iterable, Sequence
from collections.abc import Set as AbstractSet
from typing import Any, NamedTuple, TypeAlias, TypeVar

from oprag.errors import InvalidOptionError
from oprag.indexing.plan import IndexingPlan, WantedChunk
from oprag.metadata import named_id

T = TypeVar("T")


class Fetch(NamedTuple):
    """Asks for the stored chunks of a document."""

    doc_key: str


class Add(NamedTuple):
    """Asks for chunks to be embedded and written."""

    chunks: Sequence[WantedChunk]


class Delete(NamedTuple):
    """Asks for chunks to be deleted."""

    ids: Sequence[str]


Request: TypeAlias = Fetch | Add | Delete
Requests: TypeAlias = Generator[Request, Any, None]
"""`Fetch` is answered with the stored chunks, the others with None; a request that
fails by its exception."""


class NotDeletedError(Exception):
    """What is new is in the store; what it replaces could not be deleted."""

    def __init__(self, ids: Sequence[str], cause: Exception) -> None:
        super().__init__()
        self.ids = frozenset(ids)
        """Of the plan's `delete`, all that are still there."""
        self.cause = cause
        """As the store raised it."""


class Writing:
    """Asks for what plans say, and counts what was done.

    Args:
        batch_size: The most chunks of one request.
        replaces: Whether what is added replaces what has the same id.
        tell: Called after each request that added chunks.
    """

    def __init__(
        self, *, batch_size: int, replaces: bool, tell: Callable[[], None]
    ) -> None:
        self._tell = tell
        self._batch_size = batch_size
        self._replaces = replaces
        self.added = 0
        """Chunks that were written."""
        self.deleted = 0
        """Chunks that were deleted, or written anew."""

    def write(self, todo: Sequence[IndexingPlan]) -> Requests:
        """All that is added, of all plans, then all that is deleted."""
        going = [id_ for one in todo for id_ in one.delete]
        for chunks in self._batches([c for one in todo for c in one.add]):
            yield Add(chunks)
            self.added += len(chunks)
            self._tell()
        for chunks in self._batches([c for one in todo for c in one.rewrite]):
            yield from self._rewrite(chunks, frozenset(going))
            self.added += len(chunks)
            self.deleted += len(chunks)
        for ids in self._batches(going):
            yield from _delete(ids, going)
            self.deleted += len(ids)
            going = going[len(ids) :]

    def _rewrite(
        self, chunks: Sequence[WantedChunk], going: AbstractSet[str]
    ) -> Requests:
        """Write chunks whose ids are there; the store is never without them."""
        if self._replaces:
            yield Add(chunks)
            return
        # An id has to go before it can come again: till then a copy stands in for it.
        # A copy that an interrupted run left is among those that go.
        copies = [one._replace(id=named_id(f"{one.id}\ncopy")) for one in chunks]
        copies = [copy for copy in copies if copy.id not in going]
        if copies:
            yield Add(copies)
        yield from _delete([chunk.id for chunk in chunks], going)
        yield Add(chunks)
        if copies:
            yield from _delete([copy.id for copy in copies], going)

    def _batches(self, items: Sequence[T]) -> Iterable[Sequence[T]]:
        rest = iter(items)
        while batch := list(itertools.islice(rest, self._batch_size)):
            yield batch


def _delete(ids: Sequence[str], going: Iterable[str]) -> Requests:
    try:
        yield Delete(ids)
    except (InvalidOptionError, Warning):  # concern all documents
        raise
    except Exception as error:  # any store's
        raise NotDeletedError(tuple(going), error) from error
