"""Chunks that are written anew are never gone, wherever a run is stopped."""

import itertools
from contextlib import suppress

import pytest

from oprag.documents import StoredChunk
from oprag.indexing import update_index
from tests.documents.fake_store import FakeStore, FakeWriter, Stopped
from tests.indexing.test_update import document, stored
from tests.kit.interrupted import content

WANTED = [document(name, ["one ", "two ", "three"]) for name in "ab"]


def altered() -> list[StoredChunk]:
    """Every chunk, its metadata altered by something else."""
    rows = itertools.chain(*map(stored, WANTED))
    return [row._replace(metadata={**row.metadata, "token_count": 99}) for row in rows]


def doubled() -> list[StoredChunk]:
    """Every chunk twice by one id, as of two runs at once."""
    return [row for row in itertools.chain(*map(stored, WANTED)) for _ in range(2)]


def texts(store: FakeStore) -> set[tuple[object, str]]:
    return {(row.metadata.get("doc_uri"), row.text) for row in store.rows}


def given() -> list[StoredChunk]:
    return [*itertools.chain(*map(stored, WANTED))]


def nameless(store: FakeStore) -> list[object]:
    return sorted(row for _, *row in content(store))


@pytest.mark.parametrize("rows", [altered, doubled])
@pytest.mark.parametrize("batch_size", [1, 4, 100])
def test_a_chunk_whose_id_is_taken_is_there_before_what_has_it_goes(rows, batch_size):
    whole = FakeStore(rows())
    before, last = texts(whole), FakeWriter(whole)
    report = update_index(WANTED, whole, last, batch_size=batch_size)
    assert (report.updated, report.chunks_added) == (("a", "b"), 6)

    for first in range(last.rows_written):
        for second in range(0, last.rows_written, 3):
            store = FakeStore(rows())
            for stop in (first, second):
                with suppress(Stopped):
                    writer = FakeWriter(store, rows=stop)
                    update_index(WANTED, store, writer, batch_size=batch_size)
                assert texts(store) == before
            update_index(WANTED, store, FakeWriter(store), batch_size=batch_size)
            assert nameless(store) == nameless(FakeStore(given()))
