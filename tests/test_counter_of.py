"""Whose a chunk's token count is, where no name stands beside it."""

from __future__ import annotations

import pytest

from oprag.metadata import counter_of, document_key, spelled_out

OURS = {
    "source": "a.txt",
    "doc_key": document_key("a.txt"),
    "doc_version": "123456-123456789012",
    "token_count": 3,
}


def test_a_count_without_a_counter_is_cl100k_on_what_oprag_stamped():
    named = {key: value for key, value in OURS.items() if key != "source"}

    assert counter_of(OURS) == "cl100k_base"
    assert counter_of({**named, "doc_uri": "a.txt"}) == "cl100k_base"
    assert counter_of({**named, "file_path": "a.txt"}) == "cl100k_base"


@pytest.mark.parametrize(
    "change",
    [
        {"source": "b.txt"},
        {"source": ["a.txt"]},
        {"doc_uri": "b.txt"},
        {"doc_key": "a.txt"},
        {"doc_key": 7},
        {"doc_version": "2"},
        {"doc_version": "123456-123456789012-b"},
        {"doc_version": None},
        {"token_counter": "unknown"},
        {"token_counter": ""},
        {"token_counter": []},
    ],
)
def test_on_all_others_nobody_knows_whose_it_is(change):
    metadata = {**OURS, **change}

    assert counter_of(metadata) == ""


def test_a_counter_that_is_named_is_that_one():
    other = {"token_count": 3, "token_counter": "words"}

    assert counter_of(other) == "words"
    assert counter_of({**OURS, **other}) == "words"
    assert counter_of({"token_counter": "words"}) == ""


def test_an_older_chunk_that_names_it_compares_as_the_same():
    older = {**OURS, "token_counter": "cl100k_base"}

    assert spelled_out(older) == spelled_out(OURS)
    assert spelled_out({**OURS, "token_counter": "words"}) != spelled_out(OURS)
