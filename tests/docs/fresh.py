"""Every page in a fresh environment that has one framework and what the page names.

`python -m tests.docs.fresh` (`make test-docs`) builds the wheel and installs it into
three empty environments, for readers with neither framework, with LangChain and with
LlamaIndex. Each gets the packages that the pages name for this reader, page by page.
The blocks that this reader runs follow one another as printed, in an empty folder and
offline. Those of the first page come last, with OpenAI's real clients, two PDFs and a
scripted server on loopback.
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

from tests.docs import start_page
from tests.docs.blocks import blocks_of, frameworks_of
from tests.kit.openai_server import ScriptedServer
from tests.kit.pdf_folder import write_pdfs

ROOT = Path(__file__).parents[2]
PAGES = sorted((ROOT / "docs").glob("*.md"))

INSTALLED = {
    "core": ("oprag",),
    "langchain": ("oprag[langchain]", "numpy"),  # for `InMemoryVectorStore`
    "llamaindex": ("oprag[llamaindex]",),
}
"""The environments, and the packages that the README's readers install there."""

EXTRAS = {"langchain": ("agents", "langchain"), "llamaindex": ("llamaindex",)}
"""The extras that bring a framework."""

TOO_LARGE = re.compile(r"\b(?:demo|eval|embeddings|all)\b(?!-)")
"""Extras that bring torch; their pages run in `make test` only."""

PIP = (sys.executable, "-m", "pip", "--quiet")


class Run(NamedTuple):
    """The blocks of a page that a reader with this framework runs."""

    page: Path
    framework: str
    needs: tuple[str, ...]


def runs() -> list[Run]:
    """Return all runs; those of an environment that need the least come first."""
    found = [
        Run(page, framework, needs(page, framework))
        for page in [ROOT / "README.md", *PAGES]
        if page != start_page.PAGE  # see `start_runs`
        if any(language == "python" for language, _ in blocks_of(page))
        for framework in frameworks_of(page)
    ]
    return sorted(found, key=lambda run: len(" ".join(run.needs)))


def start_runs(folder: Path) -> list[Run]:
    """Write the first page as a reader of each framework pastes it, with OpenAI."""
    found = []
    for framework in ("LangChain", "LlamaIndex"):
        page = folder / f"start_{framework}.md"
        blocks = start_page.blocks_for(framework, "openai")
        page.write_text("".join(f"```{kind}\n{code}```\n" for kind, code in blocks))
        packages = start_page.packages_for(framework, "openai")
        found.append(Run(page, framework.lower(), tuple(packages)))
    return found


def needs(page: Path, framework: str) -> tuple[str, ...]:
    """Return the packages that the page's introduction installs for this reader."""
    introduction = page.read_text(encoding="utf-8").partition("\n## ")[0]
    command = re.search(r"`pip install ([^`]+)`", introduction)
    if command is None or page.name == "README.md":
        return INSTALLED[framework]
    others = [extra for name in EXTRAS if name != framework for extra in EXTRAS[name]]
    return tuple(_without(each, others) for each in shlex.split(command[1]))


def _without(requirement: str, extras: list[str]) -> str:
    """Return a requirement without some of its extras."""
    package, _, named = requirement.rstrip("]").partition("[")
    kept = [extra for extra in named.split(",") if extra and extra not in extras]
    return f"{package}[{','.join(kept)}]" if kept else package


def carry_out(run: Run, python: Path, wheel: Path, address: str) -> bool:
    """Install what a page names, run its blocks, and say how it went.

    Args:
        run: The page and its reader.
        python: Of the reader's environment.
        wheel: To be installed in the place of `oprag`.
        address: Of the model's server, for the first page.
    """
    if TOO_LARGE.search(" ".join(run.needs)):
        return tell(f"left out {run.page.name}: {' '.join(run.needs)} brings torch")
    found = [re.sub(r"^oprag\b", str(wheel), each) for each in run.needs]
    # Compiled when imported: most of it never is.
    command = [*PIP, "--python", python, "install", "--no-compile", *found]
    subprocess.run(command, check=True)
    script = ROOT / "tests" / "docs" / "blocks.py"
    command = [python, "-I", script, run.page, run.framework]
    with tempfile.TemporaryDirectory() as folder:
        if run.page.name.startswith("start_"):
            write_pdfs(Path(folder) / "pdfs")
        done = subprocess.run(
            command,
            check=False,
            cwd=folder,
            env={
                **os.environ,
                "OPENAI_API_BASE": address,
                "OPENAI_API_KEY": "none",
                "OPENAI_BASE_URL": address,
                "TIKTOKEN_CACHE_DIR": str(encodings()),
            },
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
    with (
        tempfile.TemporaryDirectory() as folder,
        ScriptedServer(lambda _: start_page.REPLY) as server,
    ):
        place = Path(folder)
        build = [*PIP, "wheel", "--no-deps", "--wheel-dir", place, ROOT]
        subprocess.run(build, check=True)
        wheel = next(place.glob("*.whl"))
        to_run = [*runs(), *start_runs(place)]

        def failures(name: str) -> int:
            made = [python, "-m", "venv", "--without-pip", place / name]
            subprocess.run(made, check=True)
            program = place / name / "bin" / "python"
            own = [run for run in to_run if run.framework == name]
            return sum(
                not carry_out(run, program, wheel, server.base_url) for run in own
            )

        with ThreadPoolExecutor() as threads:
            failed = sum(threads.map(failures, INSTALLED))
    tell(f"{failed} pages failed" if failed else "All pages ran.")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
