"""Fetches a file within seconds, or not at all."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Thread
from typing import TypeVar, cast

from oprag.optional import require

_T = TypeVar("_T")

SECONDS = 5.0
"""How long somebody waits for a file, name resolution and all."""


def fetch(address: str, sha256: str, keep_at: Path | None) -> bytes:
    """Fetch a file, once.

    What takes longer than `SECONDS` goes on behind, so that the file is there the
    next time.

    Args:
        address: Of the file; proxies are those of the environment.
        sha256: Of its content.
        keep_at: Where to put it for the next time; None for nowhere. That it cannot
            be written is no error.
    """
    return _within(SECONDS, address, partial(_fetched, address, sha256, keep_at))


def check_reachable(address: str, seconds: float = SECONDS) -> None:
    """Make sure that a server answers, before what asks it again and again.

    Args:
        address: Of the server; proxies are those of the environment.
        seconds: How long it may take.

    Raises:
        OSError: It does not answer; a `TimeoutError` where it takes too long.
    """
    _within(seconds, address, partial(_asked, address, seconds))


def _within(seconds: float, address: str, work: Callable[[], _T]) -> _T:
    outcome: SimpleQueue[tuple[_T, None] | tuple[None, Exception]] = SimpleQueue()

    def run() -> None:
        try:
            outcome.put((work(), None))
        except Exception as error:  # noqa: BLE001 -- raised where somebody waits
            outcome.put((None, error))

    # A thread, because no time limit of a connection holds for looking up its host.
    Thread(target=run, name="oprag-fetch", daemon=True).start()
    try:
        found, failure = outcome.get(timeout=seconds)
    except Empty:
        message = f"{address} did not answer within {seconds:g} seconds"
        raise TimeoutError(message) from None
    if failure is not None:
        raise failure
    return cast("_T", found)


def _asked(address: str, seconds: float) -> None:
    # Here, because it takes long and is hardly ever needed.
    from urllib.error import HTTPError
    from urllib.request import Request, urlopen

    try:
        with urlopen(Request(address, method="HEAD"), timeout=seconds):  # noqa: S310 -- the user's own hub
            return
    except HTTPError:  # it answers
        return


def _fetched(address: str, sha256: str, keep_at: Path | None) -> bytes:
    requests = require("requests", extra="langchain", purpose="Fetching a file")
    with requests.get(address, timeout=SECONDS) as response:
        response.raise_for_status()
        content: bytes = response.content
    if hashlib.sha256(content).hexdigest() != sha256:
        message = f"{address} gave {len(content):,} bytes that are not the file"
        raise ValueError(message)
    if keep_at is not None:
        _keep(keep_at, content)
    return content


def _keep(path: Path, content: bytes) -> None:
    part = path.with_name(f"{path.name}.{os.getpid()}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        part.write_bytes(content)
        part.replace(path)
    except OSError:  # a folder that cannot be written to: fetched again next time
        return
