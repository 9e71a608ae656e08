"""Every page in a fresh environment that has what its introduction names, and no more.

`python -m tests.docs.fresh` (`make test-docs`) builds the wheel and installs it into
empty environments: with nothing, with `[langchain]` and with `[llamaindex]`; the last
then gets what the other pages name, page by page. Each page's blocks run in one go, as
printed, in an empty folder and offline; of the README, each framework's where it is.
"""

import argparse
import os
import re
import shlex
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from tests.docs.blocks import blocks_of

ROOT = Path(__file__).parents[2]
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


class Run(NamedTuple):
    """A page, or the blocks of it that are of a framework."""

    page: Path
    needs: tuple[str, ...]
    framework: str = ""

    @property
    def environment(self) -> str:
        first = self.needs[:1]
        return next((k for k, own in ALONE.items() if own == first), "llamaindex")


def runs() -> list[Run]:
    """All runs; those that need one framework or none come first."""
    readme = [Run(ROOT / "README.md", needs, name) for name, needs in ALONE.items()]
    pages = [
        Run(page, needs(page))
        for page in PAGES
        if any(language == "python" for language, _ in blocks_of(page))
    ]
    return sorted(readme + pages, key=lambda run: run.needs not in ALONE.values())


def needs(page: Path) -> tuple[str, ...]:
    """Return what the page's introduction installs first; empty if it names nothing."""
    introduction = page.read_text(encoding="utf-8").partition("\n## ")[0]
    command = re.search(r"`pip install ([^`]+)`", introduction)
    return tuple(shlex.split(command[1])) if command else ()


def carry_out(run: Run, python: Path, wheel: Path) -> bool:
    """Install what a page names, run its blocks, and say how it went."""
    if TOO_LARGE.search(" ".join(run.needs)):
        return tell(f"left out {run.page.name}: {' '.join(run.needs)} brings torch")
    if not run.needs:
        return not tell(f"FAILED {run.page.name}: it names nothing to install")
    found = [re.sub(r"^oprag\b", str(wheel), each) for each in run.needs]
    # Compiled when imported: most of it never is.
    command = [*PIP, "--python", python, "install", "--no-compile", *found]
    subprocess.run(command, check=True)
    script = ROOT / "tests" / "docs" / "blocks.py"
    command = [python, "-I", script, run.page, *filter(None, [run.framework])]
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
    said = done.stdout if done.returncode else done.stdout.splitlines()[-1]
    went = "FAILED" if done.returncode else "ran"
    tell(f"{went} {run.page.name} {run.framework}: {said}")
    return not done.returncode


def encodings() -> Path:
    """The folder of tiktoken's files that come with llama-index-core."""
    core = find_spec("llama_index.core")
    if core is None or core.origin is None:
        sys.exit("llama-index-core is needed where this runs, for tiktoken's files")
    return Path(core.origin).parent / "_static" / "tiktoken_cache"


def tell(line: str) -> bool:
    """Write a line at once; several environments do."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()
    return True


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

        def failures(name: str) -> int:
            made = [python, "-m", "venv", "--without-pip", place / name]
            subprocess.run(made, check=True)
            program = place / name / "bin" / "python"
            own = [run for run in runs() if run.environment == name]
            return sum(not carry_out(run, program, wheel) for run in own)

        with ThreadPoolExecutor() as threads:
            failed = sum(threads.map(failures, ALONE))
    tell(f"{failed} pages failed" if failed else "All pages ran.")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
