"""`oprag serve`: your files, for applications with an External Knowledge API."""

from __future__ import annotations

from typing import Annotated

import typer

from oprag_cli.messages import note, stop
from oprag_cli.options import FolderOrIndex, ServeOptions, check_paths, takes

_SHORTEST = 16
"""Characters of a key that is not guessed."""
_PATIENCE = 3.0
"""Seconds to wait for documents that are being opened; Dify waits 5 for an answer."""
_LOOPBACK = ("127.0.0.1", "::1", "localhost")


@takes(ServeOptions)
def serve(
    path: FolderOrIndex,
    *,
    api_key: Annotated[
        str,
        typer.Option(
            envvar="OPRAG_API_KEY",
            help="The key that the application has to send. Others on this machine see "
            "what is on a command line: set the variable.",
            show_default=False,
        ),
    ] = "",
    host: Annotated[
        str,
        typer.Option(
            help="The address to listen at; this machine alone reaches the default."
        ),
    ] = "127.0.0.1",
    port: Annotated[
        int, typer.Option(min=1, max=65535, help="The port to listen at.")
    ] = 8322,
    options: ServeOptions,
) -> None:
    """Let Dify search your files, as external knowledge.

    Answers POST /retrieval, the contract of its External Knowledge API, with passages
    in document order. It only reads. The files are indexed while it already listens;
    the index is used again until one of them changes. Needs no chat model.

    \b
      export OPRAG_API_KEY=$(openssl rand -hex 16)
      oprag serve notes/ --widen fill
      oprag serve chroma/ --collection notes --host 0.0.0.0
    """  # noqa: D301 -- Click leaves paragraphs alone that begin with this character
    sound = len(api_key) >= _SHORTEST and api_key.isascii() and api_key.isprintable()
    if not sound or " " in api_key:
        message = (
            f"The key that applications have to send needs at least {_SHORTEST} "
            "letters, digits and signs, without blanks. Set the variable "
            "OPRAG_API_KEY, such as to what `openssl rand -hex 16` prints."
        )
        raise stop(message, 2)
    check_paths(path)

    from oprag_cli.librarian import librarian_of
    from oprag_cli.listener import listen, run_server

    librarian = librarian_of(path, options, patience=_PATIENCE)
    from oprag_cli.retrieval_server import make_app

    name = options.collection or path.resolve().name or "documents"
    app = make_app(
        librarian,
        name=name,
        api_key=api_key,
        token_budget=options.token_budget,
        widen=options.widen,  # type: ignore[arg-type]  # checked by the option's callback
    )
    host = host.strip() or "127.0.0.1"  # an empty address would mean all of them
    listener = listen(host, port, "Give another --port, or --host.")
    if host not in _LOOPBACK:
        note(f"Anyone who reaches {host} and knows the key can search {path}.")
    shown = f"[{host}]" if ":" in host else host
    typer.echo(
        f"Listening: http://{shown}:{port}, External Knowledge ID: {name}", err=True
    )
    librarian.start()
    run_server(app, listener, lifespan="off")
