"""Whatever fails while a store is brought up to date, no document is lost."""

import itertools
from collections.abc import Iterator, Sequence
from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oprag.documents import rebuild
from oprag.errors import (
    IndexingError,
    InvalidOptionError,
    OpragWarning,
    UnreadableFileError,
)
from oprag.indexing import (
    FailedDocument,
    IndexingReport,
    WantedChunk,
    WantedDocument,
    update_by_workers,
    update_index,
)
from oprag.metadata import DOC_SCOPE
from oprag.stores import StoredChunk
from tests.indexing.test_update import document, expected, full, stored
from tests.kit.effort import cases
from tests.kit.fake_store import FakeStore, FakeWriter
from tests.kit.interrupted import content

pytestmark = pytest.mark.filterwarnings("ignore::oprag.errors.OpragWarning")


class OutageError(Exception):
    """The error of a service that is down."""


class Failing:
    """Says which calls fail.

    Args:
        first: Number of the first call that fails.
        times: How many calls do.
        halfway: Rows that a failing call writes before.
    """

    def __init__(self, first: int, times: int, halfway: int) -> None:
        self.first, self.times, self.halfway = first, times, halfway
        self.calls = 0

    def rows(self) -> int | None:
        """How many rows may be written; None for all."""
        self.calls += 1
        number = self.calls - 1 - self.first
        return self.halfway if 0 <= number < self.times else None


class FailingStore(FakeStore):
    failing: Failing | None = None

    def read(self, wanted=None, ids=None):
        failing = self.failing if wanted is not None else None
        if failing and failing.rows() is not None:
            raise OutageError
        return super().read(wanted, ids)


class FailingWriter(FakeWriter):
    def __init__(self, store: FailingStore, failing: Failing) -> None:
        super().__init__(store)
        self._failing = failing

    def add(self, chunks: Sequence[WantedChunk]) -> None:
        rows = self._failing.rows()
        super().add(chunks if rows is None else chunks[:rows])
        if rows is not None:
            raise OutageError

    def delete(self, ids: Sequence[str]) -> None:
        rows = self._failing.rows()
        super().delete(ids if rows is None else ids[:rows])
        if rows is not None:
            raise OutageError


def attempt(
    documents: Sequence[WantedDocument], store: FakeStore, writer: FakeWriter, **options
) -> IndexingReport:
    """The output of a run, whether it comes to its end or is stopped."""
    try:
        return update_index(iter(documents), store, writer, **options)
    except IndexingError as error:
        return error.report


def text_of(store: FakeStore, name: str) -> str:
    return rebuild(name, store.rows).text


NAMES = [f"{letter}.txt" for letter in "abcdefgh"]
texts = st.lists(st.sampled_from(["one ", "two ", "three "]), min_size=1, max_size=5)
versions = st.dictionaries(st.sampled_from(NAMES), texts, min_size=1)


@settings(max_examples=cases(100))
@given(
    before=versions,
    after=versions,
    first=st.integers(0, 30),
    times=st.sampled_from([1, 2, 10_000]),
    halfway=st.integers(0, 3),
    batch_size=st.integers(1, 6),
    year=st.sampled_from([1, 2]),
)
def test_every_document_is_old_or_new_failures_are_named_and_the_next_run_mends(
    before, after, first, times, halfway, batch_size, year
):
    old = {name: document(name, row, year=1) for name, row in before.items()}
    wanted = [document(name, row, year=year) for name, row in after.items()]
    store = FailingStore(list(itertools.chain(*map(stored, old.values()))))
    failing = store.failing = Failing(first, times, halfway)

    report = attempt(
        wanted, store, FailingWriter(store, failing), batch_size=batch_size
    )

    failed = {name for name, *_ in report.failed}
    finished = {*report.added, *report.updated, *report.unchanged}
    assert not failed & finished
    for name in before.keys() & after.keys():
        known = {"".join(after[name])}
        known |= set() if name in finished else {"".join(before[name])}
        assert text_of(store, name) in known
    for name in finished | (before.keys() - after.keys()):
        text_of(store, name)
    if times == 1:
        assert not failed  # each was tried once more
        assert finished == after.keys()

    store.failing = None
    update_index(iter(wanted), store, FakeWriter(store), batch_size=batch_size)
    kept = [old[name] for name in before if name not in after]
    assert content(store) == expected(*kept, *wanted)


class ReadsInPages(FakeStore):
    """Looks at all chunks to find those of one document."""

    fails_at = 2
    """Number of the reading that fails when half is read; the run's state is the first,
    the comparison with documents the second."""

    def read(self, wanted=None, ids=None):
        self.fails_at -= 1
        for number, row in enumerate(super().read(wanted, ids)):
            if self.fails_at == 0 and number == len(self.rows) // 2:
                raise OutageError
            yield row


def test_half_of_a_reading_is_not_taken_for_the_store():
    store = ReadsInPages(list(filled("abc")))
    wanted = [*full("a"), *changed("b"), *full("c")]
    writer = FakeWriter(store)

    report = update_index(wanted, store, writer)

    assert (report.unchanged, report.updated) == (("a", "c"), ("b",))
    assert writer.added == ["b now", "2"]
    assert content(store) == expected(*wanted)


def test_an_outage_is_not_asked_for_every_document_and_says_so():
    wanted = [document(f"{n}", ["x"]) for n in range(1_000)]
    store = FailingStore()
    failing = Failing(0, 10_000, 0)
    asked = iter(wanted)

    with pytest.raises(IndexingError, match="5 documents in a row failed") as caught:
        update_index(asked, store, FailingWriter(store, failing), batch_size=3)

    assert failing.calls < 15
    assert next(asked).name == "6"
    assert isinstance(caught.value.__cause__, OutageError)
    assert [each.name for each in caught.value.report.failed] == [*"01234"]


@pytest.mark.parametrize("report", [None, IndexingReport()])
def test_an_error_of_a_worker_that_is_no_outage_is_raised_as_it_is(report):
    store = FakeStore()
    error = IndexingError("The store is full.", store="fake store", report=report)

    with pytest.raises(IndexingError, match=r"^The store is full\.$") as caught:
        update_by_workers(lambda _: iter([error]), store, FakeWriter(store))

    assert caught.value is error


class Particular(FakeWriter):
    """Takes no chunk with some text, as an embedding that refuses it."""

    def add(self, chunks: Sequence[WantedChunk]) -> None:
        if any("bad" in chunk.text for chunk in chunks):
            raise OutageError
        super().add(chunks)


def test_a_document_that_the_embedding_refuses_does_not_stop_the_others():
    before = [document(f"{n}", ["old"]) for n in range(40)]
    wanted = [document(f"{n}", ["bad" if n % 4 == 0 else "new"]) for n in range(40)]
    store = FakeStore(list(itertools.chain(*map(stored, before))))

    with pytest.warns(OpragWarning, match=r"10 failed: '0', '4', .* and 5 more"):
        report = update_index(wanted, store, Particular(store))

    assert [int(name) for name, *_ in report.failed] == list(range(0, 40, 4))
    assert {type(error) for _, error, _ in report.failed} == {OutageError}
    assert str(report).endswith("; 5 more.")
    assert len(report.updated) == 30
    for number in range(40):
        assert text_of(store, f"{number}") == ("new" if number % 4 else "old")


def test_documents_that_are_refused_are_passed_over_however_many():
    error = UnreadableFileError("no", path="x", reason="no")
    refused = [FailedDocument(f"{n}", error) for n in range(50)]
    store = FakeStore(stored(document("1", ["kept"])))

    with pytest.warns(OpragWarning, match="50 failed"):
        report = update_index(
            [*refused, document("a", ["new"])],
            store,
            FakeWriter(store),
            remove_missing=True,
        )

    assert (report.added, report.removed) == (("a",), ())
    assert text_of(store, "1") == "kept"


def names_in(store: FakeStore) -> set[object]:
    return {row.metadata.get("doc_uri") for row in store.rows}


def filled(names: Sequence[str], scope: str = "") -> Iterator[StoredChunk]:
    for wanted in full("".join(names)):
        yield from stored(scoped(wanted, scope))


def scoped(wanted: WantedDocument, scope: str) -> WantedDocument:
    first, *others = wanted.chunks
    if not scope:
        return wanted
    metadata = {**first.metadata, DOC_SCOPE: scope}
    marked = first._replace(id=f"{first.id}-{scope}", metadata=metadata)
    return WantedDocument(wanted.name, [marked, *others])


NO_TEXT = UnreadableFileError("no text", path="Thumbs.db", reason="no text")


@pytest.mark.parametrize(
    ("given_documents", "gone"),
    [
        ([NO_TEXT], 5),
        ([WantedDocument("a", [])], 5),
        ([WantedDocument(name, []) for name in "abcde"], 5),
        ([*full("a"), WantedDocument("b", [])], 4),
        (full("ab"), 3),
        ([document(name, ["new"]) for name in "xyz"], 5),
    ],
)
def test_more_than_half_goes_only_if_all_may(given_documents, gone):
    store = FakeStore(list(filled("abcde")))
    before = content(store)

    with pytest.raises(InvalidOptionError, match=f"delete {gone} of the 5 documents"):
        update_index(given_documents, store, FakeWriter(store), remove_missing=True)
    assert [row for row in before if row in content(store)] == before

    update_index(given_documents, store, FakeWriter(store), remove_missing="all")
    assert names_in(store) == {
        one.name for one in given_documents if getattr(one, "chunks", ())
    }


def test_a_run_removes_and_counts_what_is_of_its_own_scope():
    rows = [*filled("abc", "one"), *filled("xy", "two"), *filled("z")]
    store = FakeStore(rows)
    kept = [scoped(wanted, "one") for wanted in full("ab")]

    report = update_index(
        kept, store, FakeWriter(store), scope="one", remove_missing=True
    )

    assert report.removed == ("c",)
    assert names_in(store) == {"a", "b", "x", "y", "z"}


def test_a_document_of_another_scope_is_not_replaced_unless_all_is():
    store = FakeStore(list(filled("a", "one")))
    before = content(store)
    new = [scoped(document(name, ["new"]), "two") for name in "ab"]

    with pytest.warns(OpragWarning, match="'one'; this run is of 'two'"):
        report = update_index(new, store, FakeWriter(store), scope="two")

    ((name, error, _),) = report.failed
    assert (name, type(error)) == ("a", UnreadableFileError)
    assert 'replace="all"' in str(error)
    assert report.added == ("b",)
    assert [row for row in content(store) if row in before] == before
    again = attempt(new, store, FakeWriter(store), scope="two", replace="all")
    assert again.failed == ()
    assert [row.text for row in store.rows] == ["new", "new"]


class CannotDelete(FakeWriter):
    cannot_delete = "Nothing can be deleted here."


def test_where_nothing_can_be_deleted_nothing_is_added_that_replaces():
    store = FakeStore(list(filled("a")))
    before = content(store)

    with pytest.raises(IndexingError, match="Nothing can be deleted here"):
        update_index([document("a", ["new"])], store, CannotDelete(store))
    assert content(store) == before


class DeletesNothing(FakeWriter):
    """Of a store whose user may add to it only."""

    def delete(self, ids: Sequence[str]) -> None:
        raise PermissionError


def changed(names: str) -> list[WantedDocument]:
    return [document(name, [f"{name} now", "2"]) for name in names]


def test_where_old_chunks_cannot_be_deleted_it_says_what_is_in_and_what_to_do():
    store = FakeStore(list(filled("abc")))
    new = [*changed("ab"), document("d", ["new"])]

    with pytest.warns(OpragWarning) as warned:
        report = update_index(new, store, DeletesNothing(store))

    assert [name for name, *_ in report.failed] == ["a", "b"]
    assert {type(error) for _, error, _ in report.failed} == {PermissionError}
    assert repr(report.failed[0]) == "FailedDocument('a', PermissionError)"
    assert report.added == ("d",)
    assert "more" not in str(report)
    said = str(warned[0].message)
    assert said.startswith("2 failed: 'a', 'b'. What the store held of them is still")
    assert "('a', 'b'): the new chunks are in, and of the old ones 0 or more" in said
    for name in "abcd":
        assert text_of(store, name)

    writer = FakeWriter(store)
    again = update_index(new, store, writer)
    assert (again.updated, writer.added) == (("a", "b"), [])
    assert content(store) == expected(*new, *full("c"))


def empty(names: str) -> list[WantedDocument]:
    return [WantedDocument(name, ()) for name in names]


def test_without_remove_missing_it_keeps_its_chunks_and_is_listed():
    store = FakeStore(list(filled("abcd")))

    report = update_index([*empty("ab"), *full("c")], store, FakeWriter(store))

    assert (report.empty, report.removed, report.failed) == (("a", "b"), (), ())
    assert content(store) == expected(*full("abcd"))


letters = st.lists(st.sampled_from("abcdef"), unique=True)


@given(before=letters, gone=letters, others=letters, batch_size=st.integers(1, 5))
def test_no_run_deletes_more_than_half_unless_all_may(before, gone, others, batch_size):
    store = FakeStore(list(filled(before)))
    rest = [name for name in others if name not in gone]
    documents = [*empty("".join(gone)), *full("".join(rest))]

    with suppress(InvalidOptionError):
        attempt(
            documents,
            store,
            FakeWriter(store),
            batch_size=batch_size,
            remove_missing=True,
        )

    assert 2 * len({*before} - names_in(store)) <= len(before)
    assert names_in(store) >= {*rest}


KEPT = "Not given, and kept: 'a'.*next run without such"
REFUSED = FailedDocument("z", UnreadableFileError("no", path="z", reason="no"))
BAD = document("z", ["bad"])


def skipped(name: str, *, is_read: bool) -> UnreadableFileError:
    error = UnreadableFileError("no text", path=name, reason="no text")
    error.__cause__ = None if is_read else PermissionError()
    return error


UNSTORED = [BAD, REFUSED, skipped("z", is_read=False)]


@pytest.mark.parametrize("new", UNSTORED, ids=["failed", "refused", "unread"])
def test_nothing_is_removed_while_a_document_is_not_in_the_store(new):
    store = FakeStore(list(filled("abcd")))
    documents, writer = [new, *full("bcd")], Particular(store)

    with pytest.warns(OpragWarning, match=KEPT):
        report = update_index(documents, store, writer, remove_missing=True)

    assert (report.removed, report.kept) == ((), ("a",))
    assert names_in(store) == {*"abcd"}
    again = update_index(full("zbcd"), store, Particular(store), remove_missing=True)
    assert (again.added, again.removed, again.kept) == (("z",), ("a",), ())


def test_all_that_is_missing_or_empty_goes_if_all_may():
    store = FakeStore(list(filled("abcd")))
    documents = [BAD, *empty("b"), *full("cd")]

    report = update_index(documents, store, Particular(store), remove_missing="all")

    assert (report.removed, report.kept) == (("a", "b"), ())


def test_a_file_that_is_no_text_keeps_nothing():
    store = FakeStore(list(filled("abcd")))
    documents = [skipped("logo.png", is_read=True), *full("bcd")]

    report = update_index(documents, store, Particular(store), remove_missing=True)

    assert (report.removed, report.kept) == (("a",), ())
