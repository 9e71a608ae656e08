"""Print the frameworks of an environment beside the newest that the index has.

Where they differ, pip says why the newest cannot be installed. `make test-newest` runs
it with the interpreter of its environment, and with what it gives to pip.
"""

import json
import subprocess
import sys

FRAMEWORKS = ("langchain", "langchain-core", "langgraph", "llama-index-core")


def pip(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def rows(arguments: list[str]) -> list[str]:
    """One line for each framework: what is installed, the newest, and the reason."""
    listed = json.loads(pip("list", "--format", "json").stdout)
    installed = {each["name"]: each["version"] for each in listed}
    outdated = json.loads(pip("list", "--outdated", "--format", "json").stdout)
    newest = {each["name"]: each["latest_version"] for each in outdated}
    lines = []
    for name in FRAMEWORKS:
        latest = newest.get(name, "the same")
        line = f"{name}: tested {installed[name]}, newest {latest}"
        if name in newest:
            wanted = f"{name}=={latest}"
            said = pip("install", "--quiet", "--dry-run", *arguments, wanted).stderr
            reasons = [f"  {each}" for each in said.splitlines() if "WARN" not in each]
            line = "\n".join([f"{line}, because:", *reasons])
        lines.append(line)
    return lines


if __name__ == "__main__":
    sys.stdout.write("\n".join(rows(sys.argv[1:])) + "\n")
