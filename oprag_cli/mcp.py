"""`oprag mcp`: your files, for clients of the Model Context Protocol."""

from __future__ import annotations

import sys
from io import TextIOWrapper
from typing import Annotated

import typer

from oprag_cli.options import FolderOrIndex, ServeOptions, check_paths, takes

_PATIENCE = 30.0
"""Seconds that a call waits for documents that are being opened; clients wait 60."""


@takes(ServeOptions)
def mcp(
    path: FolderOrIndex,
    *,
    http: Annotated[
        int | None,
        typer.Option(
            "--http",
            metavar="PORT",
            min=1,
            max=65535,
            help="Listen on this port of this machine, at /mcp, instead of reading "
            "standard input.",
            show_default=False,
        ),
    ] = None,
    options: ServeOptions,
) -> None:
    """Let assistants and agents read your files (MCP).

    Four tools, which only read: search, read, outline, documents. The files are indexed
    while the client is already connected; the index is used again until one of them
    changes. Needs no chat model, and sends text to the client alone.

    \b
      oprag mcp notes/
      oprag mcp chroma/ --collection notes --widen fill
      oprag mcp notes/ --http 8321
    """  # noqa: D301 -- Click leaves paragraphs alone that begin with this character
    check_paths(path)

    from oprag_cli.librarian import librarian_of

    librarian = librarian_of(path, options, patience=_PATIENCE)
    from oprag_cli.mcp_server import StandardInput, make_server

    server = make_server(
        librarian,
        token_budget=options.token_budget,
        widen=options.widen,  # type: ignore[arg-type]  # checked by the option's callback
    )
    if http is None:
        librarian.start()
        sys.stdin = TextIOWrapper(StandardInput(sys.stdin.buffer), "utf-8")
        server.run("stdio")
        return

    from oprag_cli.guard import Guard
    from oprag_cli.listener import listen, run_server

    listener = listen("127.0.0.1", http, "Give --http another port.")
    librarian.start()
    run_server(Guard(server.streamable_http_app(), http), listener)
