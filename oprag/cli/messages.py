"""Errors and notes as one line each on stderr."""

from __future__ import annotations

import typer


def stop(message: str, code: int = 1) -> typer.Exit:
    """Print an error; return the exit to raise.

    Args:
        message: What was found and what to do.
        code: The exit code: 1, or 2 for a command that was given wrongly.
    """
    label = typer.style("Error: ", fg="red", bold=True)
    typer.echo(label + _one_line(message), err=True)
    return typer.Exit(code)


def note(message: str) -> None:
    """Print a note; the command goes on."""
    typer.echo(typer.style("Note: ", fg="yellow") + _one_line(message), err=True)


def _one_line(message: str) -> str:
    from oprag.calls import well_formed, without_secrets

    return without_secrets(well_formed(" ".join(message.split())))
