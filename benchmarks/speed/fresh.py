"""Runs code in an interpreter of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

_ROOT = Path(__file__).resolve().parents[2]


def run(code: str, *, stdin: str = "", without: Iterable[str] = ()) -> str:
    """Run Python code from the root of the repository; give what it prints.

    What it imports is kept compiled, as the files of installed packages are.

    Args:
        code: Python source.
        stdin: What it reads.
        without: Packages that cannot be imported.
    """
    environment = {**os.environ, "PYTHONIOENCODING": "utf-8"}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    hidden = [f"sys.modules[{package!r}] = None" for package in without]
    done = subprocess.run(  # noqa: S603 -- this interpreter, our own code
        [sys.executable, "-c", "\n".join(["import sys", *hidden, code])],
        cwd=_ROOT,
        env=environment,
        input=stdin,
        capture_output=True,
        check=False,
        encoding="utf-8",
    )
    if done.returncode:
        raise RuntimeError(done.stderr)
    return done.stdout
