"""Runs code in an interpreter of its own: other packages, other environment."""

import os
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

DATA_VARIABLES = ("DATA_GYM_CACHE_DIR", "NLTK_DATA", "TIKTOKEN_CACHE_DIR")
"""Say where data files lie; not passed on, for that is what is tested."""


_NO_NETWORK = """
import socket
def refuse(*args):
    raise ConnectionRefusedError("there is no network here")
socket.socket.connect = socket.getaddrinfo = refuse
"""


def run(
    code: str, *, without: Iterable[str] = (), network: bool = False, **environment: str
) -> str:
    """Run code, without the network unless it is wanted; give what it prints.

    Args:
        code: Python source. A warning that it does not catch is an error.
        without: Packages that cannot be imported.
        network: Whether connections are made, to a server of the test's own.
        **environment: Variables to set.
    """
    kept = {k: v for k, v in os.environ.items() if k not in DATA_VARIABLES}
    hidden = [f"sys.modules[{package!r}] = None" for package in without]
    lines = ["import sys", *([] if network else [_NO_NETWORK]), *hidden, code]
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", "\n".join(lines)],
        env={**kept, **environment},
        cwd=Path(__file__).parents[2],
        capture_output=True,
        check=False,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout
