"""Listening of the commands that serve: one socket, one server, a short farewell."""

from __future__ import annotations

import socket
from asyncio import AbstractEventLoop, TimerHandle, Transport
from collections.abc import Awaitable
from typing import TYPE_CHECKING, Any, TypeVar

from oprag_cli.messages import stop

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive
    from uvicorn import Server

_T = TypeVar("_T")

_FAREWELL = 3
"""Seconds in which requests have to end when the server is stopped."""
WITHIN = 10.0
"""Seconds for the head of a request to arrive whole, and for its body."""
_IDLE = 75
"""Seconds for a request to begin, in a new connection and in one that is kept open.

Clients drop connections sooner than that, often after the 5 seconds at which uvicorn
closes them. A request that is sent at that moment fails."""
_READ = 0.5
"""Seconds in which bytes that have arrived are read, even if the loop stood still."""


def listen(host: str, port: int, way_out: str) -> socket.socket:
    """Open the socket of a server, or say the way out if it cannot be opened.

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
    make_server(app, **how).run(sockets=[listener])


def make_server(app: ASGIApp, *, within: float = WITHIN, **how: Any) -> Server:
    """Make the server that answers requests.

    Args:
        app: The application that answers them.
        within: See `WITHIN`.
        **how: Settings of uvicorn.
    """
    import uvicorn

    config = uvicorn.Config(
        app,
        log_level="error",
        access_log=False,
        timeout_graceful_shutdown=_FAREWELL,
        timeout_keep_alive=_IDLE,
        **how,
    )
    config.load()
    protocol: Any = config.http_protocol_class  # one of two, by the packages installed
    timed = type("InTime", (_InTime, protocol), {"within": within})
    config.http_protocol_class = timed
    return uvicorn.Server(config)


async def await_while_connected(receive: Receive, work: Awaitable[_T]) -> _T:
    """Await work for a client, and cancel it when the client has gone.

    Args:
        receive: The `receive` of the client's request, which has been read whole.
        work: The work. Its errors are raised.

    Raises:
        ClientDisconnect: The client has gone.
    """
    import anyio
    from starlette.requests import ClientDisconnect

    results: list[_T] = []
    errors: list[Exception] = []
    async with anyio.create_task_group() as group:

        async def watch() -> None:
            while (await receive())["type"] != "http.disconnect":
                pass
            group.cancel_scope.cancel()

        group.start_soon(watch)
        try:
            results.append(await work)
        except Exception as error:  # noqa: BLE001 -- a group would raise a group
            errors.append(error)
        group.cancel_scope.cancel()
    if errors:
        raise errors[0]
    if not results:
        raise ClientDisconnect
    return results[0]


def _awaited_by(cycle: Any) -> str:
    """Name the part of a request that a cycle of uvicorn waits for; "" for none."""
    if cycle is None or cycle.response_complete:
        return "head"
    return "body" if cycle.more_body else ""


class _InTime:
    """Closes connections whose requests never end; a base before uvicorn's protocol.

    Uvicorn itself waits for ever for the rest of a request that was sent in part.
    """

    within: float
    """Seconds for the head of a request, and for its body."""
    cycle: Any
    loop: AbstractEventLoop
    transport: Transport
    _awaited = ""
    _timer: TimerHandle | None = None

    def connection_made(self, transport: Transport) -> None:
        super().connection_made(transport)  # type: ignore[misc]  # of uvicorn
        self._await("beginning", _IDLE)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)  # type: ignore[misc]  # as above
        protocol: Any = self.transport.get_protocol()
        awaited = _awaited_by(self.cycle) if protocol is self else ""  # a websocket
        self._await(awaited, self.within)

    def connection_lost(self, error: Exception | None) -> None:
        super().connection_lost(error)  # type: ignore[misc]  # as above
        self._await("", 0)

    def _await(self, awaited: str, seconds: float) -> None:
        if awaited == self._awaited:
            return
        self._awaited = awaited
        if self._timer is not None:
            self._timer.cancel()
        if awaited:
            self._timer = self.loop.call_later(seconds, self._read_what_came)

    def _read_what_came(self) -> None:
        # A loop that stood still may call this before it reads.
        self._timer = self.loop.call_later(_READ, self.transport.close)
