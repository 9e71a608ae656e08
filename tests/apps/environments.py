"""An environment for each application, made once and kept at the repository's root.

Our package is not in it. It is in a folder of its own, put on the path of the
application where it is to be found there.
"""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import llama_index.core

ENCODINGS = Path(llama_index.core.__file__).parent / "_static" / "tiktoken_cache"
"""The files of tiktoken, so that an application fetches none."""
ROOT = Path(__file__).parents[2]
_PIP = ("-m", "pip", "install", "--quiet", "--disable-pip-version-check")


class EnvironmentUnavailableError(Exception):
    """An environment cannot be made on this machine; the message says why."""


def environment(
    name: str, packages: Sequence[str], *, pythons: Sequence[str] = ()
) -> Path:
    """The folder of the programs of `.venv-NAME`, made if it is not there as wanted.

    Args:
        name: Of the application.
        packages: What pip installs, with versions, held to `constraints.txt`.
        pythons: Versions that the application runs on, such as "3.11", the best
            first; none for that of the tests.

    Raises:
        EnvironmentUnavailableError: There is no such Python, or pip failed.
    """
    folder = ROOT / f".venv-{name}"
    marker = folder / ".marker"
    constraints = ROOT / "constraints.txt"
    wanted = "\n".join([*packages, *pythons, constraints.read_text()])
    if marker.exists() and marker.read_text() == wanted:
        return folder / "bin"
    shutil.rmtree(folder, ignore_errors=True)
    _run(_python(pythons), "-m", "venv", str(folder))
    pip = [str(folder / "bin" / "python"), *_PIP, "--constraint", str(constraints)]
    if index := os.environ.get("TORCH_INDEX"):  # as the Makefile takes torch
        _run(*pip, "--no-deps", "--index-url", index, "torch")
    _run(*pip, *packages)
    marker.write_text(wanted)
    return folder / "bin"


def install_ours(folder: Path) -> None:
    """Put this checkout's packages into a folder, as they are in the wheel."""
    _run(
        *(sys.executable, *_PIP, "--no-deps", "--no-build-isolation"),
        *("--target", str(folder), str(ROOT)),
    )


def variables(given: Mapping[str, str], ours: Path | None = None) -> dict[str, str]:
    """The variables of an application's process.

    Args:
        given: Its own.
        ours: Where our packages are; None where they are to be missing.
    """
    kept = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    path = {} if ours is None else {"PYTHONPATH": str(ours)}
    return {**kept, **path, "PYTHONUNBUFFERED": "1", **given}


def outcome(
    command: Sequence[str | Path],
    ours: Path | None = None,
    folder: Path | None = None,
    **given: str,
) -> tuple[Any, str]:
    """Run a program of an application that fetches nothing.

    Args:
        command: The program and its arguments.
        ours: Where our packages are; None where they are to be missing.
        folder: Where it runs.
        **given: More variables.

    Returns:
        Its last line, read as JSON, and all that it wrote.
    """
    own = {"HTTPS_PROXY": "http://127.0.0.1:9", "TIKTOKEN_CACHE_DIR": str(ENCODINGS)}
    done = subprocess.run(
        command,
        cwd=folder,
        env=variables({**own, **given}, ours),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout.splitlines()[-1]), done.stdout + done.stderr


def _python(versions: Sequence[str]) -> str:
    if not versions or "{}.{}".format(*sys.version_info) in versions:
        return sys.executable
    for version in versions:
        found = shutil.which(f"python{version}")
        # A launcher may be there without the interpreter that it is for.
        if found and not subprocess.run([found, "-c", ""], check=False).returncode:
            return found
    raise EnvironmentUnavailableError(f"it needs Python {' or '.join(versions)}")


def _run(*command: str) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise EnvironmentUnavailableError(f"{' '.join(command)}: {done.stderr[-2000:]}")
