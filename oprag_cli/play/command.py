"""The command `oprag play`: its options, and how the page is served."""

from __future__ import annotations

import webbrowser
from pathlib import Path
from threading import Timer
from typing import Annotated

import typer

from oprag_cli.options import (
    DEFAULT_EMBEDDING_MODEL,
    ChatModelName,
    Directory,
    EmbeddingModel,
    cache_folder,
)

_HOST = "127.0.0.1"
_UNTIL_IT_LISTENS = 1.0
"""Seconds until the browser is opened."""


def play(
    files: Annotated[
        list[Path] | None,
        typer.Argument(
            exists=True,
            metavar="FILE",
            help="Text, Markdown, HTML, PDF and Word files, or folders of them; more "
            "can be dropped on the page.",
            show_default=False,
        ),
    ] = None,
    *,
    model: ChatModelName = "",
    embedding_model: EmbeddingModel = DEFAULT_EMBEDDING_MODEL,
    directory: Directory = None,
    port: Annotated[
        int,
        typer.Option(
            min=0, max=65535, help="The port to listen at; 0 for any that is free."
        ),
    ] = 8323,
    browser: Annotated[
        bool, typer.Option("--browser/--no-browser", help="Open the page in a browser.")
    ] = True,
) -> None:
    """Open a page to ask questions on, and see what order does.

    With a chat model there are two answers side by side, from the same passages: best
    first, and in the order the author wrote them. A click leads to the place in the
    source. The page is on this machine alone, and no text leaves it, unless you name a
    chat model: it is sent each question with its passages.

    \b
      oprag play
      oprag play report.pdf notes/
      oprag play report.pdf --model openai:gpt-4o-mini
    """  # noqa: D301 -- Click leaves paragraphs alone that begin with this character
    if model:
        from oprag_cli.ask import check_model

        check_model(model)
    import nicegui  # noqa: F401 -- before anything is read: it may not be installed

    from oprag_cli.listener import listen, run_server
    from oprag_cli.play.dropped import end_in_good_order, sweep
    from oprag_cli.play.server import make_app
    from oprag_cli.play.workshop import Workshop

    listener = listen(_HOST, port, "Give another --port, or 0 for any that is free.")
    sweep()
    with end_in_good_order():
        workshop = Workshop(
            paths=files or [],
            embedding_model=embedding_model,
            folder=directory or cache_folder(),
            chat_model=model,
        )
        try:
            port = listener.getsockname()[1]
            address = f"http://{_HOST}:{port}"
            typer.echo(f"The page: {address} (Ctrl-C ends it)", err=True)
            if browser:
                opening = Timer(_UNTIL_IT_LISTENS, webbrowser.open, [address])
                opening.daemon = True
                opening.start()
            run_server(make_app(workshop, port), listener)
        finally:
            workshop.close()
