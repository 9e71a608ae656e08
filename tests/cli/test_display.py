"""What the demo shows of one question, and where chunks lie in a document."""

from __future__ import annotations

import io
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from oprag import order_context
from oprag.cli.display import jumps_back, make_console, marked_cells, question_lines
from oprag.cli.progress import progress_bar
from oprag.cli.retrieving import Retrieved

LENGTH = 144  # so that the strip's 72 cells hold two characters each


def retrieved() -> Retrieved:
    """Chunks of 20 characters at 100, 20, 0 and 60, best first; two of them touch."""
    starts = [100, 20, 0, 60]
    texts = [
        "Fourth" + " " * 14,
        "Second-----   x     ",
        f"First{'':15}",
        f"{'Third':20}",
    ]
    passages = order_context(
        texts,
        [{"source": "a.txt", "start_index": start} for start in starts],
        merge=True,
    )
    return Retrieved("Why?", tuple(passages), (8, 4, 1234), 1246, "")


def lines(**how) -> list[str]:
    return [line.plain for line in question_lines(retrieved(), length=LENGTH, **how)]


def test_the_whole_view():
    assert lines() == [
        "By score: as retrieval returns them, jumping back 2 times",
        "    1  ···■   Fourth",
        "    2  ·■·· ↑ Second x",
        "    3  ■··· ↑ First",
        "    4  ··■·   Third",
        "",
        "In document order: the same chunks as oprag hands them on",
        "    3  ■···   First",
        "    2  ·■··   Second x",
        "    4  ··■·   Third",
        "    1  ···■   Fourth",
        "",
        "Merged where they touch: 3 passages, 1,246 tokens, each a slice of the text",
        "  [1]  characters    0-40     8 tokens  3+2  First Second x",
        "  [2]  characters   60-80     4 tokens  4    Third",
        "  [3]  characters 100-120  1234 tokens  1    Fourth",
        "",
        "Where they lie: the document from start to end, 144 characters",
        # Characters 0-39, 60-79 and 100-119 of 144, two to a cell.
        f"  {'■' * 20}{'·' * 10}{'■' * 10}{'·' * 10}{'■' * 10}{'·' * 12}",
    ]


def test_it_can_be_drawn_in_ascii():
    drawn = lines(ascii_only=True)

    assert all(line.isascii() for line in drawn)
    assert "    2  .#.. ^ Second x" in drawn


def test_nothing_retrieved_is_shown_as_nothing():
    shown = [
        line.plain for line in question_lines(Retrieved("?", (), (), 0, ""), length=9)
    ]

    assert (
        "Merged where they touch: 0 passages, 0 tokens, each a slice of the text"
        in shown
    )


def test_a_long_text_is_cut_and_its_line_breaks_are_not_shown():
    texts = ["word\n" * 40]
    passages = order_context(texts, [{"source": "a", "start_index": 0}])
    shown = question_lines(Retrieved("?", tuple(passages), (40,), 40, ""), length=200)

    assert shown[1].plain == "    1  ■   " + "word " * 11 + "word…"


def test_the_same_chunk_has_the_same_colour_in_both_orders():
    def colours(part):
        return {line.plain.split()[0]: line.style for line in part}

    drawn = question_lines(retrieved(), length=LENGTH)

    assert colours(drawn[1:5]) == colours(drawn[7:11])
    assert len(set(colours(drawn[1:5]).values())) == 4


def test_without_a_terminal_a_console_is_100_columns_wide_and_plain(capsys):
    console = make_console()
    console.print("[bold red]word[/] " * 30)

    printed = capsys.readouterr().out
    assert max(map(len, printed.splitlines())) in range(90, 101)
    assert "\x1b" not in printed


def test_progress_is_drawn_on_a_terminal():
    screen = io.StringIO()
    console = Console(file=screen, force_terminal=True, width=80)

    with progress_bar(console, "Indexing", 130) as report:
        report(64)
        report(130)

    drawn = re.sub(r"\x1b\[[\d;?]*\w", "", screen.getvalue())
    assert "Indexing" in drawn
    assert "130/130" in drawn


@pytest.mark.parametrize("reports", [[], [64]])
def test_no_progress_is_drawn_elsewhere_or_for_nothing(reports):
    file = io.StringIO()

    with progress_bar(Console(file=file), "Indexing", 130) as report:
        for done in reports:
            report(done)

    assert file.getvalue() == ""


def test_no_bar_is_drawn_when_there_is_nothing_to_do():
    screen = io.StringIO()

    with progress_bar(Console(file=screen, force_terminal=True), "Indexing", 130):
        pass

    assert "Indexing" not in screen.getvalue()


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
