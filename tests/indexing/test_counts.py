"""A report says what was written and deleted, whatever failed meanwhile."""

import itertools
from collections.abc import Sequence

import pytest

from oprag.errors import InvalidOptionError, OpragWarning
from oprag.indexing import update_index
from tests.indexing.test_faults import (
    Failing,
    FailingStore,
    FailingWriter,
    Particular,
    attempt,
    changed,
    filled,
)
from tests.indexing.test_update import document, expected, full, stored
from tests.kit.fake_store import FakeStore, FakeWriter
from tests.kit.interrupted import content


class DeletesTwo(FakeWriter):
    """Deletes two chunks, and then no more."""

    def delete(self, ids: Sequence[str]) -> None:
        if self.rows_written - len(self.added) == 2:
            raise PermissionError
        super().delete(ids)


@pytest.mark.parametrize("given", ["new", ""], ids=["replaced", "removed"])
def test_old_chunks_that_are_gone_are_counted_and_not_called_there(given):
    before = [document("a", [*"123456"]), *full("bc")]
    store = FakeStore(list(itertools.chain(*map(stored, before))))
    replaced = [document("a", [given])] if given else []

    with pytest.warns(OpragWarning, match=r"'a'\): .* 2 or more are gone"):
        report = update_index(
            [*replaced, *full("bc")],
            store,
            DeletesTwo(store),
            batch_size=2,
            remove_missing=True,
        )

    (failed,) = report.failed
    assert (failed.name, failed.deleted, report.chunks_deleted) == ("a", 2, 2)


@pytest.mark.filterwarnings("ignore::oprag.errors.OpragWarning")
def test_of_a_document_that_was_not_stored_all_is_still_there():
    store = FakeStore(list(filled("a")))

    report = attempt([document("a", ["bad"])], store, Particular(store))

    assert [(one.name, one.deleted) for one in report.failed] == [("a", None)]
    assert content(store) == expected(*full("a"))


@pytest.mark.parametrize("halfway", [0, 1])
@pytest.mark.parametrize("first", range(8))
def test_a_failure_that_the_second_attempt_mends_changes_no_count(first, halfway):
    wanted = [*changed("ab"), *full("cd")]
    reports = []
    for failing in (Failing(99, 0, 0), Failing(first, 1, halfway)):
        store = FailingStore(list(filled("abc")))
        store.failing = failing
        writer = FailingWriter(store, failing)
        reports.append(update_index(wanted, store, writer, batch_size=3))

    assert reports[1] == reports[0]


def test_documents_before_an_error_that_ends_the_run_are_written():
    store = FakeStore()

    with pytest.raises(InvalidOptionError, match="'a' comes twice"):
        update_index([*full("ab"), *full("a")], store, FakeWriter(store))

    assert content(store) == expected(*full("ab"))
