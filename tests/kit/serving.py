"""Programs that serve on a free port of loopback, ended with the test or its run."""

import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

HOST = "127.0.0.1"
_ATTEMPTS = 3
"""Starts before giving up: another process may take the free port first."""


class ServerUnavailableError(Exception):
    """A server cannot be started on this machine; the message says why."""


@contextmanager
def serving(
    command: Callable[[int], Sequence[str]],
    folder: Path,
    answers: Callable[[int], bool],
    *,
    user: str = "",
    env: Mapping[str, str] | None = None,
    patience: float = 60.0,
) -> Iterator[int]:
    """A program that serves; gives its port.

    Args:
        command: Its command line, made from the port.
        folder: Where it runs and writes `server.log`; removed in the end.
        answers: Whether it answers at a port.
        user: Whom it runs as; empty for the same.
        env: Its environment; None for the same.
        patience: Seconds that it has to answer.

    Raises:
        ServerUnavailableError: It did not answer.
    """
    for _ in range(_ATTEMPTS):
        port = free_port()
        guard = subprocess.Popen(
            [
                *(sys.executable, str(Path(__file__).with_name("guard.py"))),
                *(str(folder), user, *command(port)),
            ],
            stdin=subprocess.PIPE,
            start_new_session=True,  # Ctrl-C ends the test run, which ends the guard
            env=env,
        )
        if _ready(guard, port, answers, patience):
            break
        _end(guard)
    else:
        log = folder / "server.log"
        said = log.read_text("utf-8", "replace") if log.exists() else "nothing"
        raise ServerUnavailableError(f"it did not answer, and said: {said}")
    try:
        yield port
    finally:
        _end(guard)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        port: int = probe.getsockname()[1]
        return port


def listens(port: int) -> bool:
    try:
        socket.create_connection((HOST, port)).close()
    except OSError:
        return False
    return True


def answers_http(path: str) -> Callable[[int], bool]:
    """Whether the address of this path answers well, as `serving` asks it."""
    import httpx

    def answers(port: int) -> bool:
        try:
            return httpx.get(f"http://{HOST}:{port}{path}").is_success
        except httpx.TransportError:
            return False

    return answers


def _ready(
    guard: subprocess.Popen[bytes],
    port: int,
    answers: Callable[[int], bool],
    patience: float,
) -> bool:
    end = time.monotonic() + patience
    while guard.poll() is None and time.monotonic() < end:
        if answers(port):
            return True
        time.sleep(0.05)
    return False


def _end(guard: subprocess.Popen[bytes]) -> None:
    guard.stdin.close()
    guard.wait()
