"""Every page in a fresh environment that has what its introduction names, and no more.

`python -m tests.docs.fresh` (`make test-docs`) builds the wheel and installs it into
empty environments: with nothing, with `[langchain]` and with `[llamaindex]`; the last
then gets what the other pages name, page by page. Each page's blocks run in one go, as
printed, in an empty folder and offline; of the README, each framework's where it is.
"""

from __future__ import annotations

import argparse
import os
import re
import shlex
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from pathlib import Path

from tests.docs.blocks import blocks_of

ROOT = Path(__file__).parents[2]
README = ROOT / "README.md"
PAGES = sorted((ROOT / "docs").glob("*.md"))

ALONE = {
    "core": ("oprag",),
    "langchain": ("oprag[langchain]",),
    "llamaindex": ("oprag[llamaindex]",),
}
"""The environments with one framework or none, and what is installed there."""

TOO_LARGE = re.compile(r"\b(?:demo|eval|embeddings|all)\b")
"""Extras that bring torch; their pages run in `make test` only."""

PIP = (sys.executable, "-m", "pip", "--quiet")


def needs(page: Path) -> tuple[str, ...]:
    """Return what the page's introduction installs first; empty if it names nothing."""
    introduction = page.read_text(encoding="utf-8").partition("\n## ")[0]
    command = re.search(r"`pip install ([^`]+)`", introduction)
    return tuple(shlex.split(command[1])) if command else ()


def pages_to_run() -> dict[Path, tuple[str, ...]]:
    """The pages that hold Python, and what they name."""
    return {
        page: needs(page)
        for page in PAGES
        if any(language == "python" for language, _ in blocks_of(page))
    }


def encodings() -> Path:
    """The folder of tiktoken's files that come with llama-index-core."""
    core = find_spec("llama_index.core")
    if core is None or core.origin is None:
        sys.exit("llama-index-core is needed where this runs, for tiktoken's files")
    return Path(core.origin).parent / "_static" / "tiktoken_cache"


class Environment:
    """A virtual environment, empty at first.

    Args:
        folder: Where it is made.
        python: The interpreter that it is made with.
        wheel: What `oprag` means to it.
    """

    def __init__(self, folder: Path, python: str, wheel: Path) -> None:
        subprocess.run([python, "-m", "venv", "--without-pip", folder], check=True)
        self._python = folder / "bin" / "python"
        self._wheel = wheel
        self._installed: set[tuple[str, ...]] = set()

    def install(self, requirements: tuple[str, ...]) -> None:
        if requirements in self._installed:
            return
        self._installed.add(requirements)
        found = [re.sub(r"^oprag\b", str(self._wheel), one) for one in requirements]
        # Compiled when imported: most of it never is.
        command = [*PIP, "--python", self._python, "install", "--no-compile", *found]
        subprocess.run(command, check=True)

    def run(self, page: Path, framework: str | None = None) -> bool:
        """Run a page's blocks, those of one framework if told; say how it went."""
        script = ROOT / "tests" / "docs" / "blocks.py"
        command = [self._python, "-I", script, page, *filter(None, [framework])]
        begun = time.monotonic()
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run(
                command,
                check=False,
                cwd=folder,
                env={**os.environ, "TIKTOKEN_CACHE_DIR": str(encodings())},
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
            )
        seconds = time.monotonic() - begun
        failed = bool(done.returncode)
        said = done.stdout if failed else done.stdout.splitlines()[-1]
        of = f"{page.name}{f' ({framework})' if framework else ''}"
        tell(f"{'FAILED' if failed else 'ran'} {of}: {said}, in {seconds:.0f} s")
        return not failed


def tell(line: str) -> None:
    """Write a line at once; several environments do."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def run_alone(name: str, environment: Environment) -> int:
    """Run what one environment is enough for; return how many pages failed."""
    environment.install(ALONE[name])
    pages = [page for page, wants in pages_to_run().items() if wants == ALONE[name]]
    ran = [environment.run(README, name), *map(environment.run, pages)]
    tell(f"with {ALONE[name][0]} alone: {sum(ran)} of {len(ran)} ran")
    return ran.count(False)


def run_others(
    pages: Iterable[tuple[Path, tuple[str, ...]]], environment: Environment
) -> int:
    """Run each with what it names installed besides; return how many failed."""
    failed = 0
    for page, wants in pages:
        if not wants:
            tell(f"FAILED {page.name}: its introduction names nothing to install")
            failed += 1
        elif TOO_LARGE.search(" ".join(wants)):
            tell(f"left out {page.name}: {' '.join(wants)} brings torch")
        else:
            environment.install(wants)
            failed += not environment.run(page)
    return failed


def run_all(environments: Mapping[str, Environment]) -> int:
    """Run everything, environments side by side; return how many pages failed."""
    others = [
        (page, wants)
        for page, wants in pages_to_run().items()
        if wants not in ALONE.values()
    ]

    def everything_in(name: str) -> int:
        failed = run_alone(name, environments[name])
        if name == "llamaindex":
            failed += run_others(others, environments[name])
        return failed

    with ThreadPoolExecutor() as threads:
        return sum(threads.map(everything_in, environments))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--python", default=sys.executable, help="interpreter of the environments"
    )
    python = parser.parse_args().python
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        build = [*PIP, "wheel", "--no-deps", "--wheel-dir", place, ROOT]
        subprocess.run(build, check=True)
        wheel = next(place.glob("*.whl"))
        environments = {
            name: Environment(place / name, python, wheel) for name in ALONE
        }
        failed = run_all(environments)
    tell(f"{failed} pages failed" if failed else "All pages ran.")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
