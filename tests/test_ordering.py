"""The idea of the project."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oprag.chunk import Chunk
from oprag.errors import InvalidOptionError
from oprag.ordering import document_order


def _chunk(text, document="d", rank=0, position=None, **more):
    return Chunk(text, document, rank, position, **more)


def _texts(chunks, **options):
    return [chunk.text for chunk in document_order(chunks, **options)]


def test_documents_can_follow_a_function_of_their_chunks_and_ties_the_best_rank():
    chunks = [
        _chunk("b2", "b", 3, (2,), score=0.5),
        _chunk("a", "a", 0, (0,), score=0.9),
        _chunk("b1", "b", 2, (1,), score=0.5),
        _chunk("c", "c", 1, (0,), score=1.0),
    ]
    given = []

    def score_sum(chunks):
        given.append([chunk.text for chunk in chunks])
        return -sum(chunk.score for chunk in chunks)

    assert _texts(chunks, sort_documents=score_sum) == ["c", "b1", "b2", "a"]
    assert given == [["a"], ["c"], ["b1", "b2"]]  # best first


@pytest.mark.parametrize(
    "order",
    [
        lambda chunks: chunks[0].metadata["year"],
        lambda chunks: chunks[0].score,
        lambda chunks: math.nan,
    ],
)
def test_a_function_that_fails_or_gives_what_cannot_be_sorted_is_an_error(order):
    chunks = [_chunk("a", "a", 0, (0,), score=0.9), _chunk("b", "b", 1, (0,))]

    with pytest.raises(InvalidOptionError, match="sort_documents=") as caught:
        document_order(chunks, sort_documents=order)
    assert isinstance(caught.value.__cause__, (KeyError, TypeError, ValueError))


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
        if left.document_key != right.document_key:
            best = {c.document_key: c.rank for c in reversed(chunks)}
            return best[left.document_key] < best[right.document_key]
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
