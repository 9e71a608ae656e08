"""The code blocks of a page, run as they are printed, one after another.

`python blocks.py PAGE FRAMEWORK` runs those that a reader with that framework runs, as
if the other framework was not installed. It needs the standard library only, and the
packages that the page imports. It is offline.
"""

import ast
import builtins
import contextlib
import importlib.machinery
import io
import re
import sys
import types
import warnings
from pathlib import Path

BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
"""A block: its language, and what is in it."""

FRAMEWORKS = {
    "langchain": re.compile(r"^\s*(?:from|import) lang(?:chain|graph)", re.MULTILINE),
    "llamaindex": re.compile(r"^\s*(?:from|import) llama_?index", re.MULTILINE),
}
"""The imports of a block that are one framework's."""

PREFIXES = {
    "langchain": ("langchain", "langgraph"),
    "llamaindex": ("llama_index", "llamaindex"),
}
"""How the names of one framework's packages begin."""

ON_CLUSTERS = re.compile(
    r"^## On a Ray cluster\n.*?(?=^## |\Z)", re.MULTILINE | re.DOTALL
)
"""The section whose code needs a Ray cluster and a database: `tests/scale` runs it."""

EXPECTED = (
    # The texts behind the pages are so short that everything fits their budgets.
    r".* retrieved chunks fit into token_budget",
    # LlamaIndex leaves the agent's memory out of a context that is saved.
    "Skipping serialization of known unserializable",
)
"""Warnings that readers of the pages see, too."""

_LOOPBACK = ("127.", "::1", "localhost")


def blocks_of(page: Path) -> list[tuple[str, str]]:
    """Return the blocks of a page in order, as (language, code)."""
    text = ON_CLUSTERS.sub("", page.read_text(encoding="utf-8"))
    found: list[tuple[str, str]] = BLOCK.findall(text)
    return found


def frameworks_of(page: Path) -> list[str]:
    """Return the frameworks that a page's code imports; `"core"` if it has none."""
    code = "\n".join(code for language, code in blocks_of(page) if language == "python")
    found = [name for name, line in FRAMEWORKS.items() if line.search(code)]
    return found or ["core"]


def blocks_for(page: Path, framework: str) -> list[tuple[str, str]]:
    """Return the blocks that somebody who has one framework runs.

    A block is left out if it imports the other framework, or uses a name that was last
    bound in a block that is left out. An output stays with its code.

    Args:
        page: A Markdown file.
        framework: `"langchain"`, `"llamaindex"`, or `"core"` for neither.
    """
    foreign = [line for name, line in FRAMEWORKS.items() if name != framework]
    kept = []
    is_kept = False
    bound_by_kept: dict[str, bool] = {}
    for language, code in blocks_of(page):
        if language == "python":
            bound, used = names_of(code)
            is_kept = not any(line.search(code) for line in foreign)
            is_kept = is_kept and all(bound_by_kept.get(name, True) for name in used)
            bound_by_kept.update(dict.fromkeys(bound, is_kept))
        if is_kept:
            kept.append((language, code))
    return kept


def names_of(code: str) -> tuple[set[str], set[str]]:
    """Return the names that a block binds, and those that it takes from elsewhere."""
    bound: set[str] = set()
    used: set[str] = set()
    for node in ast.walk(ast.parse(code)):
        match node:
            case ast.Name(id=name, ctx=ast.Load()):
                used.add(name)
            case ast.Name(id=name) | ast.arg(arg=name):
                bound.add(name)
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                bound.add(name)
            case ast.ClassDef(name=name):
                bound.add(name)
            case ast.alias(name=name, asname=other):
                bound.add(other or name.partition(".")[0])
            case ast.ExceptHandler(name=str(name)):
                bound.add(name)
    return bound, used - bound - set(vars(builtins))


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


class Without(importlib.machinery.PathFinder):
    """Finds what another finder finds, but no package of some names."""

    def __init__(self, finder, prefixes):  # type: ignore[no-untyped-def]
        self.finder = finder
        self.prefixes = prefixes

    def find_spec(self, name, path=None, target=None):  # type: ignore[no-untyped-def, override]
        """Return None, as for a package that is not installed, if it is one of them."""
        if name.startswith(self.prefixes):
            return None
        return self.finder.find_spec(name, path, target)


def hide_others(framework: str) -> None:
    """Let no package of another framework be found from now on."""
    prefixes = [p for name, p in PREFIXES.items() if name != framework]
    hidden = tuple(one for several in prefixes for one in several)
    sys.meta_path[:] = [Without(finder, hidden) for finder in sys.meta_path]


def main(page: str, framework: str) -> None:
    """Run the blocks of a page for one framework, offline, and count them."""
    stay_offline()
    hide_others(framework)
    for message in EXPECTED:
        warnings.filterwarnings("ignore", message)
    # LlamaIndex's agents use what pydantic and its own workflows deprecate.
    warnings.simplefilter("ignore", DeprecationWarning)
    blocks = blocks_for(Path(page), framework)
    sys.stdout.write(f"{run(blocks, Path(page).name)} blocks\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
