"""A question that was broken off leaves nothing behind."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from tests.kit.openai_server import ScriptedServer


class Pieces:
    """The pieces of a model's replies, and how many streams of them are open."""

    def __init__(self, *replies: Sequence[str]) -> None:
        self.replies = list(replies)
        self.calls = 0
        self.open = 0

    @contextlib.contextmanager
    def reply(self) -> Iterator[Sequence[str]]:
        number = self.calls
        self.calls += 1
        self.open += 1
        try:
            yield self.replies[number]
        finally:
            self.open -= 1


class Runs:
    """Counts beginnings and ends of what is traced, by its id."""

    def __init__(self) -> None:
        self.begun: Counter[Any] = Counter()
        self.ended: Counter[Any] = Counter()
        self.ours: set[Any] = set()
        """Those that are ours to end; of others the framework may lose sight."""

    def check(self) -> None:
        """Ours ended once, and nothing ended twice."""
        assert self.ours
        assert set(self.begun.values()) == {1}
        assert {self.ended[run] for run in self.ours} == {1}
        assert set(self.ended.values()) == {1}
        assert set(self.ended) <= set(self.begun)


def threads() -> set[threading.Thread]:
    """All but the workers that event loops own and those that serve connections."""
    own = ("asyncio_", "ThreadPoolExecutor")
    return {
        thread
        for thread in threading.enumerate()
        if not thread.name.startswith(own)
        and "process_request_thread" not in thread.name
    }


async def settled(
    server: ScriptedServer | None = None, *streams: Pieces, collect: bool = False
) -> None:
    """Wait until everything is closed; fail if something stays open.

    Args:
        server: Whose connections.
        *streams: Which streams of models.
        collect: Whether Python may look for what only refers to itself.
    """
    until = time.monotonic() + 15  # of a busy machine
    while time.monotonic() < until:
        await asyncio.sleep(0.005)
        if collect:
            gc.collect()
        still = sum(stream.open for stream in streams)
        if not still and (server is None or not server.open_connections):
            return
    raise AssertionError("a stream or a connection is still open")


async def cancelled_after(work: Any, beats: int) -> bool:
    """Cancel a task after so many rounds of the event loop.

    Returns:
        Whether it was still running then.
    """
    task = asyncio.ensure_future(work)
    for _ in range(beats):
        await asyncio.sleep(0)
    if task.done():
        await task
        return False
    task.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await task
    return True
