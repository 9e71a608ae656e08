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

ELSEWHERE = {"oprag_eval": "packages/oprag-eval/oprag_eval"}
"""The folder of a package that is not beside `oprag`."""

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

    First the packages, then the layers inside `oprag`, as `pyproject.toml` orders them.
    """
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    contracts = settings["tool"]["importlinter"]["contracts"]
    packages, rooms = (c["layers"] for c in contracts if c["type"] == "layers")
    above = [_split(layer) for layer in packages[:-1]]
    inside = [[_path_in_core(name) for name in _split(layer)] for layer in rooms]
    first_file = next(n for n, floor in enumerate(inside) if floor[0].endswith(".py"))
    return [
        *([ELSEWHERE.get(name, name) for name in floor] for floor in above),
        *inside[:first_file],
        [place for floor in inside[first_file:] for place in floor],
    ]


def _split(layer: str) -> list[str]:
    return [name.strip() for name in layer.split("|")]


def _path_in_core(name: str) -> str:
    is_room = (ROOT / "oprag" / name).is_dir()
    return f"oprag/{name}" if is_room else f"oprag/{name}.py"


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
