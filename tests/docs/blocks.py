"""The code blocks of a page, run as they are printed, one after another.

`python blocks.py PAGE [FRAMEWORK]` runs them in the environment of that interpreter.
It needs the standard library only, and what the page itself imports; it is offline.
"""

import contextlib
import io
import re
import sys
import types
from pathlib import Path

BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
"""A block: its language, and what is in it."""

FRAMEWORKS = {
    "langchain": re.compile(r"^\s*(?:from|import) lang(?:chain|graph)", re.MULTILINE),
    "llamaindex": re.compile(r"^\s*(?:from|import) llama_?index", re.MULTILINE),
}
"""The imports of a block that are one framework's."""

ON_CLUSTERS = re.compile(
    r"^## Large corpora on Ray\n.*?(?=^## |\Z)", re.MULTILINE | re.DOTALL
)
"""The section whose code needs a Ray cluster and a database: `tests/scale` runs it."""

_LOOPBACK = ("127.", "::1", "localhost")


def blocks_of(page: Path, framework: str | None = None) -> list[tuple[str, str]]:
    """The blocks of a page in order, as (language, code).

    Args:
        page: A Markdown file.
        framework: Only the blocks of this one, `"langchain"` or `"llamaindex"`, or with
            `"core"` those that import neither. An output stays with its code.
    """
    text = ON_CLUSTERS.sub("", page.read_text(encoding="utf-8"))
    found: list[tuple[str, str]] = BLOCK.findall(text)
    if framework is None:
        return found
    kept, is_kept = [], False
    for language, code in found:
        if language == "python":
            imports = [name for name, line in FRAMEWORKS.items() if line.search(code)]
            is_kept = (imports or ["core"]) == [framework]
        if is_kept:
            kept.append((language, code))
    return kept


def run(blocks: list[tuple[str, str]], name: str) -> int:
    """Run the Python blocks in one namespace; return how many there were.

    Args:
        blocks: As `blocks_of` returns them.
        name: What tracebacks call them.

    Raises:
        AssertionError: A `text` block is not what the block before it printed.
    """
    module = types.ModuleType("page")
    sys.modules["page"] = module  # annotations of classes are looked up there
    printed = ""
    ran = 0
    for language, code in blocks:
        if language == "python":
            output = io.StringIO()
            with contextlib.redirect_stdout(output):
                exec(compile(code, name, "exec"), module.__dict__)  # noqa: S102 -- our own docs
            printed = output.getvalue()
            ran += 1
        elif language == "text" and printed.strip() != code.strip():
            message = f"{name}: printed\n{printed}\nand the page says\n{code}"
            raise AssertionError(message)
    return ran


def stay_offline() -> None:
    """Let whatever looks up a host or connects to one fail from now on."""

    def refuse(event: str, arguments: tuple[object, ...]) -> None:
        if event == "socket.getaddrinfo":
            host = arguments[0]
        elif event == "socket.connect" and isinstance(arguments[1], tuple):
            host = arguments[1][0]
        else:
            return
        if host and not str(host).startswith(_LOOPBACK):
            message = f"offline, and asked for {host}"
            raise OSError(message)

    sys.addaudithook(refuse)


def main(page: str, framework: str | None = None) -> None:
    """Run the blocks of a page, offline, and say how many there were."""
    stay_offline()
    blocks = blocks_of(Path(page), framework)
    sys.stdout.write(f"{run(blocks, Path(page).name)} blocks\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
