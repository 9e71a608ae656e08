"""Fetches a file within seconds, or not at all."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Thread

from oprag.optional import require

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
    outcome: SimpleQueue[bytes | Exception] = SimpleQueue()

    def work() -> None:
        try:
            outcome.put(_fetched(address, sha256, keep_at))
        except Exception as error:  # noqa: BLE001 -- raised where somebody waits
            outcome.put(error)

    # A thread, because no time limit of a connection holds for looking up its host.
    Thread(target=work, name="oprag-fetch", daemon=True).start()
    try:
        found = outcome.get(timeout=SECONDS)
    except Empty:
        message = f"{address} did not come within {SECONDS:g} seconds"
        raise TimeoutError(message) from None
    if isinstance(found, Exception):
        raise found
    return found


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
