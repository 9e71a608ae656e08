"""Print what an environment has of each framework and client beside the newest.

Where they differ, pip says why the newest cannot be installed. `make test CONSTRAINTS=`
runs it with the interpreter of its environment, and with what it gives to pip.
"""

import json
import subprocess
import sys

NAMES = (
    *("langchain", "langchain-core", "langgraph", "llama-index-core"),
    *("chromadb", "langchain-openai", "mcp", "nicegui", "openai"),
    *("sentence-transformers", "starlette", "tiktoken", "typer"),
)


def pip(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def rows(arguments: list[str]) -> list[str]:
    """Return a line for each: what is installed, the newest, and the reason."""
    listed = json.loads(pip("list", "--format", "json").stdout)
    installed = {each["name"]: each["version"] for each in listed}
    lines = []
    for name in NAMES:
        latest = json.loads(pip("index", "versions", "--json", name).stdout)["latest"]
        line = f"{name}: tested {installed[name]}, newest {latest}"
        if latest != installed[name]:
            wanted = f"{name}=={latest}"
            said = pip("install", "--quiet", "--dry-run", *arguments, wanted).stderr
            reasons = [f"  {each}" for each in said.splitlines() if "WARN" not in each]
            line = "\n".join([f"{line}, because:", *reasons])
        lines.append(line)
    return lines


if __name__ == "__main__":
    sys.stdout.write("\n".join(rows(sys.argv[1:])) + "\n")
