"""Consoles and bars."""

from __future__ import annotations

import io
import re

import pytest
from rich.console import Console

from oprag.cli.demo import jumps_back
from oprag.cli.display import make_console, progress_bar


def test_without_a_terminal_a_console_is_100_columns_wide_and_plain(capsys):
    console = make_console()
    console.print("[bold red]word[/] " * 30)

    printed = capsys.readouterr().out
    assert max(map(len, printed.splitlines())) in range(90, 101)
    assert "\x1b" not in printed


def test_progress_is_drawn_on_a_terminal():
    screen = io.StringIO()
    console = Console(file=screen, force_terminal=True, width=80)

    with progress_bar(console, "Indexing") as report:
        report(64, 130)
        report(130, 130)

    drawn = re.sub(r"\x1b\[[\d;?]*\w", "", screen.getvalue())
    assert "Indexing" in drawn
    assert "130/130" in drawn


@pytest.mark.parametrize("reports", [[], [64]])
def test_no_progress_is_drawn_elsewhere(reports):
    file = io.StringIO()

    with progress_bar(Console(file=file), "Indexing") as report:
        for done in reports:
            report(done, 130)

    assert file.getvalue() == ""


def test_a_reader_goes_back_where_a_start_is_before_the_last_one():
    assert jumps_back([30, 10, 20, 20, 0]) == [False, True, False, False, True]
