"""Wait for a network for some seconds at most."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from threading import Thread
from typing import TypeVar

_T = TypeVar("_T")

SECONDS = 5.0
"""Seconds to wait, name resolution included."""


def wait_at_most(seconds: float, what: str, work: Callable[[], _T]) -> _T:
    """Do work, and stop waiting after some seconds; it then goes on in the background.

    Raises:
        TimeoutError: It takes longer; says `what` was waited for.
    """
    outcome: Future[_T] = Future()

    def run() -> None:
        try:
            outcome.set_result(work())
        except Exception as error:  # noqa: BLE001 -- raised where somebody waits
            outcome.set_exception(error)

    # A thread, because no time limit of a connection holds for looking up its host.
    Thread(target=run, name="oprag-fetch", daemon=True).start()
    try:
        return outcome.result(timeout=seconds)
    except TimeoutError:
        if outcome.done():
            raise
        message = f"{what} did not answer within {seconds:g} seconds"
        raise TimeoutError(message) from None
