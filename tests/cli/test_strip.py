"""Which cells a span marks, and where a reader must go back."""

from hypothesis import given
from hypothesis import strategies as st

from oprag.cli.display import jumps_back, marked_cells


def test_a_span_marks_the_cells_that_hold_its_characters():
    # 100 characters in 10 cells of 10: characters 25-39 lie in cells 2 and 3.
    assert marked_cells([(25, 40)], 100, 10) == [None, None, 0, 0, *[None] * 6]


def test_a_cell_belongs_to_the_first_of_several_spans():
    assert marked_cells([(0, 5), (5, 30)], 40, 4) == [0, 1, 1, None]


def test_an_empty_span_marks_nothing():
    assert marked_cells([(5, 5)], 10, 5) == [None] * 5
    assert marked_cells([(0, 0)], 0, 5) == [None] * 5


@given(st.data())
def test_the_marks_are_those_of_counting_every_character(data):
    length = data.draw(st.integers(1, 60))
    cells = data.draw(st.integers(1, 80))
    ends = st.tuples(st.integers(0, length), st.integers(0, length)).map(sorted)
    spans = data.draw(st.lists(ends.map(tuple), max_size=4))

    counted = [None] * cells
    for index, (start, end) in reversed(list(enumerate(spans))):
        for character in range(start, end):
            counted[character * cells // length] = index

    # A span longer than a character per cell skips none between its ends.
    marked = marked_cells(spans, length, cells)
    if cells <= length:
        assert marked == counted
    assert all(
        marked[i] is not None for i, mark in enumerate(counted) if mark is not None
    )


def test_a_reader_goes_back_where_a_start_is_before_the_last_one():
    assert jumps_back([30, 10, 20, 20, 0]) == [False, True, False, False, True]


@given(st.lists(st.integers(0, 100)))
def test_in_document_order_nobody_goes_back(starts):
    assert not any(jumps_back(sorted(starts)))
