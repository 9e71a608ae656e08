"""Listening of the commands that serve: one socket, one server, a short farewell."""

from __future__ import annotations

import socket
from asyncio import TimerHandle, Transport
from collections.abc import Awaitable
from typing import TYPE_CHECKING, Any, TypeVar

from oprag_cli.messages import stop

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive

_T = TypeVar("_T")

_FAREWELL = 3
"""Seconds that requests have to end in, when the server is stopped."""
WITHIN = 10.0
"""Seconds for the head of a request to arrive whole, and for its body."""


def listen(host: str, port: int, way_out: str) -> socket.socket:
    """Open the socket of a server; where it cannot be, say the way out.

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
    config.load()
    config.http_protocol_class = _in_time(config.http_protocol_class)
    uvicorn.Server(config).run(sockets=[listener])


async def await_while_connected(receive: Receive, work: Awaitable[_T]) -> _T:
    """Await work for a client, and cancel it when the client has gone.

    Args:
        receive: That of its request, which has been read whole.
        work: Raises what it raises.

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


def _in_time(protocol: Any) -> Any:
    """A protocol of uvicorn that closes a connection whose request never ends.

    Uvicorn itself waits without an end for the rest of one that was sent in part.
    """

    class InTime(protocol):  # type: ignore[misc]  # one of two, by what is installed
        _awaited = ""
        _timer: TimerHandle | None = None

        def connection_made(self, transport: Transport) -> None:
            super().connection_made(transport)
            self._time()

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            self._time()

        def _time(self) -> None:
            cycle = self.cycle
            answering = cycle is not None and not cycle.response_complete
            awaited = "head" if not answering else "body" if cycle.more_body else ""
            if self.transport.get_protocol() is not self:  # a websocket
                awaited = ""
            if awaited == self._awaited:
                return
            self._awaited = awaited
            if self._timer is not None:
                self._timer.cancel()
            if awaited:
                self._timer = self.loop.call_later(WITHIN, self.transport.close)

    return InTime
