"""A document by a new name that fails: its text stays in the store by the old one."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from oprag.documents import StoredChunk
from oprag.errors import OpragWarning, UnreadableFileError, UnsupportedMetadataError
from oprag.indexing import aupdate_index, update_index
from oprag.indexing.reporting import FailedDocument, Readable, SkippedFile
from oprag.metadata import document_key
from tests.documents.fake_store import FakeStore, FakeWriter
from tests.indexing.test_emptied import empty, full, holding
from tests.indexing.test_faults import Particular, filled, scoped
from tests.indexing.test_updating import document

pytestmark = pytest.mark.filterwarnings("ignore::oprag.errors.OpragWarning")

KEPT = "Not given, and kept: 'a'.*next run without such"
REFUSED = FailedDocument(
    "z", UnsupportedMetadataError("no", document="z", key="tags", found="list")
)
BAD = document("z", ["bad"])


def skipped(name: str, *, is_read: bool) -> SkippedFile:
    error = UnreadableFileError("no text", path=name, reason="no text")
    error.__cause__ = None if is_read else PermissionError()
    return SkippedFile(name, error)


def names(store: FakeStore) -> set[object]:
    return {row.metadata.get("doc_uri") for row in store.rows}


def index(documents: Sequence[Readable], store: FakeStore, **options):
    return update_index(documents, store, Particular(store), **options)


UNSTORED: list[Readable] = [BAD, REFUSED, skipped("z", is_read=False)]


@pytest.mark.parametrize("awaited", [False, True], ids=["sync", "async"])
@pytest.mark.parametrize("new", UNSTORED, ids=["failed", "refused", "unread"])
def test_nothing_is_removed_while_what_is_new_is_not_in_the_store(new, awaited):
    store = holding("abcd")
    given, writer = [new, *full("bcd")], Particular(store)

    with pytest.warns(OpragWarning, match=KEPT):
        report = (
            asyncio.run(aupdate_index(given, store, writer, remove_missing=True))
            if awaited
            else update_index(given, store, writer, remove_missing=True)
        )

    assert (report.removed, report.kept) == ((), ("a",))
    assert names(store) == {*"abcd"}
    again = index(full("zbcd"), store, remove_missing=True)
    assert (again.added, again.removed, again.kept) == (("z",), ("a",), ())


def test_what_is_empty_now_goes_all_the_same():
    store = holding("abcd")

    with pytest.warns(OpragWarning, match=KEPT):
        report = index([BAD, *empty("b"), *full("cd")], store, remove_missing=True)

    assert (report.empty, report.removed, report.kept) == (("b",), (), ("a",))


def test_all_that_is_missing_goes_if_all_may():
    store = holding("abcd")

    with pytest.warns(OpragWarning, match="1 failed: 'z'"):
        report = index([BAD, *full("bcd")], store, remove_missing="all")

    assert (report.removed, report.kept) == (("a",), ())


@pytest.mark.parametrize(
    "other",
    [
        document("b", ["bad"]),
        skipped("b", is_read=False),
        skipped("logo.png", is_read=True),
    ],
    ids=["stored before", "stored before, unread", "no text"],
)
def test_what_cannot_be_the_missing_one_keeps_nothing(other):
    store = holding("abcd")

    report = index([other, *full("cd")], store, remove_missing="all")
    assert report.removed == (("a",) if other.name == "b" else ("a", "b"))

    store = holding("abcd")
    report = index([other, *full("cd")], store, remove_missing=True)
    assert report.kept == ()
    assert "a" in report.removed


class Undeletable(FakeWriter):
    def delete(self, ids: Sequence[str]) -> None:
        if not any(row.id in ids and row.text == "a 1" for row in self.store.rows):
            raise OSError
        super().delete(ids)


def test_a_document_whose_old_chunks_stay_is_in_the_store():
    store = holding("abcd")

    report = update_index(
        [document("b", ["new"]), *full("cd")],
        store,
        Undeletable(store),
        remove_missing=True,
    )

    assert [one.name for one in report.failed] == ["b"]
    assert (report.removed, report.kept) == (("a",), ())


@pytest.mark.parametrize("is_read", [False, True])
@pytest.mark.parametrize("remove", [True, "all"])
def test_what_stands_below_a_skipped_path_stays_and_the_rest_goes(is_read, remove):
    held = [*full("abc"), document("sub/s", ["s"]), document("sub/in/t", ["t"])]
    rows = [
        StoredChunk(chunk.text, dict(chunk.metadata), chunk.id)
        for one in held
        for chunk in one.chunks
    ]
    store = FakeStore(rows)
    given: list[Readable] = [*full("bc"), skipped("sub", is_read=is_read)]

    report = index(given, store, remove_missing=remove)

    assert (report.removed, report.kept) == (("a",), ())
    assert names(store) == {"b", "c", "sub/s", "sub/in/t"}


def test_more_than_half_is_still_refused():
    store = holding("abcd")

    with (
        pytest.warns(OpragWarning, match="1 failed: 'z'"),
        pytest.raises(ValueError, match="delete 3 of the 4 documents"),
    ):
        index([BAD, *full("d")], store, remove_missing=True)


def test_what_another_scope_holds_is_new_here():
    store = FakeStore([*filled("z", "other"), *filled("abc", "own")])
    given = [scoped(one, "own") for one in full("zbc")]

    with pytest.warns(OpragWarning, match=KEPT):
        report = index(given, store, scope="own", remove_missing=True)

    assert report.kept == ("a",)
    assert names(store) == {*"abcz"}


@pytest.mark.parametrize("replace", ["document", "all"])
@pytest.mark.parametrize("name", [None, "elsewhere/a"])
def test_chunks_that_lost_their_name_are_told_where_what_is_missing_goes(name, replace):
    store = holding("abc")
    lost = document_key("a")
    store.rows = [
        row._replace(metadata={**row.metadata, "doc_uri": name})
        if row.metadata.get("doc_uri") == "a"
        else row
        for row in store.rows
    ]

    with pytest.warns(OpragWarning, match=f"'{lost}'.*no longer tell their document"):
        report = index(full("b"), store, remove_missing="all", replace=replace)

    assert report.removed == ("c",)
    assert (report.foreign, report.chunks_foreign) == ((lost,), 2)
    if name is None:  # by a name of another key it is refused, and told as that
        assert index(full("ab"), store, remove_missing="all").foreign == ()
        assert names(store) == {*"ab"}
