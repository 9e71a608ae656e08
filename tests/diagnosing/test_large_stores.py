"""A store of any size is read once, in little memory, and judged as a small one is."""

from __future__ import annotations

import random
import tracemalloc
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oprag.diagnosing import Diagnosis, diagnose, plan_repair
from oprag.diagnosing.doctor import diagnose_sample
from oprag.diagnosing.sampling import take_sample
from oprag.diagnosing.spooled import IN_MEMORY, Spooled
from oprag.documents import ForeignChunks, StoredChunk, stored_hit
from oprag.metadata import STAMP_KEYS, document_key
from tests.diagnosing.test_wholeness import stored, without
from tests.documents.damages import damaged
from tests.kit.effort import cases

PER_DOCUMENT = 10
LETTERS = "abcdefghij" * 100


def examined(chunks, in_memory: int, documents=None) -> Diagnosis:
    return diagnose_sample(take_sample(chunks, None, in_memory=in_memory), documents)


def many(documents: int, seed: int = 0) -> Iterator[StoredChunk]:
    """Chunks of a thousand characters, made as they are read, in no order."""
    places = [divmod(i, PER_DOCUMENT) for i in range(documents * PER_DOCUMENT)]
    random.Random(seed).shuffle(places)  # noqa: S311 -- not for security
    for number, index in places:
        name = f"folder/document-{number}.txt"
        start = index * len(LETTERS)
        metadata = {
            "doc_key": document_key(name),
            "source": name,
            "chunk_index": index,
            "n_chunks": PER_DOCUMENT,
            "char_start": start,
            "char_end": start + len(LETTERS),
        }
        text = f"{number:6} {index:3}".ljust(len(LETTERS), "x")
        yield StoredChunk(text, metadata, f"{number}-{index}")


@settings(max_examples=cases(60))
@given(seed=st.integers(0, 2**32))
def test_chunks_that_lie_in_a_file_are_judged_as_those_in_memory(seed):
    rng = random.Random(seed)  # noqa: S311 -- damage, no secret
    chunks, documents = [], {}
    for number in range(rng.randint(1, 3)):
        name = rng.choice(["lease.pdf", "docs/lease.pdf", "b.txt"])
        case = damaged(name, rng, foreign=rng.random() < 0.5, size_too=False)
        left = without(case.chunks, *rng.choice([(), STAMP_KEYS, ("doc_key",)]))
        chunks += [c._replace(id=f"{number}-{i}") for i, c in enumerate(left)]
        documents[case.name] = case.texts[0]
    rng.shuffle(chunks)

    for texts in (None, documents):
        assert examined(iter(chunks), 0, texts) == diagnose(chunks, documents=texts)


def test_ten_times_the_chunks_take_the_same_memory_but_for_some_for_each_document():
    def peak(documents: int) -> int:
        tracemalloc.start()
        found = examined(many(documents), in_memory=100)
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert found.verdict == "ordered"
        assert found.chunks == documents * PER_DOCUMENT
        return most

    few, lots = peak(30), peak(300)

    assert (lots - few) / 270 < 4_000  # of 10,000 characters each


def test_a_file_gives_back_what_was_put_in_and_the_metadata_that_no_file_takes():
    chunks = stored()
    odd = chunks[1]._replace(metadata={**chunks[1].metadata, "function": lambda: None})
    given = iter([chunks[0], odd, *chunks[2:]])
    taken = take_sample(given, None, in_memory=1).chunks

    assert [chunk.hit.source for chunk in taken] == [chunks[0], odd, *chunks[2:]]
    assert taken[-1].id == chunks[-1].id
    with pytest.raises(IndexError):
        taken[len(chunks)]
    assert taken[1:3] == [taken[1], taken[2]]
    assert not Spooled()


def test_names_that_end_alike_are_found_among_many_of_one_file_name():
    names = [f"site/{number}/index.html" for number in range(3_000)]
    chunks = [
        stored("The rent is 900.", name)[0] for name in ("index.html", "b/index.html")
    ]
    others = [
        StoredChunk("The rent is 900.", {"source": name}, name)
        for name in [*names, "/home/b/index.html"]
    ]
    copies = ForeignChunks(map(stored_hit, [*chunks, *others]))

    def found(name, chunk):
        return {hit.source.id for hit in copies.of(name, [chunk])}

    assert found("b/index.html", chunks[1]) == {"/home/b/index.html"}
    assert found("index.html", chunks[0]) == {*names, "/home/b/index.html"}


@pytest.mark.slow
def test_a_plan_that_is_long_lies_in_a_file_too_and_keeps_the_order_of_documents():
    text = "".join(f"Line {number} of the lease.\n" for number in range(25))
    names = [f"{number}.txt" for number in range(IN_MEMORY // 25 + 10)]
    chunks = [
        StoredChunk(line, {"source": name}, f"{name} {number}")
        for number, line in enumerate(text.splitlines(keepends=True))
        for name in names
    ]

    plan = plan_repair(iter(chunks), dict.fromkeys(names, text))

    assert not isinstance(plan.changes, tuple)
    assert len(plan.changes) == len(chunks)
    assert list(dict.fromkeys(change.document for change in plan.changes)) == names
    assert [change.update["chunk_index"] for change in plan.changes[-25:]] == [
        *range(25)
    ]
    assert plan.unproved == ()
