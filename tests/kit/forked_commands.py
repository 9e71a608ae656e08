"""Commands of `oprag` in processes of their own, that are ready at once.

Packages are imported once, in a script that forks a process for each command; the
tests kill some of these.
"""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
import traceback
from pathlib import Path
from typing import Any, NamedTuple, Self

from oprag.cli import main

ROOT = Path(__file__).parents[2]
MODULES = (
    "matplotlib.pyplot",
    "oprag_eval.cli.display",
    "oprag.cli.app",
    "oprag_eval.cli.run",
    "oprag.cli.search",
    "sentence_transformers",
)


class Ended(NamedTuple):
    code: int
    """The exit code; less than 0: the signal that killed it."""
    out: str
    err: str


class Commands:
    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._script = subprocess.Popen(
            [sys.executable, "-m", __name__],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._script.communicate()

    def start(self, arguments: list[str], **environment: str) -> int:
        files = str(self._folder / "said")
        return self._told(arguments=arguments, environment=environment, files=files)

    def works(self, process: int) -> bool:
        return bool(self._told(works=process))

    def wait(self, process: int) -> Ended:
        code = self._told(wait=process)
        said = [
            (self._folder / f"said-{process}-{place}").read_text() for place in "12"
        ]
        return Ended(code, *said)

    def run(self, arguments: list[str], **environment: str) -> Ended:
        return self.wait(self.start(arguments, **environment))

    def _told(self, **order: Any) -> int:
        assert self._script.stdin is not None
        assert self._script.stdout is not None
        self._script.stdin.write(json.dumps(order) + "\n")
        self._script.stdin.flush()
        return int(self._script.stdout.readline())


def _serve() -> None:
    for module in MODULES:
        importlib.import_module(module)
    answers = os.fdopen(os.dup(1), "w")
    for line in sys.stdin:
        order = json.loads(line)
        if "works" in order:
            how = os.WEXITED | os.WNOHANG | os.WNOWAIT
            reply = int(os.waitid(os.P_PID, order["works"], how) is None)
        elif "wait" in order:
            _, status = os.waitpid(order["wait"], 0)
            reply = os.waitstatus_to_exitcode(status)
        else:
            reply = _forked(order)
        answers.write(f"{reply}\n")
        answers.flush()


def _forked(order: dict[str, Any]) -> int:
    child = os.fork()
    if child:
        return child
    code = 99
    try:
        os.environ.update(order["environment"])
        for place in (1, 2):
            name = f"{order['files']}-{os.getpid()}-{place}"
            os.dup2(os.open(name, os.O_CREAT | os.O_WRONLY, 0o600), place)
        sys.argv = ["oprag", *order["arguments"]]
        main()
    except SystemExit as end:
        code = int(end.code or 0)
    except BaseException:  # noqa: BLE001 -- a fork must not go on as the script
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        os._exit(code)


if __name__ == "__main__":
    _serve()
