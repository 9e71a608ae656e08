"""A store is brought up to date, wherever it was stopped before."""

import itertools
import warnings
from collections.abc import Sequence
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oprag.documents import rebuild
from oprag.errors import InvalidOptionError, PositionWarning, UnreadableFileError
from oprag.indexing import RunOptions, WantedChunk, WantedDocument, update_index
from oprag.indexing.plan import IndexingPlan
from oprag.indexing.plan import plan as plan_of
from oprag.metadata import document_key, document_version, make_named_id, text_stamp
from oprag.stores import StoredChunk
from tests.kit.fake_store import FakeStore, FakeWriter, Stopped
from tests.kit.interrupted import content

KEY = document_key("a.txt")


def document(
    name: str, texts: Sequence[str], **metadata: str | float
) -> WantedDocument:
    """A document as its chunks' texts, with ids as indexing gives them."""
    whole = "".join(texts)
    version = document_version("settings", [whole])
    chunks = []
    for index, text in enumerate(texts):
        start = sum(map(len, texts[:index]))
        own = {
            "doc_key": document_key(name),
            "doc_uri": name,
            "doc_version": version,
            "chunk_index": index,
            "n_chunks": len(texts),
            "char_start": start,
            "char_end": start + len(text),
            **({} if index else text_stamp(whole)),
        }
        entry = {**metadata, **own}
        chunk = make_named_id(f"{name} {text} {sorted(entry.items())}")
        chunks.append(WantedChunk(chunk, text, entry))
    return WantedDocument(name, chunks)


def plan(key: str, wanted, present) -> IndexingPlan:
    return plan_of(key, wanted, present, RunOptions())


def stored(wanted: WantedDocument) -> list[StoredChunk]:
    return [StoredChunk(c.text, dict(c.metadata), c.id) for c in wanted.chunks]


def full(names: str) -> list[WantedDocument]:
    return [document(name, [f"{name} 1", "2"]) for name in names]


def expected(*documents: WantedDocument) -> list[tuple[str, str, list]]:
    rows = itertools.chain(*map(stored, documents))
    return content(FakeStore(list(rows)))


@pytest.mark.parametrize("given_back", [float, int], ids=["as float", "as integer"])
def test_numbers_are_compared_as_numbers(given_back):
    wanted = document("a.txt", ["one"], year=1990, big=2**53 + 1)
    (row,) = stored(wanted)
    numbers = {
        key: given_back(value) if isinstance(value, int) else value
        for key, value in row.metadata.items()
    }

    assert plan(KEY, wanted.chunks, [row._replace(metadata=numbers)]).unchanged == 1


@pytest.mark.parametrize(
    ("key", "value", "replaced"),
    [
        ("_id", "x", False),  # Qdrant's
        ("pk", 3, False),  # Milvus's
        ("ref_doc_id", "None", False),  # LlamaIndex's
        ("reviewed", True, False),  # an application's
        ("part_index", None, False),  # a column that this chunk has nothing in
        ("part_index", 0, True),
        ("nonspace_hash", "x", True),
    ],
)
def test_what_a_store_or_an_application_adds_is_no_change_unless_it_is_oprag_s(
    key, value, replaced
):
    wanted = document("a.txt", ["one"])
    (row,) = stored(wanted)
    found = row._replace(metadata={**row.metadata, key: value})

    todo = plan(KEY, wanted.chunks, [found])

    assert bool(todo.add) is replaced


@pytest.mark.parametrize("key", ["year", "author"])
def test_metadata_that_is_missing_or_differs_is_a_change(key):
    wanted = document("a.txt", ["one"], year=1990, author="Swift")
    (row,) = stored(wanted)
    without = {k: v for k, v in row.metadata.items() if k != key}
    others = [{**row.metadata, key: value} for value in ("1990", 5, [1.5], None)]

    for metadata in (without, *others):
        altered = [row._replace(metadata=metadata)]
        assert len(plan(KEY, wanted.chunks, altered).add) == 1


def recut(wanted: WantedDocument, middle: str) -> list[WantedChunk]:
    """The same text cut otherwise, by a splitter that does not say so."""
    texts = [wanted.chunks[0].text + middle, wanted.chunks[1].text[len(middle) :]]
    (first, second) = wanted.chunks
    length = len(texts[0])
    return [
        first._replace(text=texts[0], metadata={**first.metadata, "char_end": length}),
        second._replace(
            text=texts[1], metadata={**second.metadata, "char_start": length}
        ),
    ]


def test_another_chunk_under_an_id_stays_until_the_new_one_is_there():
    before = document("a.txt", ["one two ", "three four"])
    wanted = recut(before, "three ")

    todo = plan(KEY, wanted, stored(before))

    assert [chunk.text for chunk in todo.add] == ["one two three ", "four"]
    assert not {chunk.id for chunk in todo.add} & set(todo.delete)
    assert set(todo.delete) == {chunk.id for chunk in before.chunks}
    after = stored(WantedDocument("a.txt", todo.add))
    assert plan(KEY, wanted, after).is_empty
    stopped = plan(KEY, wanted, [*stored(before), *after])
    assert stopped.add == ()
    assert set(stopped.delete) == {chunk.id for chunk in before.chunks}


def test_chunks_whose_id_is_not_told_cannot_be_replaced():
    wanted = document("a.txt", ["one"])
    nameless = [row._replace(id="") for row in stored(wanted)]

    with pytest.raises(InvalidOptionError, match="does not give back the ids"):
        plan(KEY, wanted.chunks, nameless)


def test_a_run_reports_what_it_did():
    before = [
        document("changed", ["a", "b"]),
        document("same", ["c"]),
        document("gone", ["d", "e", "f"]),
        document("emptied", ["g"]),
        document("kept", ["h"]),
    ]
    store = FakeStore(list(itertools.chain(*map(stored, before))))
    unread = UnreadableFileError("…", path="kept", reason="is binary, not text")
    after = [
        document("changed", ["a", "B"]),
        document("same", ["c"]),
        document("emptied", []),
        document("new", ["i", "j"]),
    ]

    report = update_index(
        [*after, unread], store, FakeWriter(store), remove_missing=True
    )

    assert report.updated == ("changed",)
    assert report.unchanged == ("same",)
    assert report.empty == ("emptied",)
    assert report.added == ("new",)
    assert report.removed == ("emptied", "gone")
    assert report.skipped == (unread,)
    assert (report.chunks_added, report.chunks_deleted) == (2 + 2, 2 + 1 + 3)
    assert report.chunks_unchanged == 1
    assert content(store) == expected(*after, before[-1])


def test_remove_missing_leaves_what_others_keep_in_the_store():
    foreign = [
        StoredChunk("no key", {"source": "x"}, "1"),
        StoredChunk("another meaning", {"doc_key": "7", "doc_uri": "x"}, "2"),
        StoredChunk("no name", {"doc_key": document_key("x")}, "3"),
    ]
    store = FakeStore(foreign)

    update_index([document("a", ["y"])], store, FakeWriter(store), remove_missing=True)

    assert store.rows[:3] == foreign


def test_a_name_that_comes_twice_is_an_error():
    store = FakeStore()
    twice = [document(name, [name]) for name in ("a", "b", "a")]

    with pytest.raises(InvalidOptionError, match="'a' comes twice") as caught:
        update_index(twice, store, FakeWriter(store))
    assert caught.value.value == "a"


def test_batches_hold_no_more_than_asked_and_documents_are_read_one_at_a_time():
    store = FakeStore()
    writer = FakeWriter(store)
    ahead = []

    def given_one_by_one():
        for number in range(20):
            ahead.append(number + 1 - len(store.rows) // 3)
            yield document(f"{number}", ["a", "b", "c"])

    update_index(given_one_by_one(), store, writer, batch_size=7)

    assert writer.largest == 7
    assert len(store.rows) == 60
    assert max(ahead) == 3  # three documents of three chunks fill a batch of seven


texts = st.lists(st.sampled_from("abc"), max_size=4)
versions = st.dictionaries(st.sampled_from(["x", "y", "z"]), texts, max_size=3)
mangled = st.sampled_from(
    [dict, lambda m: {k: float(v) if type(v) is int else v for k, v in m.items()}]
)


@given(
    before=versions,
    after=versions.filter(bool),
    altered=st.booleans(),
    doubled=st.sampled_from(["", "by one id", "copies"]),
    stops=st.lists(st.integers(0, 12), max_size=3),
    batch_size=st.integers(1, 5),
    change=mangled,
    filters=st.booleans(),
)
def test_stopped_anywhere_and_run_again_the_store_is_as_wanted(
    before, after, altered, doubled, stops, batch_size, change, filters
):
    rows = list(itertools.chain(*(stored(document(n, t)) for n, t in before.items())))
    if altered:  # the new chunks' ids are taken, by chunks to be replaced
        rows = [r._replace(metadata={**r.metadata, "token_count": 9}) for r in rows]
    copy = "copy-" if doubled == "copies" else ""
    copies = [row._replace(id=f"{copy}{row.id}") for row in rows] if doubled else []
    store = FakeStore([*rows, *copies], change=change, filters=filters)
    wanted = [document(name, texts) for name, texts in after.items()]

    def run(writer):
        return update_index(
            iter(wanted), store, writer, remove_missing="all", batch_size=batch_size
        )

    for stop in stops:
        with suppress(Stopped):
            run(FakeWriter(store, rows=stop))
        assert_readable(store, before, after)
    run(FakeWriter(store))
    last = FakeWriter(store)
    report = run(last)

    # An id that is taken by another chunk is not given again.
    texts = [
        sorted(row for _, *row in each) for each in (content(store), expected(*wanted))
    ]
    assert texts[0] == texts[1]
    assert last.rows_written == 0
    assert report.chunks_added == report.chunks_deleted == 0


def assert_readable(store, before, after):
    """Every document is its old version or its new one; what goes may be in halves."""
    for name, old in before.items():
        new = after.get(name)
        if old and new:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", PositionWarning)
                text = rebuild(name, store.rows).text
            assert text in {"".join(old), "".join(new or [])}


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"batch_size": 0}, "from 1 on"),
        ({"replace": ["all"]}, "'same_settings'"),
        ({"remove_missing": ["all"]}, "True, False or 'all'"),
    ],
)
def test_options_are_checked(options, said):
    with pytest.raises(InvalidOptionError, match=said):
        update_index([], FakeStore(), FakeWriter(FakeStore()), **options)
