"""A document by a new name that fails: its text stays in the store by the old one."""

from __future__ import annotations

import pytest

from oprag.errors import OpragWarning, UnreadableFileError
from oprag.indexing import FailedDocument, update_index
from tests.documents.fake_store import FakeStore
from tests.indexing.test_emptied import empty, holding
from tests.indexing.test_faults import Particular
from tests.indexing.test_update import document, full

pytestmark = pytest.mark.filterwarnings("ignore::oprag.errors.OpragWarning")

KEPT = "Not given, and kept: 'a'.*next run without such"
REFUSED = FailedDocument("z", UnreadableFileError("no", path="z", reason="no"))
BAD = document("z", ["bad"])


def skipped(name: str, *, is_read: bool) -> UnreadableFileError:
    error = UnreadableFileError("no text", path=name, reason="no text")
    error.__cause__ = None if is_read else PermissionError()
    return error


def names(store: FakeStore) -> set[object]:
    return {row.metadata.get("doc_uri") for row in store.rows}


UNSTORED = [BAD, REFUSED, skipped("z", is_read=False)]


@pytest.mark.parametrize("new", UNSTORED, ids=["failed", "refused", "unread"])
def test_nothing_is_removed_while_a_document_is_not_in_the_store(new):
    store = holding("abcd")
    given, writer = [new, *full("bcd")], Particular(store)

    with pytest.warns(OpragWarning, match=KEPT):
        report = update_index(given, store, writer, remove_missing=True)

    assert (report.removed, report.kept) == ((), ("a",))
    assert names(store) == {*"abcd"}
    again = update_index(full("zbcd"), store, Particular(store), remove_missing=True)
    assert (again.added, again.removed, again.kept) == (("z",), ("a",), ())


def test_all_that_is_missing_or_empty_goes_if_all_may():
    store = holding("abcd")
    given = [BAD, *empty("b"), *full("cd")]

    report = update_index(given, store, Particular(store), remove_missing="all")

    assert (report.removed, report.kept) == (("a", "b"), ())


def test_a_file_that_is_no_text_keeps_nothing():
    store = holding("abcd")
    given = [skipped("logo.png", is_read=True), *full("bcd")]

    report = update_index(given, store, Particular(store), remove_missing=True)

    assert (report.removed, report.kept) == (("a",), ())
