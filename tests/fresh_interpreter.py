"""Runs code in an interpreter of its own: other packages, other environment."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

DATA_VARIABLES = ("DATA_GYM_CACHE_DIR", "NLTK_DATA", "TIKTOKEN_CACHE_DIR")
"""Say where data files lie; not passed on, for that is what is tested."""


def run(code: str, *, without: Iterable[str] = (), **environment: str) -> str:
    """Run code without the network; give what it prints.

    Args:
        code: Python source. A warning that it does not catch is an error.
        without: Packages that cannot be imported.
        **environment: Variables to set.
    """
    kept = {k: v for k, v in os.environ.items() if k not in DATA_VARIABLES}
    hidden = [f"sys.modules[{package!r}] = None" for package in without]
    lines = ["import socket, sys", "socket.socket.connect = None", *hidden, code]
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", "\n".join(lines)],
        env={**kept, **environment},
        cwd=Path(__file__).parents[1],
        capture_output=True,
        check=False,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout
