"""Print what an environment has of each framework and client beside the newest.

Where they differ, it says which installed packages hold the newest back. `make test
CONSTRAINTS=` runs it with the interpreter of its environment.
"""

import json
import subprocess
import sys
from importlib.metadata import distributions, version

from packaging.requirements import Requirement

NAMES = (
    *("langchain", "langchain-core", "langgraph", "llama-index-core"),
    *("chromadb", "langchain-openai", "mcp", "nicegui", "openai"),
    *("sentence-transformers", "starlette", "tiktoken", "typer"),
)


def find_newest(name: str) -> str:
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "index"]
    listed = subprocess.run(
        [*command, "versions", "--json", name],
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    newest: str = json.loads(listed.stdout)["latest"]
    return newest


def find_holders(name: str, newest: str) -> list[str]:
    """Return the requirements of installed packages that the newest does not meet."""
    holders = []
    for distribution in distributions():
        for line in distribution.requires or ():
            wanted = Requirement(line)
            is_meant = wanted.name.lower().replace("_", "-") == name
            if is_meant and not wanted.specifier.contains(newest):
                holders.append(
                    f"  {distribution.name}: {wanted.name}{wanted.specifier}"
                )
    return sorted({*holders})


def rows() -> list[str]:
    """Return a line for each: what is installed, the newest, and what holds it."""
    lines = []
    for name in NAMES:
        tested, newest = version(name), find_newest(name)
        lines.append(f"{name}: tested {tested}, newest {newest}")
        if newest != tested:
            lines += find_holders(name, newest)
    return lines


if __name__ == "__main__":
    sys.stdout.write("\n".join(rows()) + "\n")
