"""A sound store in memory, and stores that each have one fault."""

import copy
import time
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from oprag.metadata import (
    CHUNK_INDEX,
    DOC_KEY,
    DOC_VERSION,
    PART_INDEX,
    document_version,
    text_stamp,
)
from oprag.stores import ChunkStore, StoredChunk
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


ORDER = "what_is_found_stands_in_order_however_it_was_added"
WHOLE = "documents_come_back_as_they_were_split"
REPLACED = "a_replaced_document_leaves_nothing_stale"
STALE = "a_replaced_chunk_leaves_nothing_stale"
VERSIONS = "all_versions_of_a_document_come"
FILTERED = "chunks_are_read_through_the_filter_of_a_search"
GONE = "deleted_chunks_are_gone"
LIMIT = "nothing_is_cut_off_at_a_limit"
BY_ID = "chunks_are_read_by_their_ids"

FAULTS: dict[str, tuple[type[SoundStore], set[str]]] = {}
"""Stores that each have one fault, and the tests of the suite that it fails."""


def fails(*names: str) -> Callable[[type[SoundStore]], type[SoundStore]]:
    """List a store by the name of its class, with what it fails."""

    def listed(kind: type[SoundStore]) -> type[SoundStore]:
        FAULTS[kind.__name__] = kind, {f"test_{name}" for name in names}
        return kind

    return listed


def with_rows(change: Callable[[list[StoredChunk]], Any]) -> dict[str, Any]:
    """A store whose rows come changed."""
    return {"rows": lambda self: list(change(SoundStore.rows(self)))}


def with_metadata(change: Callable[[dict[str, Any]], dict[str, Any]]) -> dict[str, Any]:
    return with_rows(
        lambda rows: (row._replace(metadata=change(row.metadata)) for row in rows)
    )


def with_scan(change: Callable[[list[StoredChunk]], Any]) -> dict[str, Any]:
    """A store that gives other rows where all are asked for."""
    return {"scan": lambda self: iter(change([*SoundStore.scan(self)]))}


KNOWN = (DOC_KEY, CHUNK_INDEX, "doc_uri", "tenant")
SIMPLE: dict[str, tuple[dict[str, Any], tuple[str, ...]]] = {
    "KeepsTheKeysThatItKnows": (
        with_metadata(lambda metadata: {k: metadata[k] for k in KNOWN}),
        ("metadata_comes_back", WHOLE),
    ),
    "MakesFloats": (
        with_metadata(
            lambda metadata: {
                k: float(v) if isinstance(v, int) else v for k, v in metadata.items()
            }
        ),
        ("whole_numbers_stay_whole_numbers",),
    ),
    "CutsTexts": (
        with_rows(lambda rows: (row._replace(text=row.text[:25]) for row in rows)),
        ("texts_come_back_character_for_character", WHOLE, ORDER),
    ),
    "MakesIds": (
        with_rows(lambda rows: (r._replace(id=f"{n}") for n, r in enumerate(rows))),
        ("ids_come_back",),
    ),
    "DoublesRows": (
        with_rows(lambda rows: (row for row in rows for _ in range(2))),
        ("no_chunk_comes_twice", "chunks_are_read_by_their_numbers"),
    ),
    "DropsWhiteSpace": (
        with_rows(lambda rows: (row for row in rows if row.text.strip())),
        ("white_space_is_a_chunk_too",),
    ),
    "GivesOnePage": (with_scan(lambda rows: rows[:100]), (LIMIT,)),
    "LosesTheLastChunk": (
        with_scan(lambda rows: rows[:-1]),
        (
            *("no_chunk_is_missing", LIMIT, FILTERED, REPLACED, WHOLE, VERSIONS),
            *("chunks_of_one_text_are_not_one", "white_space_is_a_chunk_too"),
        ),
    ),
    "ReadsForEveryone": ({"scan": lambda self: iter(self.rows())}, (FILTERED,)),
    "SearchesFor10": (
        {"search": lambda s, q, k, where: SoundStore.search(s, q, min(k, 10), where)},
        ("a_search_finds_as_many_as_asked_for", "a_search_keeps_to_its_filter", ORDER),
    ),
    "IgnoresTheSearchsFilter": (
        {"search": lambda s, query, k, _: SoundStore.search(s, query, k, None)},
        ("a_search_keeps_to_its_filter",),
    ),
    "NumbersFromOne": (
        {
            "fetch_chunks": lambda self, wanted: SoundStore.fetch_chunks(
                self, {key: ns and [n - 1 for n in ns] for key, ns in wanted.items()}
            )
        },
        ("chunks_are_read_by_their_numbers", LIMIT, FILTERED, VERSIONS),
    ),
    "Takes100Numbers": (
        {
            "fetch_chunks": lambda self, wanted: SoundStore.fetch_chunks(
                self,
                {key: numbers and numbers[:100] for key, numbers in wanted.items()},
            )
        },
        (LIMIT,),
    ),
    "KeepsTheFirst": (
        {"replace": lambda s, new: s.add([c for c in new if c.id not in s.held])},
        (STALE,),
    ),
    "FetchesIdsForEveryone": (
        {"fetch_ids": lambda s, ids: [s.held[each] for each in ids if each in s.held]},
        (FILTERED,),
    ),
    "FetchesOneId": (
        {"fetch_ids": lambda self, ids: SoundStore.fetch_ids(self, list(ids)[:1])},
        (BY_ID,),
    ),
    "CountsWhatIsNotThere": ({"count": lambda self: len(self.held) + 1}, (BY_ID,)),
    "TakesAnyFilter": (
        {"takes_filter": lambda self, where: True},
        ("a_filter_that_cannot_be_read_is_not_taken",),
    ),
}
for _name, (_methods, _failed) in SIMPLE.items():
    fails(*_failed)(type(_name, (SoundStore,), _methods))


@fails("metadata_comes_back")
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


@fails(GONE, REPLACED, STALE)
class RemembersWhatItFetched(SoundStore):
    """Has a cache that nothing empties."""

    def __init__(self) -> None:
        super().__init__()
        self.cache: dict[str, list[StoredChunk]] = {}

    def fetch(self, doc_key):
        if self.filters:
            return super().fetch(doc_key)
        return self.cache.setdefault(doc_key, super().fetch(doc_key))


@fails("threads_read_at_once")
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


@fails(FILTERED)
class AwaitsNumbersForEveryone(SoundStore):
    """Forgets the filter where chunks are awaited by their numbers."""

    async def aread(self, wanted=None, ids=None):
        if not self.filters or wanted is None:
            return self.read(wanted, ids)
        open_to_all = copy.copy(self)
        open_to_all.filters = ()
        return open_to_all.read(wanted)


@fails("chunks_of_one_text_are_not_one")
class HasARowForEachText(SoundStore):
    """Makes its ids of the texts."""

    def add(self, chunks):
        known = {row.text for row in self.held.values()}
        for chunk in chunks:
            if chunk.text not in known or chunk.id in self.held:
                self.held[chunk.id] = chunk
                known.add(chunk.text)


@fails(VERSIONS)
class FetchesOneVersion(SoundStore):
    """Chooses among the versions of a document."""

    def fetch(self, doc_key):
        rows = super().fetch(doc_key)
        chosen = min((row.metadata[DOC_VERSION] for row in rows[:1]), default="")
        return [row for row in rows if row.metadata[DOC_VERSION] == chosen]


@fails("filters_add_up")
class HasOneFilter(SoundStore):
    """Puts a filter in the place of another one."""

    def within(self, where):
        made = super().within(where)
        made.filters = (where,)
        return made


@fails("awaited_it_gives_the_same", BY_ID, FILTERED)
class GivesHalfWhenAwaited(SoundStore):
    """Its async client reads the first page."""

    async def aread(self, wanted=None, ids=None):
        found = list(self.read(wanted, ids))
        return found[: len(found) // 2]
