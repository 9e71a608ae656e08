"""The idea of the project."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oprag.chunk import Chunk
from oprag.errors import InvalidOptionError
from oprag.ordering import document_order, rank_order


def _chunk(text, document="d", rank=0, position=None, **more):
    return Chunk(text, document, rank, position, **more)


def _texts(chunks, **options):
    return [chunk.text for chunk in document_order(chunks, **options)]


def test_chunks_come_back_in_the_order_of_the_document():
    chunks = [
        _chunk(str(n), rank=r, position=(0, n)) for r, n in enumerate((7, 2, 9, 3))
    ]

    assert _texts(chunks) == ["2", "3", "7", "9"]


def test_documents_follow_their_best_chunk_by_default():
    chunks = [
        _chunk("b9", "b", 0, (9,)),
        _chunk("a5", "a", 1, (5,)),
        _chunk("b1", "b", 2, (1,)),
        _chunk("a1", "a", 3, (1,)),
    ]

    assert _texts(chunks) == ["b1", "b9", "a1", "a5"]
    assert _texts(reversed(chunks)) == ["b1", "b9", "a1", "a5"]


def test_documents_can_follow_first_appearance():
    chunks = [_chunk("a", "a", 1, (0,)), _chunk("b", "b", 0, (0,))]

    assert _texts(chunks, document_order="first_seen") == ["a", "b"]
    assert _texts(chunks, document_order="best_rank") == ["b", "a"]


def test_documents_can_follow_the_sum_of_their_scores():
    # Document a has 0.9, document b has 0.5 and 0.5, which is 1.0.
    chunks = [
        _chunk("a", "a", 0, (0,), score=0.9),
        _chunk("b2", "b", 1, (2,), score=0.5),
        _chunk("b1", "b", 2, (1,), score=0.5),
    ]

    assert _texts(chunks, document_order="score_sum") == ["b1", "b2", "a"]


@pytest.mark.parametrize("score", [None, math.nan])
def test_a_sum_of_scores_needs_all_of_them(score):
    chunks = [_chunk("a", "a", 0, (0,), score=0.9), _chunk("b", "b", 1, score=score)]

    with pytest.raises(InvalidOptionError, match="score_sum") as caught:
        document_order(chunks, document_order="score_sum")
    assert caught.value.option == "document_order"


def test_documents_can_follow_a_metadata_key_numbers_before_texts():
    years = {"a": "n.d.", "b": 2024, "c": 1999.5}
    chunks = [
        _chunk(name, name, rank, (0,), metadata={"year": year})
        for rank, (name, year) in enumerate(years.items())
    ]

    assert _texts(chunks, document_order="year") == ["c", "b", "a"]


texts_of_numbers = [str, " {} ".format, "{}.0".format]
number_types = [int, float, Decimal, Fraction, np.int8, np.int64, np.float32]


@given(
    st.lists(
        st.tuples(
            st.integers(-20, 20), st.sampled_from([*number_types, *texts_of_numbers])
        ),
        min_size=2,
        max_size=9,
    )
)
def test_documents_follow_a_key_as_numbers_whatever_their_type(numbers):
    chunks = [
        _chunk(str(rank), str(rank), rank, (0,), metadata={"year": kind(number)})
        for rank, (number, kind) in enumerate(numbers)
    ]
    ranks = sorted(range(len(numbers)), key=lambda rank: (numbers[rank][0], rank))

    assert _texts(chunks, document_order="year") == list(map(str, ranks))


@given(st.permutations(["x", "9", 10, "10.5", np.int64(11), "1e1", "2024-01-02", "²"]))
def test_numbers_of_all_types_stand_before_texts_in_one_order(years):
    chunks = [
        _chunk(str(year), str(year), rank, (0,), metadata={"year": year})
        for rank, year in enumerate(years)
    ]

    assert _texts(chunks, document_order="year") == [
        *("9", "10", "10.5", "11"),
        *("1e1", "2024-01-02", "x", "²"),
    ]


@pytest.mark.parametrize("missing", [None, math.nan, np.float32("nan"), Decimal("nan")])
def test_a_metadata_key_without_a_value_is_an_error(missing):
    chunks = [
        _chunk("a", "a", 0, (0,), metadata={"year": missing}),
        _chunk("b", "b", 1, (0,), metadata={"year": 3}),
    ]

    with pytest.raises(InvalidOptionError, match="does not have it"):
        document_order(chunks, document_order="year")


def test_a_metadata_key_that_is_absent_is_an_error():
    chunks = [_chunk("a", "a", 0, (0,)), _chunk("b", "b", 1, (0,))]

    with pytest.raises(InvalidOptionError, match="best_rnak"):
        document_order(chunks, document_order="best_rnak")


def test_chunks_without_position_come_last_by_rank():
    chunks = [
        _chunk("x", rank=2),
        _chunk("y", rank=1),
        _chunk("z", rank=3, position=(4,)),
    ]

    assert _texts(chunks) == ["z", "y", "x"]


def test_rank_order_is_the_retrievers_own():
    chunks = [_chunk("b", rank=1, position=(0,)), _chunk("a", rank=0, position=(9,))]

    assert [chunk.text for chunk in rank_order(chunks)] == ["a", "b"]


numbers = st.integers(0, 5)
chunk_lists = st.lists(
    st.tuples(st.sampled_from("xyz"), st.none() | st.tuples(numbers, numbers))
).map(
    lambda items: [
        _chunk(str(rank), document, rank, position)
        for rank, (document, position) in enumerate(items)
    ]
)


@given(chunk_lists)
def test_it_equals_a_brute_force_selection_sort(chunks):
    def comes_before(left, right):
        if left.document != right.document:
            best = {c.document: c.rank for c in reversed(chunks)}
            return best[left.document] < best[right.document]
        if left.position != right.position:
            if left.position is None or right.position is None:
                return right.position is None
            return left.position < right.position
        return left.rank < right.rank

    left, expected = list(chunks), []
    while left:
        first = next(c for c in left if not any(comes_before(o, c) for o in left))
        expected.append(first)
        left.remove(first)

    assert document_order(chunks) == expected
