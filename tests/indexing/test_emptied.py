"""Documents that are empty for a moment keep their chunks, if they are too many."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oprag.documents import StoredChunk
from oprag.errors import (
    IndexingError,
    InvalidOptionError,
    OpragWarning,
    UnreadableFileError,
)
from oprag.indexing import WantedDocument, update_index
from tests.documents.fake_store import FakeStore, FakeWriter
from tests.indexing.test_faults import attempt
from tests.indexing.test_updating import content, document, expected, stored


def full(names: str) -> list[WantedDocument]:
    return [document(name, [f"{name} 1", "2"]) for name in names]


def empty(names: str) -> list[WantedDocument]:
    return [WantedDocument(name, ()) for name in names]


def holding(names: str, kind: type[FakeStore] = FakeStore) -> FakeStore:
    return kind(list(itertools.chain(*map(stored, full(names)))))


@pytest.mark.parametrize(
    ("documents", "kept"),
    [
        (empty("abcde"), "abcde"),
        (empty("abc"), "abc"),
        ([*empty("abc"), *full("de")], "abc"),
        ([*full("xyz"), *empty("abc")], "abc"),
    ],
)
def test_more_than_half_are_kept_and_named_with_the_way_out(documents, kept):
    store = holding("abcde")
    before = content(store)

    report = attempt(documents, store, FakeWriter(store))

    assert [name for name, _ in report.failed] == [*kept]
    assert {type(error) for _, error in report.failed} == {UnreadableFileError}
    said = str(report.failed[0].error)
    assert f"one of {len(kept)} among the 5 that were indexed from here" in said
    assert 'with remove_missing="all"' in said
    assert report.empty == ()
    assert [row for row in content(store) if row in before] == before

    again = update_index(full("abcde"), store, FakeWriter(store))
    assert (again.unchanged, again.chunks_added) == (("a", "b", "c", "d", "e"), 0)


def test_where_none_else_was_given_it_is_an_error_and_a_warning_where_some_were():
    store = holding("ab")

    with pytest.raises(IndexingError, match=r"No document .* indexed\. 2 failed"):
        update_index(empty("ab"), store, FakeWriter(store))
    with pytest.warns(OpragWarning, match="'b' is empty now, one of 2 among the 2 "):
        update_index([*full("c"), *empty("ab")], store, FakeWriter(store))
    assert content(store) == expected(*full("abc"))


def test_all_of_them_go_if_all_may():
    store = holding("abcde")

    report = update_index(
        [*empty("abd"), *full("c")], store, FakeWriter(store), remove_missing="all"
    )

    assert (report.empty, report.removed) == (("a", "b", "d"), ("e",))
    assert content(store) == expected(*full("c"))


@pytest.mark.parametrize(
    "documents",
    [empty("b"), [*full("acd"), *empty("b")], [*empty("ba"), *full("cd")]],
    ids=["alone", "among others", "half"],
)
def test_up_to_half_go(documents):
    store = holding("abcd")
    names = [one.name for one in documents if not one.chunks]

    report = update_index([*empty("z"), *documents], store, FakeWriter(store))

    assert report.empty == ("z", *names)
    assert {row.metadata.get("doc_uri") for row in store.rows} == {*"abcd"}.difference(
        names
    )


def test_one_that_was_never_stored_is_neither_counted_nor_kept():
    store = holding("ab")

    report = update_index([*empty("xyz"), *full("ab")], store, FakeWriter(store))

    assert (report.empty, report.failed) == (("x", "y", "z"), ())


def test_with_remove_missing_they_count_together_with_the_missing():
    store = holding("abcde")
    before = content(store)

    with pytest.raises(InvalidOptionError, match="delete 3 of the 5 documents"):
        update_index(
            [*full("ab"), *empty("c")], store, FakeWriter(store), remove_missing=True
        )
    assert content(store) == before
    report = update_index(
        [*full("abd"), *empty("c")], store, FakeWriter(store), remove_missing=True
    )
    assert (report.empty, report.removed) == (("c",), ("e",))


class Large(FakeStore):
    """Of whose chunks a run sees few at first."""

    def some(self, number: int) -> list[StoredChunk]:
        return super().some(3)


class Awaited(Large):
    """That cannot be looked through at once."""

    def scan(self) -> Iterator[StoredChunk]:
        raise NotImplementedError


@pytest.mark.parametrize("new", ["", "vwxyz"])
def test_in_a_large_store_all_that_was_there_counts_and_nothing_that_is_new(new):
    store = holding("abcdef", Large)
    report = update_index([*full(new), *empty("abc")], store, FakeWriter(store))
    assert report.empty == ("a", "b", "c")

    store = holding("abcde", Large)
    report = attempt([*full(new), *empty("abc")], store, FakeWriter(store))
    assert [name for name, _ in report.failed] == ["a", "b", "c"]


def test_where_a_store_cannot_be_looked_through_those_that_stay_count():
    store = holding("abcd", Awaited)

    report = attempt([*full("ab"), *empty("cd")], store, FakeWriter(store))
    assert report.empty == ("c", "d")

    store = holding("abcd", Awaited)
    report = attempt([*full("a"), *empty("cd")], store, FakeWriter(store))
    assert [name for name, _ in report.failed] == ["c", "d"]


letters = st.lists(st.sampled_from("abcdef"), unique=True)


@given(before=letters, gone=letters, others=letters, batch_size=st.integers(1, 5))
def test_no_run_deletes_more_than_half_unless_it_is_told_to(
    before, gone, others, batch_size
):
    store = holding("".join(before))
    rest = [name for name in others if name not in gone]
    documents: Sequence[WantedDocument] = [*empty("".join(gone)), *full("".join(rest))]

    attempt(documents, store, FakeWriter(store), batch_size=batch_size)

    held = {row.metadata.get("doc_uri") for row in store.rows}
    lost = {*before} - held
    assert 2 * len(lost) <= len(before)
    assert lost in (set(), {*before} & {*gone})
    assert held >= {*rest}
