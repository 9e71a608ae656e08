"""Write the tables of `docs/architecture.md`: `make docs-architecture`.

`python -m tests.docs.architecture WALK` writes the files of one walk to standard output
instead.
"""

import ast
import re
import sys
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path

from tests.docs.walks import files_of, walks

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "architecture.md"

ADAPTERS = ("langchain_oprag", "llamaindex_oprag")
EVALUATION = "packages/oprag-eval/oprag_eval"

FLOORS = re.compile(r"^\| floor \|.*?$(?!\n\|)", re.MULTILINE | re.DOTALL)
ROW = re.compile(r"^\| \d+ \| \[`(.+)`\]\(.+\) \| (.+) \|$", re.MULTILINE)


def page() -> str:
    """Return the page as it should be, with the tables of rooms and calls made anew."""
    text, _, _ = PAGE.read_text("utf-8").partition("| call | ")
    rooms = "\n".join(_floor_table())
    text = FLOORS.sub(lambda _: rooms, text)
    return text + "\n".join(_walk_table()) + "\n"


def decisions() -> dict[str, list[str]]:
    """Return the decisions that the page names, by the room or file that takes them."""
    return {
        place: decided.split("; ")
        for place, decided in ROW.findall(PAGE.read_text("utf-8"))
    }


def floors() -> list[list[str]]:
    """Return the floors from the top, each as paths; what a file begins is the ground.

    As `pyproject.toml` orders the layers of `oprag`, with the adapters, which are
    packages of their own, between the rooms and what builds on them, and `oprag_eval`
    above all.
    """
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    contracts = settings["tool"]["importlinter"]["contracts"]
    layers = next(c["layers"] for c in contracts if c["type"] == "layers")
    found: list[list[str]] = [[EVALUATION]]
    ground: list[str] = []
    for layer in layers:
        names = [name.strip() for name in layer.split("|")]
        rooms = [f"oprag/{name}" for name in names if (ROOT / "oprag" / name).is_dir()]
        files = [f"oprag/{name}.py" for name in names if f"oprag/{name}" not in rooms]
        ground += [file for file in files if not file.endswith("__main__.py")]
        if ground:
            ground += rooms
        elif rooms:
            found.append(rooms)
        if "oprag/scale" in rooms:
            found.append(list(ADAPTERS))
    return [*found, ground]


def sentence(place: str) -> str:
    """Return what a file, or the door of a room, says about itself first."""
    path = ROOT / place
    file = path / "__init__.py" if path.is_dir() else path
    documented = ast.get_docstring(ast.parse(file.read_text("utf-8"))) or ""
    return " ".join(documented.split("\n\n")[0].split())


def _link(place: str) -> str:
    return f"[`{place}`](../{place})"


def _floor_table() -> Iterator[str]:
    yield "| floor | room | decides |"
    yield "|--:|---|---|"
    known = decisions()
    levels = floors()
    for height, places in zip(range(len(levels) - 1, -1, -1), levels, strict=True):
        for place in places:
            yield f"| {height} | {_link(place)} | {'; '.join(known.get(place, []))} |"


def _walk_table() -> Iterator[str]:
    yield "| call | name | files |"
    yield "|---|---|--:|"
    for name, walk in walks().items():
        yield f"| {walk.title} | `{name}` | {len(files_of(name))} |"


def steps(name: str) -> Sequence[str]:
    """Return a line about each file that a walk runs, in the order of their calls."""
    title = walks()[name].call
    files = enumerate(files_of(name), 1)
    return [title, *(f"{n}. {file}: {sentence(file)}" for n, file in files)]


if __name__ == "__main__":
    if named := sys.argv[1:]:
        sys.stdout.write("\n".join(steps(named[0])) + "\n")
    else:
        PAGE.write_text(page(), "utf-8")
