"""Listening of the commands that serve: one socket, one server, a short farewell."""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING, Any

from oprag.cli.messages import stop

if TYPE_CHECKING:
    from starlette.types import ASGIApp

_FAREWELL = 3
"""Seconds that requests have to end in, when the server is stopped."""


def listen(host: str, port: int, way_out: str) -> socket.socket:
    """Open the socket of a server.

    Args:
        host: The address.
        port: The port; 0 for any that is free.
        way_out: What to do where it cannot be opened.

    Raises:
        typer.Exit: With code 2: it cannot be opened.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family)
    except OSError as error:
        reason = error.strerror or error
        message = f"It cannot listen at {host}, port {port}: {reason}. {way_out}"
        raise stop(message, 2) from error


def run_server(app: ASGIApp, listener: socket.socket, **how: Any) -> None:
    """Answer requests until the process is stopped; `how` are settings of uvicorn."""
    import uvicorn

    config = uvicorn.Config(
        app,
        log_level="error",
        access_log=False,
        timeout_graceful_shutdown=_FAREWELL,
        **how,
    )
    uvicorn.Server(config).run(sockets=[listener])
