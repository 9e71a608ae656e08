"""Chunks beside hits: by id where that is proved, else by their metadata."""

from typing import Any

import pytest

from oprag.chunk import Hit
from oprag.context import ContextOptions, NeighbourSearch
from oprag.effects import run_effects
from oprag.metadata import chunk_id, chunk_metadata, make_named_id
from oprag.splitting import TextChunk
from oprag.stores import SearchedChunks, SearchFilter, StoredChunk
from tests.kit.fake_store import FakeStore

N = 9
VERSION = "123456-123456789012"


def chunks_of(name: str, *, whole_ids: bool = False) -> list[StoredChunk]:
    spans = [TextChunk(10 * n, 10 * n + 10, 3) for n in range(N)]
    (written,) = chunk_metadata(name, [spans], version=VERSION)
    made = []
    for index, metadata in enumerate(written):
        own = chunk_id(name, index, version=VERSION)
        made.append(
            StoredChunk(
                f"{name} {index:02d}".ljust(10),
                metadata,
                make_named_id(f"{own}{metadata}") if whole_ids else own,
            )
        )
    return made


def wanted_beside(*hits: StoredChunk) -> Any:
    return NeighbourSearch(
        [Hit(each.text, each.metadata, id=each.id) for each in hits],
        1,
        ContextOptions(),
        fills=False,
    ).requests()


def read(store: FakeStore, wanted: Any, **search: Any) -> list[StoredChunk]:
    chunks = SearchedChunks(store, SearchFilter(**search))
    store.asked.clear()
    found = run_effects(chunks.read_by_key(wanted))
    return sorted(found, key=lambda chunk: chunk.text)


A, B = chunks_of("a"), chunks_of("b")


def test_neighbours_of_all_documents_are_read_by_id_at_once():
    store = FakeStore([*A, *B])

    found = read(store, wanted_beside(A[2], B[5]))

    assert found == [A[1], A[3], B[4], B[6]]
    assert store.asked == ["ids"]


def test_where_ids_are_not_computed_all_documents_are_read_in_one_query():
    a, b = chunks_of("a", whole_ids=True), chunks_of("b", whole_ids=True)
    store = FakeStore([*a, *b])

    found = read(store, wanted_beside(a[2], b[5]))

    assert found == [a[1], a[3], b[4], b[6]]
    assert "ids" not in store.asked


def test_a_search_with_a_filter_reads_nothing_by_id():
    store = FakeStore([*A, *B])

    admits = {"chunk_index": 1}
    assert read(store, wanted_beside(A[2]), where=admits) == [A[1]]
    assert "ids" not in store.asked
    ids = frozenset({A[2].id, A[3].id})
    assert read(store, wanted_beside(A[2]), ids=ids) == [A[3]]
    assert "ids" not in store.asked
    within = SearchedChunks(store.within(admits), SearchFilter())
    assert run_effects(within.read_by_key(wanted_beside(A[2]))) == [A[1]]


def test_what_is_missing_or_another_chunk_under_an_id_is_looked_for_elsewhere():
    moved = [A[1]._replace(id="elsewhere"), B[7]._replace(id=A[3].id)]
    store = FakeStore([A[2], *moved, A[3]._replace(id="there")])

    found = read(store, wanted_beside(A[2]))

    assert [chunk.id for chunk in found] == ["elsewhere", "there"]
    assert store.asked == ["ids", {A[1].metadata["doc_key"]: [1, 3]}]


@pytest.mark.parametrize("given", [{"doc_uri": "b"}, {}])
def test_no_id_is_made_up_for_a_hit_that_has_another_one(given):
    hit = A[2]._replace(metadata={**A[2].metadata, **given})
    if not given:
        hit = hit._replace(id="1")

    assert {*wanted_beside(hit).values()} == {""}
