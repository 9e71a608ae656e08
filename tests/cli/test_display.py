"""Consoles and bars."""

import io
import re

import pytest
from rich.console import Console

from oprag_cli.demo import jumps_back
from oprag_cli.display import make_console, progress_bar
from oprag_cli.messages import stop


def test_without_a_terminal_a_console_is_100_columns_wide_and_plain(capsys):
    console = make_console()
    console.print("[bold red]word[/] " * 30)

    printed = capsys.readouterr().out
    assert max(map(len, printed.splitlines())) in range(90, 101)
    assert "\x1b" not in printed


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(("screen", "lines"), [(Terminal, 4), (io.StringIO, 1)])
def test_an_error_breaks_between_words_on_a_terminal_and_nowhere_else(
    screen, lines, monkeypatch
):
    monkeypatch.setenv("COLUMNS", "30")
    monkeypatch.setattr("sys.stderr", written := screen())

    stop("/a/long/path/that/has/no/blank/in/it.txt is not well-formed text: it ends.")

    shown = re.sub(r"\x1b\[[\d;]*m", "", written.getvalue())
    assert len(shown.splitlines()) == lines
    assert "well-formed" in shown
    assert "/a/long/path/that/has/no/blank/in/it.txt" in shown


def test_progress_is_drawn_on_a_terminal():
    screen = io.StringIO()
    console = Console(file=screen, force_terminal=True, width=80)

    with progress_bar(console, "Indexing files", ["a/b.txt", "a/[1].txt"]) as report:
        report(1, 2, 1_300)

    drawn = re.sub(r"\x1b\[[\d;?]*\w", "", screen.getvalue())
    assert re.search(r"Indexing files .* 1/2 .* \[1\]\.txt, 1,300 chunks", drawn)


@pytest.mark.parametrize("reports", [[], [64]])
def test_no_progress_is_drawn_elsewhere(reports):
    file = io.StringIO()

    with progress_bar(Console(file=file), "Indexing") as report:
        for done in reports:
            report(done, 130)

    assert file.getvalue() == ""


def test_a_reader_goes_back_where_a_start_is_before_the_last_one():
    assert jumps_back([30, 10, 20, 20, 0]) == [False, True, False, False, True]
