"""Tests of a vector store, and of the `ChunkStore` that reads it, for oprag."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Sized
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from unittest import SkipTest

from oprag.context import order_context
from oprag.documents import StoreSource
from oprag.metadata import CHUNK_INDEX, DOC_KEY, OWN_KEYS
from oprag.stores import StoredChunk, select_chunks
from oprag.testing.samples import CHUNKS, OWN, SAMPLES, TENANT, Sample, sample
from oprag.testing.under_test import (
    StoreUnderTest,
    add,
    delete,
    filled,
    filters_of,
    of_document,
    read,
    search,
)

_THREADS = 16
_NOBODYS = "00000000-0000-5000-8000-000000000000"
"""An id that no chunk has."""
_NUMBERS = 300
"""Chunks of a document that are asked for by number at once."""
_SHOWN = 300
"""Characters of a wrong value that a message shows."""


class StoreSuite(ABC):
    """Tests for a vector store: subclass it, and say how an empty one is made.

    pytest runs the subclass if its name begins with `Test`, unittest if it is a
    `TestCase` as well. Each test asks for one store. Override a test that a store
    cannot pass, and say why.
    """

    @abstractmethod
    def new_store(self) -> StoreUnderTest:
        """Return an empty store."""

    # Stored chunks come back.

    def test_texts_come_back_character_for_character(self) -> None:
        """Nothing is stripped, cut, normalised or escaped."""
        given = _texts(CHUNKS)
        for way, chunks in read(filled(self.new_store())):
            expect_none(
                [chunk.text for chunk in chunks if chunk.text not in given],
                f"{way} gave a text that was not added",
                "Keep texts as they are: do not strip, cut, normalise or escape them.",
            )

    def test_metadata_comes_back(self) -> None:
        """All keys have their values: oprag's, and those of the author."""
        given = [_kept(chunk.metadata) for chunk in CHUNKS]
        for way, chunks in read(filled(self.new_store())):
            expect_none(
                [c.metadata for c in chunks if _kept(c.metadata) not in given],
                f"{way} gave metadata that was not added",
                f"Keep every key and value; oprag's are {', '.join(OWN_KEYS)}.",
            )

    def test_whole_numbers_stay_whole_numbers(self) -> None:
        """An int does not become a float or a text."""
        whole = {k for c in CHUNKS for k, v in c.metadata.items() if type(v) is int}
        for way, chunks in read(filled(self.new_store())):
            expect_none(
                [
                    f"{key}={chunk.metadata[key]!r}"
                    for chunk in chunks
                    for key in sorted(whole & set(chunk.metadata))
                    if type(chunk.metadata[key]) is not int
                ],
                f"{way} gave something else for a whole number",
                "Store integers as integers.",
            )

    def test_ids_come_back(self) -> None:
        """Chunks are deleted by the ids under which they were added."""
        store = filled(self.new_store())
        given = {chunk.id for chunk in CHUNKS}
        found = [c for each in SAMPLES for c in of_document(store.chunks, each.key)]
        expect_none(
            [c.id for c in (*found, *store.chunks.read()) if c.id not in given],
            "read gave an id that was not added",
            "Return the id that `add` was given as StoredChunk.id.",
        )

    # Reading gives all chunks, once, and nothing else.

    def test_no_chunk_is_missing(self) -> None:
        """`read` gives all chunks of a document, or all of the store."""
        store = filled(self.new_store())
        for each in SAMPLES:
            found = of_document(store.chunks, each.key)
            _expect_all("read", _texts(found), len(each.chunks))
        _expect_all("read()", _texts([*store.chunks.read()]), len(CHUNKS))

    def test_nothing_is_cut_off_at_a_limit(self) -> None:
        """All chunks of a very long document come back."""
        store = self.new_store()
        lines = [f"Line {line:08} of the book.\n" for line in range(store.many)]
        long = sample("the long book.txt", "".join(lines), size=len(lines[0]))
        add(store, long.chunks)
        _expect_all("read", _texts(of_document(store.chunks, long.key)), store.many)
        asked = min(store.many, _NUMBERS)
        numbered = of_document(store.chunks, long.key, range(asked))
        _expect_all("read of numbers", _texts(numbered), asked)
        _expect_all("read()", _texts([*store.chunks.read()]), store.many)

    def test_chunks_of_one_text_are_not_one(self) -> None:
        """A document that repeats itself has all of its chunks."""
        line = "All work and no play.\n"
        _expect_kept(
            self.new_store(),
            sample("repeated.txt", 5 * line, size=len(line)),
            what="whose texts are equal",
            instead="Keep a row for each id, not for each text.",
        )

    def test_white_space_is_a_chunk_too(self) -> None:
        """Without it the text is another one."""
        _expect_kept(
            self.new_store(),
            sample("spaced.txt", "A   \t\t\t\t\n\n\n\n    B", size=4),
            what="some of them white space",
            instead="Leave none out for its text.",
        )

    def test_all_versions_of_a_document_come(self) -> None:
        """While a document is indexed again its old chunks are there as well."""
        store = self.new_store()
        add(store, [*_REPLACED.chunks, *_REWRITTEN.chunks])
        number = len(_REPLACED.chunks)
        for indexes in (None, range(number)):
            found = of_document(store.chunks, _REPLACED.key, indexes)
            expect(
                len(found) >= 2 * number,
                f"read gave {len(found)} of {2 * number} chunks of a document that is "
                "there in two versions. Give those of each: oprag chooses.",
            )

    def test_no_chunk_comes_twice(self) -> None:
        """Neither a read nor a search gives a chunk twice."""
        for way, chunks in read(filled(self.new_store())):
            counted = Counter(chunk.text for chunk in chunks)
            expect_none(
                [text for text, number in counted.items() if number > 1],
                f"{way} gave a chunk more than once",
                "Keep one row for each id, and let pages not overlap.",
            )

    def test_chunks_are_read_by_their_numbers(self) -> None:
        """`read` gives the chunks of each document whose numbers are asked for."""
        store = filled(self.new_store())
        number = {each.key: len(each.chunks) for each in SAMPLES}
        asked = [{key: [1, 2]} for key in number]
        asked += [{key: [last - 1, 0]} for key, last in number.items()]
        asked += [{key: [last]} for key, last in number.items()]
        asked.append({key: [place % 3] for place, key in enumerate(number)})
        for wanted in asked:
            found = [*select_chunks(store.chunks.read(wanted), wanted)]
            there = [(k, i) for k in wanted for i in wanted[k] if i < number[k]]
            expect(
                sorted(map(_place, found), key=str) == sorted(there, key=str),
                f"read({wanted}) gave {[_place(chunk) for chunk in found]}. Give the "
                f"chunks of each {DOC_KEY!r} whose {CHUNK_INDEX!r} is among those "
                "that are asked for of it.",
            )

    def test_chunks_are_read_by_their_ids(self) -> None:
        """`read(ids=)` gives the chunks of the ids; `count` counts all chunks."""
        chunks = filled(self.new_store()).chunks
        every = list(chunks.read())
        wanted = [chunk for chunk in every[1::2] if chunk.id]
        if wanted:
            asked = [*(chunk.id for chunk in wanted), _NOBODYS]
            found = [*chunks.read(ids=asked)]
            awaited = [*asyncio.run(chunks.aread(ids=asked))]
            _expect_same("read", found, awaited)
            expect(
                {*_by_id(c for c in found if c.id in asked)} == {*_by_id(wanted)},
                f"read gave {len(found)} chunks for {len(wanted)} ids, or others. "
                "Give those with these ids, as `read()` gives them, and none for an "
                "id that is not there.",
            )
        expect(
            chunks.count() in {None, len(every)},
            f"count gave {chunks.count()}, and read {len(every)} chunks. Count all "
            "that are there, or return None.",
        )

    def test_awaited_it_gives_the_same(self) -> None:
        """`aread` gives the same chunks, on a new event loop each time."""
        chunks, key = filled(self.new_store()).chunks, SAMPLES[0].key
        for wanted in ({key: None}, {key: [0, 2]}):
            awaited = [*asyncio.run(chunks.aread(wanted))]
            _expect_same("read", [*chunks.read(wanted)], awaited)

    def test_threads_read_at_once(self) -> None:
        """16 threads get the same chunks as one."""
        chunks = filled(self.new_store()).chunks
        keys = [each.key for each in SAMPLES]

        def found(key: str) -> list[Any]:
            return _by_id(of_document(chunks, key))

        alone = [*map(found, keys)] * _THREADS
        with ThreadPoolExecutor(_THREADS) as pool:
            together = [*pool.map(found, keys * _THREADS)]
        expect(
            together == alone,
            "read gave something else while other threads were reading. Share no "
            "cursor and no buffer between calls.",
        )

    # Searching.

    def test_a_search_finds_as_many_as_asked_for(self) -> None:
        """It finds `k` of them, or all that are there."""
        store = filled(self.new_store())
        for k in (3, len(CHUNKS)):
            found = search(store, k)
            expect(
                len(found) == k,
                f"A search for {k} of {len(CHUNKS)} chunks gave {len(found)}. Hand k "
                "on to the store, and look for a limit of its own.",
            )

    def test_a_search_keeps_to_its_filter(self) -> None:
        """It finds chunks that the filter admits, and none that it keeps out."""
        store = filled(self.new_store())
        for where in filters_of(store):
            _expect_own("A search", search(store, where=where), CHUNKS)

    def test_chunks_are_read_through_the_filter_of_a_search(self) -> None:
        """Chunks that may not be found may not be read either."""
        store = filled(self.new_store())
        for where in filters_of(store):
            within = store.chunks.within(where)
            for each in SAMPLES:
                for indexes in (None, range(len(each.chunks))):
                    wanted = {each.key: indexes}
                    found = [*select_chunks(within.read(wanted), wanted)]
                    _expect_own("read", found, each.chunks)
                    awaited = select_chunks(asyncio.run(within.aread(wanted)), wanted)
                    _expect_own("aread", [*awaited], each.chunks)
            ids = [chunk.id for chunk in store.chunks.read() if chunk.id]
            _expect_own("read of ids", [*within.read(ids=ids)] if ids else [], ())
            _expect_own("read()", list(within.read()), CHUNKS)
            _expect_own("read()", list(within.within(where).read()), CHUNKS)
        _expect_all("After that, read()", [*store.chunks.read()], len(CHUNKS))

    def test_filters_add_up(self) -> None:
        """A second filter of a store leaves the first one in place."""
        store = self.new_store()
        for where in filters_of(store):
            within = store.chunks.within(where)
            expect(
                len(within.within(where).filters) > len(within.filters),
                "within() of a store that has a filter left that one out. Add to "
                "`ChunkStore.filters`, as its own `within` does.",
            )

    def test_a_filter_that_cannot_be_read_is_not_taken(self) -> None:
        """Full texts and neighbours are refused then, rather than read by everyone."""
        expect(
            not self.new_store().chunks.takes_filter(object()),
            "takes_filter said True of an object() that is no filter. Say True only of "
            "filters that `read` applies.",
        )

    def test_what_is_found_stands_in_order_however_it_was_added(self) -> None:
        """Chunks are added in no order, and found in the order of a search."""
        found = search(filled(self.new_store()))
        passages = order_context([c.text for c in found], [c.metadata for c in found])
        for each in SAMPLES:
            shown = "".join(p.text for p in passages if p.text_id == each.name)
            expect_none(
                [] if shown == "".join(each.parts) else [shown],
                f"The chunks found of {each.name!r} do not read as the document does",
                f"Give them back with their texts, {DOC_KEY!r} and {CHUNK_INDEX!r}.",
            )

    # Writing, deleting and replacing.

    def test_documents_come_back_as_they_were_split(self) -> None:
        """They are whole, with all their parts, by length and hash of the texts."""
        source = StoreSource(filled(self.new_store()).chunks)
        for each in SAMPLES:
            found = source.read(each.name)
            expect_none(
                [] if found.exact and found.parts == each.parts else [found.text],
                f"Document {each.name!r} came back as another text",
                "Keep texts, metadata and ids as they are.",
            )

    def test_deleted_chunks_are_gone(self) -> None:
        """No way of reading gives them, and no others are gone with them."""
        store = filled(self.new_store())
        gone = [each.chunks[1] for each in SAMPLES]
        ids = {chunk.id for chunk in gone}
        kept = {
            way: sum(c.id not in ids and c.text not in _texts(gone) for c in chunks)
            for way, chunks in read(store)
        }
        delete(store, gone)
        for way, chunks in read(store):
            expect_none(
                sorted(_texts(chunks) & _texts(gone)),
                f"{way} gave a chunk that was deleted",
                "Delete by id wherever the store keeps it, or a copy of it.",
            )
            _expect_all(f"After a deletion, {way}", chunks, kept[way])

    def test_a_replaced_document_leaves_nothing_stale(self) -> None:
        """A new version is added and the old one deleted, as indexing does."""
        store = filled(self.new_store())
        before = {way: len(chunks) for way, chunks in read(store)}
        add(store, _REWRITTEN.chunks)
        delete(store, _REPLACED.chunks)
        _expect_replaced(store, before)

    def test_a_replaced_chunk_leaves_nothing_stale(self) -> None:
        """Of two chunks that are added with one id, the later one is there."""
        store = filled(self.new_store())
        if store.replace is None:
            raise SkipTest("the store does not replace chunks")
        before = {way: len(chunks) for way, chunks in read(store)}
        pairs = zip(_REWRITTEN.chunks, _REPLACED.chunks, strict=True)
        store.replace([new._replace(id=old.id) for new, old in pairs])
        _expect_replaced(store, before)


_REPLACED = SAMPLES[-1]
_REWRITTEN = sample(_REPLACED.name, *(part.upper() for part in _REPLACED.parts))


def expect(holds: object, message: str) -> None:
    """Fail a test with a message, even if Python leaves out `assert` (-O)."""
    if not holds:
        raise AssertionError(message)


def expect_none(wrong: Sequence[object], what: str, advice: str) -> None:
    """Fail a test if anything wrong was found: show the first, and say what to do."""
    if wrong:
        raise AssertionError(f"{what}: {wrong[0]!r:.{_SHOWN}}. {advice}")


def _expect_replaced(store: StoreUnderTest, before: Mapping[str, int]) -> None:
    """Expect as many chunks as before, and none with the text that was replaced."""
    for way, chunks in read(store):
        expect_none(
            sorted(_texts(chunks) & _texts(_REPLACED.chunks)),
            f"{way} gave the old text of what was replaced",
            "Replace it wherever the store keeps it, or a copy of it.",
        )
        _expect_all(f"After a replacement, {way}", chunks, before[way])


def _expect_kept(
    store: StoreUnderTest, document: Sample, *, what: str, instead: str
) -> None:
    add(store, document.chunks)
    found = of_document(store.chunks, document.key)
    number = len(document.chunks)
    expect(
        len(found) >= number,
        f"read gave {len(found)} of {number} chunks {what}. {instead}",
    )


def _expect_same(
    way: str, found: Sequence[StoredChunk], awaited: Sequence[StoredChunk]
) -> None:
    expect(
        _by_id(found) == _by_id(awaited),
        f"{way} gave {len(found)} chunks and a{way} {len(awaited)}, or others. Read "
        "the same in both.",
    )


def _expect_all(way: str, chunks: Sized, number: int) -> None:
    expect(
        len(chunks) >= number,
        f"{way} gave {len(chunks):,} of {number:,} chunks. Set no limit, and read page "
        "after page until one is empty.",
    )


def _expect_own(
    way: str, found: Sequence[StoredChunk], chunks: Sequence[StoredChunk]
) -> None:
    expect_none(
        [chunk.metadata for chunk in found if chunk.metadata.get(TENANT) != OWN],
        f"{way} gave a chunk that the filter keeps out",
        "Apply the filter in the store, and those in `ChunkStore.filters` whenever "
        "chunks are read.",
    )
    wanted = [chunk for chunk in chunks if chunk.metadata[TENANT] == OWN]
    expect(
        len(found) >= len(wanted),
        f"{way} gave {len(found)} of {len(wanted)} chunks that the filter admits. "
        "Apply the filter before any limit.",
    )


def _place(chunk: StoredChunk) -> tuple[Any, Any]:
    return chunk.metadata.get(DOC_KEY), chunk.metadata.get(CHUNK_INDEX)


def _kept(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """Return the keys of oprag and the author, as a store may add its own."""
    return {key: metadata[key] for key in (*OWN_KEYS, TENANT) if key in metadata}


def _texts(chunks: Iterable[StoredChunk]) -> set[str]:
    return {chunk.text for chunk in chunks}


def _by_id(chunks: Iterable[StoredChunk]) -> list[tuple[str, str]]:
    return sorted((chunk.id, chunk.text) for chunk in chunks)
