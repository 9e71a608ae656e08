"""Runs code in an interpreter of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

_ROOT = Path(__file__).resolve().parents[2]


def run(
    code: str,
    *,
    stdin: str = "",
    without: Iterable[str] = (),
    site: bool = True,
    folder: Path = _ROOT,
) -> str:
    """Run Python code and return what it prints.

    What it imports is kept compiled, as the files of installed packages are.

    Args:
        code: Python source.
        stdin: What it reads.
        without: Packages that cannot be imported.
        site: Whether installed packages can be imported.
        folder: Where it runs, and what it imports first: this repository.
    """
    environment = {**os.environ, "PYTHONIOENCODING": "utf-8"}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    hidden = [f"sys.modules[{package!r}] = None" for package in without]
    done = subprocess.run(  # noqa: S603 -- this interpreter, our own code
        [
            sys.executable,
            *([] if site else ["-S"]),
            "-c",
            "\n".join(["import sys", *hidden, code]),
        ],
        cwd=folder,
        env=environment,
        input=stdin,
        capture_output=True,
        check=False,
        encoding="utf-8",
    )
    if done.returncode:
        raise RuntimeError(done.stderr)
    return done.stdout
