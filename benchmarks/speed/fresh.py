"""Runs code in an interpreter of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

_ROOT = Path(__file__).resolve().parents[2]


def run(code: str, *, site: bool = True, folder: Path = _ROOT) -> str:
    """Run Python code and return what it prints.

    What it imports is kept compiled, as the files of installed packages are.

    Args:
        code: Python source.
        site: Whether installed packages can be imported.
        folder: Where it runs, and what it imports first: this repository.
    """
    environment = {**os.environ, "PYTHONIOENCODING": "utf-8"}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    done = subprocess.run(  # noqa: S603 -- this interpreter, our own code
        [sys.executable, *([] if site else ["-S"]), "-c", code],
        cwd=folder,
        env=environment,
        capture_output=True,
        check=False,
        encoding="utf-8",
    )
    if done.returncode:
        raise RuntimeError(done.stderr)
    return done.stdout
