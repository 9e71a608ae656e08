"""A sound store in memory, and stores that each have one fault."""

from __future__ import annotations

import copy
import time
import zlib
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from oprag.documents import ChunkStore, StoredChunk
from oprag.metadata import (
    CHUNK_INDEX,
    DOC_KEY,
    DOC_VERSION,
    PART_INDEX,
    document_version,
    text_stamp,
)
from oprag.testing import StoreSuite, StoreUnderTest


class SoundStore(ChunkStore):
    """Rows by id. Faults are put in the way of `rows` or of one of the methods.

    A filter is a dictionary of keys and values.
    """

    name = "a store in memory"

    def __init__(self) -> None:
        self.held: dict[str, StoredChunk] = {}

    def add(self, chunks: Sequence[StoredChunk]) -> None:
        self.held |= {chunk.id: chunk for chunk in chunks}

    def replace(self, chunks: Sequence[StoredChunk]) -> None:
        self.add(chunks)

    def delete(self, ids: Iterable[str]) -> None:
        for chunk_id in ids:
            del self.held[chunk_id]

    def rows(self) -> list[StoredChunk]:
        """All rows, as the store gives them."""
        return list(self.held.values())

    def search(self, query: str, k: int, where: Any) -> list[StoredChunk]:
        rows = [row for row in self.rows() if where is None or admits(where, row)]
        return sorted(rows, key=lambda row: zlib.crc32((query + row.text).encode()))[:k]

    def fetch(self, doc_key: str) -> list[StoredChunk]:
        return [row for row in self.scan() if row.metadata[DOC_KEY] == doc_key]

    def scan(self) -> Iterator[StoredChunk]:
        for row in self.rows():
            if all(admits(where, row) for where in self.filters):
                yield row

    def read(self, wanted: Any = None, ids: Any = None) -> Iterable[StoredChunk]:
        if ids is not None:
            return self.fetch_ids(ids)
        return self.scan() if wanted is None else self.fetch_chunks(wanted)

    def fetch_chunks(self, wanted: Any) -> list[StoredChunk]:
        return [
            row
            for key, numbers in wanted.items()
            for row in self.fetch(key)
            if numbers is None or row.metadata[CHUNK_INDEX] in numbers
        ]

    def fetch_ids(self, ids: Any) -> list[StoredChunk]:
        return [row for row in self.scan() if row.id in ids]

    def takes_filter(self, where: Any) -> bool:
        return isinstance(where, dict)


def admits(where: dict[str, Any], row: StoredChunk) -> bool:
    return all(row.metadata.get(key) == value for key, value in where.items())


def suite_of(kind: type[SoundStore]) -> type[StoreSuite]:
    """The suite of the stores of a class."""

    class TestStore(StoreSuite):
        def new_store(self) -> StoreUnderTest:
            store = kind()
            return StoreUnderTest(
                chunks=store,
                add=store.add,
                search=store.search,
                delete=store.delete,
                replace=store.replace,
                filters=({"tenant": "a"},),
            )

    return TestStore


class DropsMetadata(SoundStore):
    """Keeps the keys that it knows."""

    def rows(self):
        kept = (DOC_KEY, CHUNK_INDEX, "doc_uri", "tenant")
        return [
            row._replace(metadata={k: row.metadata[k] for k in kept})
            for row in super().rows()
        ]


class MakesFloats(SoundStore):
    """Has one kind of number."""

    def rows(self):
        return [
            row._replace(
                metadata={
                    k: float(v) if isinstance(v, int) else v
                    for k, v in row.metadata.items()
                }
            )
            for row in super().rows()
        ]


class StopsAt100(SoundStore):
    """Gives one page."""

    def scan(self):
        yield from list(super().scan())[:100]


class SearchesFor10(SoundStore):
    """Has a limit of its own."""

    def search(self, query, k, where):
        return super().search(query, min(k, 10), where)


class IgnoresTheSearchsFilter(SoundStore):
    """Does not know the word."""

    def search(self, query, k, where):
        return super().search(query, k, None)


class FiltersTooLate(SoundStore):
    """Looks for what the filter admits among the best ten."""

    def search(self, query, k, where):
        found = super().search(query, k, None)
        return found if where is None else [r for r in found[:10] if admits(where, r)]


class ReadsForEveryone(SoundStore):
    """A search keeps to its filter; what is read besides does not."""

    def scan(self):
        yield from self.rows()


class CutsTexts(SoundStore):
    """A column is too short."""

    def rows(self):
        return [row._replace(text=row.text[:25]) for row in super().rows()]


class MixesUpTexts(SoundStore):
    """Joins texts and metadata by the order of two replies."""

    def rows(self):
        rows = super().rows()
        texts = sorted(row.text for row in rows)
        return [row._replace(text=t) for row, t in zip(rows, texts, strict=True)]


class MakesIds(SoundStore):
    """Counts its rows."""

    def rows(self):
        return [
            row._replace(id=str(number)) for number, row in enumerate(super().rows())
        ]


class StampsAnew(SoundStore):
    """Writes length and hash of the text that it holds over those it was given."""

    def fetch(self, doc_key):
        rows = sorted(super().fetch(doc_key), key=lambda r: r.metadata[CHUNK_INDEX])
        held: dict[Any, str] = {}
        for row in rows:
            part = row.metadata.get(PART_INDEX)
            held[part] = held.get(part, "") + row.text
        version = f"0-{document_version('', held.values()).partition('-')[2]}"
        return [
            row._replace(
                metadata={
                    **row.metadata,
                    DOC_VERSION: version,
                    **text_stamp(held[row.metadata.get(PART_INDEX)]),
                }
            )
            for row in rows
        ]


class DoublesRows(SoundStore):
    """Keeps two copies, and gives both."""

    def rows(self):
        return [row for row in super().rows() for _ in range(2)]


class LosesTheLastChunk(SoundStore):
    """Pages by an offset that is one too large."""

    def scan(self):
        yield from list(super().scan())[:-1]


class GivesHalfWhenAwaited(SoundStore):
    """Its async client reads the first page."""

    async def aread(self, wanted=None, ids=None):
        found = list(self.read(wanted, ids))
        return found[: len(found) // 2]


class NumbersFromOne(SoundStore):
    """Reads chunks by their numbers, and counts from 1."""

    def fetch_chunks(self, wanted):
        return super().fetch_chunks(
            {
                key: indexes and [index - 1 for index in indexes]
                for key, indexes in wanted.items()
            }
        )


class FindsWhatWasDeleted(SoundStore):
    """Takes chunks out of its table, and leaves them in its index."""

    def __init__(self) -> None:
        super().__init__()
        self.indexed: dict[str, StoredChunk] = {}

    def add(self, chunks):
        super().add(chunks)
        self.indexed |= self.held

    def search(self, query, k, where):
        held, self.held = self.held, self.indexed
        found = super().search(query, k, where)
        self.held = held
        return found


class RemembersWhatItFetched(SoundStore):
    """Has a cache that nothing empties."""

    def __init__(self) -> None:
        super().__init__()
        self.cache: dict[str, list[StoredChunk]] = {}

    def fetch(self, doc_key):
        if self.filters:
            return super().fetch(doc_key)
        return self.cache.setdefault(doc_key, super().fetch(doc_key))


class KeepsTheFirst(SoundStore):
    """Adds nothing under an id that is there."""

    def replace(self, chunks):
        self.add([chunk for chunk in chunks if chunk.id not in self.held])


class DeletesDocuments(SoundStore):
    """Deletes the whole document of a chunk."""

    def delete(self, ids):
        keys = {self.held[chunk_id].metadata[DOC_KEY] for chunk_id in ids}
        self.held = {
            i: row for i, row in self.held.items() if row.metadata[DOC_KEY] not in keys
        }


class SharesABuffer(SoundStore):
    """Reads into a list that all calls share."""

    def __init__(self) -> None:
        super().__init__()
        self.buffer: list[StoredChunk] = []

    def fetch(self, doc_key):
        self.buffer.clear()
        for row in super().fetch(doc_key):
            self.buffer.append(row)
            time.sleep(0.0002)
        return list(self.buffer)


class AwaitsNumbersForEveryone(SoundStore):
    """Forgets the filter where chunks are awaited by their numbers."""

    async def aread(self, wanted=None, ids=None):
        if not self.filters or wanted is None:
            return self.read(wanted, ids)
        open_to_all = copy.copy(self)
        open_to_all.filters = ()
        return open_to_all.read(wanted)


class FetchesIdsForEveryone(SoundStore):
    """Forgets the filter where chunks are asked for by id."""

    def fetch_ids(self, ids):
        return [self.held[each] for each in ids if each in self.held]


class FetchesOneId(SoundStore):
    """Takes a list of ids for one."""

    def fetch_ids(self, ids):
        return super().fetch_ids(list(ids)[:1])


class CountsWhatItOnceHeld(SoundStore):
    """Counts rows that are not there."""

    def count(self):
        return len(self.held) + 1


class Takes100Numbers(SoundStore):
    """Has a limit for lists of numbers."""

    def fetch_chunks(self, wanted):
        cut = {key: indexes and indexes[:100] for key, indexes in wanted.items()}
        return super().fetch_chunks(cut)


class HasARowForEachText(SoundStore):
    """Makes its ids of the texts."""

    def add(self, chunks):
        known = {row.text for row in self.held.values()}
        for chunk in chunks:
            if chunk.text not in known or chunk.id in self.held:
                self.held[chunk.id] = chunk
                known.add(chunk.text)


class DropsWhiteSpace(SoundStore):
    """Takes blank texts for none."""

    def rows(self):
        return [row for row in super().rows() if row.text.strip()]


class FetchesOneVersion(SoundStore):
    """Chooses among the versions of a document."""

    def fetch(self, doc_key):
        rows = super().fetch(doc_key)
        chosen = min((row.metadata[DOC_VERSION] for row in rows[:1]), default="")
        return [row for row in rows if row.metadata[DOC_VERSION] == chosen]


class HasOneFilter(SoundStore):
    """Puts a filter in the place of another one."""

    def within(self, where):
        made = super().within(where)
        made.filters = (where,)
        return made


class TakesAnyFilter(SoundStore):
    """Says so of filters that it cannot read."""

    def takes_filter(self, where):
        return True
