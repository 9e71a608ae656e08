"""Errors and notes on stderr: one line each; on a terminal, lines that fit it."""

from __future__ import annotations

import shutil
import sys
import textwrap
from typing import Any

import typer

_LONGEST_TOLD = 1_000
"""Characters of a message to a client."""


def stop(message: str, code: int = 1) -> typer.Exit:
    """Print an error, and return the exit to raise.

    Args:
        message: The problem, and the way out of it.
        code: The exit code: 1, or 2 for a command that was given wrongly.
    """
    _print("Error:", message, fg="red", bold=True)
    return typer.Exit(code)


def note(message: str) -> None:
    """Print a note, without ending the command."""
    _print("Note:", message, fg="yellow")


def tell_client(message: str) -> str:
    """Return a message as a client of a server gets it.

    Returns:
        One line without secrets, of at most `_LONGEST_TOLD` characters, even if it
        repeats a long request. It keeps its end, which says the way out.
    """
    from oprag.calls import hide_secrets
    from oprag.citations import as_line

    return as_line(hide_secrets(message), _LONGEST_TOLD)


def _print(label: str, message: str, **style: Any) -> None:
    from oprag.calls import hide_secrets, well_formed
    from oprag.citations import as_line

    words = well_formed(" ".join([label, *message.split()]))
    line = hide_secrets(as_line(words, None))
    if sys.stderr.isatty():  # which would break lines inside words
        columns = shutil.get_terminal_size().columns
        line = textwrap.fill(
            line, columns, break_long_words=False, break_on_hyphens=False
        )
    shown = typer.style(label, **style) + line.removeprefix(label)
    typer.echo(shown, err=True)
