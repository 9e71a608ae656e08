"""The distributions that a release publishes, built: `make dist`."""

import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
DIST = ROOT / "dist"

FOLDERS = {
    "oprag": ".",
    "langchain-oprag": "packages/langchain-oprag",
    "llama-index-postprocessor-oprag": "packages/llama-index-postprocessor-oprag",
    "oprag-eval": "packages/oprag-eval",
}
"""Each distribution and the folder of its `pyproject.toml`."""

EXTRAS = {
    "langchain-oprag": "langchain",
    "llama-index-postprocessor-oprag": "llamaindex",
    "oprag-eval": "bm25,demo,llamaindex",
}
"""Those beside oprag, and the extras of oprag that each of them installs."""


def project(root: Path, name: str) -> dict:
    file = root / FOLDERS[name] / "pyproject.toml"
    return tomllib.loads(file.read_text("utf-8"))["project"]


def build(folder: Path, into: Path, *targets: str) -> None:
    """Build a folder's sdist and wheel, or one of them, without the network."""
    chosen = [word for target in targets for word in ("-t", target)]
    command = [sys.executable, "-m", "hatchling", "build", *chosen, "-d", into]
    done = subprocess.run(
        command, check=False, cwd=folder, capture_output=True, text=True
    )
    if done.returncode:
        message = f"{folder} cannot be built:\n{done.stdout}{done.stderr}"
        raise RuntimeError(message)


def build_all(root: Path, into: Path) -> list[Path]:
    """Build sdist and wheel of each distribution into an empty folder."""
    shutil.rmtree(into, ignore_errors=True)
    for folder in FOLDERS.values():
        build(root / folder, into)
    return sorted(into.iterdir())


if __name__ == "__main__":
    sys.stdout.writelines(f"{file.name}\n" for file in build_all(ROOT, DIST))
