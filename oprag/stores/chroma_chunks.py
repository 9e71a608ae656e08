"""Chunks of a Chroma collection, embedded or on a server, for both frameworks."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from oprag.metadata import CHUNK_INDEX, DOC_KEY
from oprag.stores.stored_chunks import ChunkStore, StoredChunk, Wanted

_PAGE = 5_000
"""Chunks per call: a few MB, and few enough calls to cost little."""
_DOCUMENTS, _INDEXES = 500, 10_000
"""The most values in one condition. SQLite takes 1,000 that are alternatives, and
32,766 values."""

_Row: TypeAlias = tuple[str | None, Any, str]
"""Text, metadata and id. Chroma also takes vectors alone: the first two may be None."""


class ChromaChunks(ChunkStore):
    """Reads a collection page by page, in the order in which chunks were added.

    Args:
        collection: Chroma's object.
    """

    is_queried = True

    def __init__(self, collection: Any) -> None:
        self._collection = collection
        self.name = f"Chroma collection {collection.name!r}"
        self.place = f"Chroma {collection.id}"
        client = getattr(collection, "_client", None)  # nothing public tells
        self.is_embedded = type(client).__name__ != "FastAPI"

    def count(self) -> int:
        """Return the number of chunks in the collection."""
        return int(self._collection.count())

    def takes_filter(self, where: Any) -> bool:
        """Return whether it is a dictionary, which is Chroma's form of a filter."""
        return isinstance(where, dict)

    def read(
        self, wanted: Wanted | None = None, ids: Collection[str] | None = None
    ) -> Iterator[StoredChunk]:
        """Yield the chunks of some documents, or of some ids; else all."""
        get, filters = self._collection.get, [*map(self._condition, self.filters)]
        return (
            StoredChunk(text or "", metadata or {}, chunk_id)
            for conditions in ([[]] if wanted is None else _conditions(wanted))
            for text, metadata, chunk_id in _rows(get, [*conditions, *filters], ids)
        )

    def select(
        self, values: Mapping[str, Collection[Any]], limit: int
    ) -> list[StoredChunk]:
        """Return chunks that have one of the values under each key of the metadata."""
        conditions = [{key: {"$in": [*any_of]}} for key, any_of in values.items()]
        return self._some(conditions, limit)

    def first(self, limit: int) -> list[StoredChunk]:
        """Return the first chunks of the collection."""
        return self._some([], limit)

    def _some(self, conditions: Sequence[Any], limit: int) -> list[StoredChunk]:
        every = [*conditions, *map(self._condition, self.filters)]
        rows = _rows(self._collection.get, every, None, limit)
        return [
            StoredChunk(text or "", metadata or {}, i) for text, metadata, i in rows
        ]

    def _condition(self, where: Any) -> Any:
        """Return a search's filter in Chroma's form."""
        return where


def _conditions(wanted: Wanted) -> Iterator[list[Any]]:
    """Yield conditions for some chunks of as many documents as one query takes.

    The indexes of all documents come before those of each. So Chroma looks only at the
    chunks that have one of them, and not at all chunks of every document.
    """
    page: dict[str, list[int]] = {}
    for doc_key, indexes in wanted.items():
        if indexes is None:
            yield [{DOC_KEY: doc_key}]
            continue
        size = len(indexes) + sum(map(len, page.values()))
        if page and (len(page) == _DOCUMENTS or size > _INDEXES):
            yield _unpack_page(page)
            page = {}
        page[doc_key] = [*indexes]
    if page:
        yield _unpack_page(page)


def _unpack_page(page: Mapping[str, list[int]]) -> list[Any]:
    indexes = sorted({index for numbers in page.values() for index in numbers})
    each: list[Any] = [
        {"$and": [{DOC_KEY: doc_key}, {CHUNK_INDEX: {"$in": numbers}}]}
        for doc_key, numbers in page.items()
    ]
    any_of = {"$or": each} if len(each) > 1 else {DOC_KEY: next(iter(page))}
    return [{CHUNK_INDEX: {"$in": indexes}}, any_of]


def _rows(
    get: Callable[..., Any],
    conditions: Sequence[Any],
    ids: Collection[str] | None,
    limit: float = math.inf,
) -> Iterator[_Row]:
    """Yield the rows for which all conditions hold, or those of some ids among them."""
    every = list(conditions)  # Chroma wants at least two under `$and`
    asked: dict[str, Any] = {"include": ["documents", "metadatas"]}
    asked["where"] = {"$and": every} if len(every) > 1 else next(iter(every), None)
    offset = 0
    while True:
        size = int(min(_PAGE, limit - offset))
        asked |= {"limit": size, "offset": offset} if ids is None else {"ids": [*ids]}
        page = get(**asked)
        yield from zip(page["documents"], page["metadatas"], page["ids"], strict=True)
        offset += len(page["ids"])
        # A server may give fewer rows than it is asked for.
        if ids is not None or not page["ids"] or offset >= limit:
            return
