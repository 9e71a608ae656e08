"""The command line. Nothing imports it but the script `oprag`."""

from __future__ import annotations

import io
import logging
import sys

__all__ = ["main"]

INTERRUPTED = 130
"""Exit code after Ctrl-C, as shells have it."""


def main() -> None:
    """Run the command line; the entry point of the script `oprag`."""
    # A terminal that lacks a character shows a question mark, not a traceback.
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
            if sys.platform == "win32" and not stream.isatty():
                stream.reconfigure(encoding="utf-8")  # else most scripts were lost
    # Packages log for programmers, and their lines may hold a server's own words.
    logging.getLogger().addHandler(logging.NullHandler())
    sys.unraisablehook = lambda _: None  # the same, as of Ctrl-C in a destructor
    try:
        from oprag_cli.app import app

        app(prog_name="oprag")
    except KeyboardInterrupt:  # while packages are imported, and commands are made
        sys.stderr.write("Error: Stopped.\n")
        sys.exit(INTERRUPTED)
    except ModuleNotFoundError as error:
        if error.name != "typer":
            raise
        sys.exit(
            "The command line of oprag needs the package 'typer'. "
            'Install it with: pip install "oprag[cli]"'
        )
