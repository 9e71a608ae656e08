"""A document that is empty counts as one that is not given."""

from __future__ import annotations

import itertools
from contextlib import suppress

from hypothesis import given
from hypothesis import strategies as st

from oprag.errors import InvalidOptionError
from oprag.indexing import WantedDocument, update_index
from tests.documents.fake_store import FakeStore, FakeWriter
from tests.indexing.test_faults import attempt
from tests.indexing.test_update import expected, full, stored
from tests.kit.interrupted import content


def empty(names: str) -> list[WantedDocument]:
    return [WantedDocument(name, ()) for name in names]


def holding(names: str, kind: type[FakeStore] = FakeStore) -> FakeStore:
    return kind(list(itertools.chain(*map(stored, full(names)))))


def test_without_remove_missing_it_keeps_its_chunks_and_is_listed():
    store = holding("abcd")

    report = update_index([*empty("ab"), *full("c")], store, FakeWriter(store))

    assert (report.empty, report.removed, report.failed) == (("a", "b"), (), ())
    assert content(store) == expected(*full("abcd"))


letters = st.lists(st.sampled_from("abcdef"), unique=True)


@given(before=letters, gone=letters, others=letters, batch_size=st.integers(1, 5))
def test_no_run_deletes_more_than_half_unless_all_may(before, gone, others, batch_size):
    store = holding("".join(before))
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

    held = {row.metadata.get("doc_uri") for row in store.rows}
    assert 2 * len({*before} - held) <= len(before)
    assert held >= {*rest}
