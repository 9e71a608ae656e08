"""A run whose documents are written in parts does what one run does."""

from __future__ import annotations

import itertools
import pickle
import warnings
from collections.abc import Iterator, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oprag.documents import StoredChunk
from oprag.errors import (
    IndexingError,
    InvalidOptionError,
    OpragError,
    OpragWarning,
    UnreadableFileError,
)
from oprag.indexing import (
    GivenNames,
    IndexingReport,
    Readable,
    SkippedFile,
    WantedDocument,
    WrittenPart,
    update_from_parts,
    update_index,
    write_part,
)
from tests.documents.fake_store import FakeStore, FakeWriter
from tests.indexing.test_emptied import full, holding
from tests.indexing.test_faults import Particular
from tests.indexing.test_updating import content, document

BEFORE = "abcdef"
"""Names of what the store holds."""

CHANGES = {
    "same": lambda name: document(name, [f"{name} 1", "2"]),
    "changed": lambda name: document(name, [f"{name} 1", "3", "4"]),
    "bad": lambda name: document(name, ["bad"]),
    "empty": lambda name: WantedDocument(name, ()),
    "skipped": lambda name: SkippedFile(
        name, UnreadableFileError("no text", path=name, reason="no text")
    ),
}


def parts(
    documents: Sequence[Readable], store: FakeStore, size: int, **options
) -> Iterator[WrittenPart]:
    """Write documents as other processes do."""
    rest = iter(documents)
    while part := list(itertools.islice(rest, size)):
        written = write_part(part, store, Particular(store), **options)
        yield pickle.loads(pickle.dumps(written))  # noqa: S301 -- our own


def outcome(run) -> tuple[str, object]:
    """The report, or what it ends with."""
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always", OpragWarning)
        try:
            report: IndexingReport = run()
        except OpragError as error:
            return type(error).__name__, str(error)
    told = sorted(str(one.message) for one in seen)
    facts = {name: getattr(report, name) for name in vars(report)}
    facts["failed"] = [(type(one), one.name) for one in report.failed]
    facts["skipped"] = [error.path for error in report.skipped]
    return repr(facts), told


# As long as nothing ends a run half-way: how far it comes then depends on the parts.
@given(
    kinds=st.lists(st.sampled_from(sorted(CHANGES)), min_size=1, max_size=8),
    remove_missing=st.sampled_from([False, True, "all"]),
    replace=st.sampled_from(["document", "all"]),
    size=st.integers(1, 4),
)
def test_parts_give_the_store_and_the_report_of_one_run(
    kinds, remove_missing, replace, size
):
    if kinds.count("bad") > 4:
        return
    names = "abcdefgh"[: len(kinds)]
    given_now = [CHANGES[kind](name) for kind, name in zip(kinds, names, strict=True)]
    one, many = holding(BEFORE), holding(BEFORE)
    loose = StoredChunk("c 1", {"source": "c"}, "loose")
    one.rows.append(loose)
    many.rows.append(loose)
    how = {"replace": replace, "batch_size": 3}
    rest = {"remove_missing": remove_missing}

    alone = outcome(
        lambda: update_index(given_now, one, Particular(one), **how, **rest)
    )
    shared = outcome(
        lambda: update_from_parts(
            parts(given_now, many, size, **how), many, Particular(many), **how, **rest
        )
    )

    assert shared == alone
    assert content(many) == content(one)


def test_what_else_the_store_holds_of_a_document_is_counted():
    store = holding("a")
    store.rows.append(StoredChunk("b 1", {"source": "b"}, "loose"))
    with pytest.warns(OpragWarning, match="1 chunks of these documents"):
        report = update_from_parts(
            parts(full("ab"), store, 1), store, FakeWriter(store)
        )

    assert (report.foreign, report.chunks_foreign) == (("b",), 1)


def test_five_that_fail_in_a_row_end_the_run_whoever_wrote_them():
    store = FakeStore()
    bad = [document(name, ["bad"]) for name in "abcdefgh"]
    with pytest.raises(IndexingError, match="5 documents in a row failed") as caught:
        update_from_parts(parts(bad, store, 2), store, FakeWriter(store))

    assert [one.name for one in caught.value.report.failed] == [*"abcde"]


def test_a_part_tells_nothing_of_the_texts():
    store = FakeStore()
    part = write_part(full("a"), store, FakeWriter(store))

    (written,) = part.documents
    assert (part.added, part.deleted) == (2, 0)
    assert [chunk.text for chunk in written.document.chunks] == [""]


def test_a_name_is_given_once():
    names = GivenNames()
    names.note("a")
    with pytest.raises(InvalidOptionError, match="'a' comes twice"):
        names.note("a")
