"""Connections of a server: none is closed on a client that is there."""

import asyncio
import socket
import time
from contextlib import contextmanager
from threading import Thread

import pytest

from oprag_cli.listener import make_server

WITHIN = 0.2
"""Seconds for the head or the body of a request."""
REQUEST = b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nab"


async def answering(scope, receive, send):
    """An application that answers with the body; `/sleep` stops the event loop."""
    body, more = b"", True
    while more:
        message = await receive()
        body += message.get("body", b"")
        more = message.get("more_body", False)
    if scope["path"] == "/sleep":
        time.sleep(3 * WITHIN)  # noqa: ASYNC251 -- this is what is tried
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": body})


@contextmanager
def running(loop):
    with socket.create_server(("127.0.0.1", 0)) as listener:
        # Without websockets: what old releases of uvicorn serve them with warns.
        how = {"lifespan": "off", "loop": loop, "ws": "none"}
        server = make_server(answering, within=WITHIN, **how)
        thread = Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        try:
            yield listener.getsockname()
        finally:
            server.should_exit = True
            thread.join()


@pytest.mark.parametrize("loop", ["auto", "asyncio"])
@pytest.mark.parametrize("first", [b"", REQUEST[:9], REQUEST[:-1]])
async def test_a_loop_that_stood_still_reads_what_came_before_it_closes(loop, first):
    with running(loop) as address:
        slow, write = await asyncio.open_connection(*address)
        write.write(first)
        await asyncio.sleep(WITHIN / 4)
        _, stop = await asyncio.open_connection(*address)
        stop.write(REQUEST.replace(b"/", b"/sleep", 1))
        await asyncio.sleep(WITHIN / 4)

        write.write(REQUEST[len(first) :])

        assert (await slow.read(200)).startswith(b"HTTP/1.1 200")
        write.close()
        stop.close()


async def test_a_connection_may_wait_before_a_request_and_between_two():
    with running("auto") as address:
        read, write = await asyncio.open_connection(*address)
        for _ in range(2):
            await asyncio.sleep(2 * WITHIN)
            write.write(REQUEST)
            assert (await read.read(200)).startswith(b"HTTP/1.1 200")
        write.close()


@pytest.mark.parametrize("part", [REQUEST[:9], REQUEST[:-1]])
async def test_a_request_that_never_ends_is_closed(part):
    with running("auto") as address:
        read, write = await asyncio.open_connection(*address)
        write.write(part)
        assert await read.read() == b""
        write.close()
