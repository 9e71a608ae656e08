"""Write `docs/architecture.md` from the code: `make docs-architecture`."""

from __future__ import annotations

import ast
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path

from tests.docs.walks import files_of, walks

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "architecture.md"

ADAPTERS = ("langchain_oprag", "llamaindex_oprag")
EVALUATION = "packages/oprag-eval/oprag_eval"

DECISIONS = (
    ("The order of documents and their chunks", "oprag/ordering.py"),
    ("What a chunk, a passage and a full text are", "oprag/chunk.py"),
    ("The name of each metadata key", "oprag/metadata.py"),
    ("The errors and their messages", "oprag/errors"),
    ("The error for a package that is not installed", "oprag/optional.py"),
    ("What a token is, and how many a text has", "oprag/tokens"),
    ("Which document, part and place the metadata name", "oprag/positions"),
    ("What happens when a place is missing or contradicts another", "oprag/positions"),
    ("Where a chunk is in its source, and whether that is proved", "oprag/locating"),
    ("Where a text is cut, and what one chunk may count", "oprag/splitting"),
    ("Which options there are and which values they take", "oprag/context"),
    ("Which chunks a budget holds, and which are merged", "oprag/context"),
    ("How passages are written as text, with places and gap marks", "oprag/context"),
    ("Whether a document is whole", "oprag/documents"),
    ("What a store of chunks must be able to do", "oprag/documents"),
    ("What a prompt says, and how much of a window it may fill", "oprag/calls"),
    ("What a model's failure means", "oprag/calls"),
    ("What an index adds, replaces and removes, and when", "oprag/indexing"),
    ("What is wrong with an index, and how it is repaired", "oprag/diagnosing"),
    ("What a model may read by name and place", "oprag/reading"),
    ("What a refusal is, and when the full documents are read", "oprag/routing"),
    ("How documents are grouped into long units and read", "oprag/units"),
    ("How LangChain's objects become chunks, and passages its objects", ADAPTERS[0]),
    ("How LlamaIndex's objects become chunks, and passages its objects", ADAPTERS[1]),
    ("What a store of another author must do", "oprag/testing"),
    ("How a cluster is connected to, and what runs on it", "oprag/scale"),
    ("How files are read and written", "oprag/files"),
    ("What the commands ask, print and return", "oprag/cli"),
    ("What is measured on the papers' data, and how", EVALUATION),
)
"""Every decision once, from the ground upwards, with the room or file that takes it."""

_HEAD = """\
# Architecture

`make docs-architecture` writes this page from the code, and a test fails when it is out
of date.

oprag puts retrieved chunks back in the order in which the author wrote them. One file
does that: [`oprag/ordering.py`](../oprag/ordering.py). All others prepare its input or
use its result.

One distribution, three packages. `oprag` holds the methods and imports the standard
library alone. `langchain_oprag` and `llamaindex_oprag` are adapters: they convert the
framework's objects, call `oprag`, and convert back. `packages/` has three more
distributions: `oprag-eval`, which adds the commands that measure, and two that install
this one by the names that each framework's users look for.
"""

_FLOORS = """\
## Floors and rooms

A room is a folder of `oprag` with one purpose. Its `__init__.py` is its door: from
outside, only names of the door are imported. Imports point downwards. Rooms on one
floor do not import each other. `pyproject.toml` has these rules, and `make check`
fails if one is broken.

`tests/` has a folder for every room and a file for every module; `tests/laws/` holds
what must be true of any input. `examples/` runs without a network or a key.
`benchmarks/` measures.
"""

_FLOW = """\
## Data flow

```
framework's results → Chunk (document, place, rank) → select → order → merge
→ Passage (spans, rank, citation) → framework's objects, or text with places
```

Data flows one way. The adapter reads what was retrieved as `Chunk`s. `oprag.context`
selects, orders and merges them within the budget. The adapter turns the result into its
framework's objects, or `render` writes it as text. Inputs are never changed.
"""

_DECIDED = """\
## One decision, one place

Look here before you write a new rule. What both adapters need is decided in `oprag`.
"""

_WALKS = """\
## Which files run

These calls were made and recorded. The list names the files of this project that
ran, in the order in which each was first called. Imports, and what is cached after the
first call, are left out.
"""


def page() -> str:
    """Return the page as it should be."""
    sections = [
        _HEAD,
        _FLOORS,
        "\n".join(_floor_table()) + "\n",
        _FLOW,
        _DECIDED,
        "\n".join(_decision_table()) + "\n",
        _WALKS,
        "\n".join(_walk_table()) + "\n",
        *("\n".join(_walk(name)) + "\n" for name in walks() if walks()[name].listed),
    ]
    return "\n".join(sections)


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
    yield "| floor | room | what it is for |"
    yield "|--:|---|---|"
    levels = floors()
    for height, places in zip(range(len(levels) - 1, -1, -1), levels, strict=True):
        for place in places:
            yield f"| {height} | {_link(place)} | {sentence(place)} |"


def _decision_table() -> Iterator[str]:
    yield "| what is decided | where |"
    yield "|---|---|"
    for decision, place in DECISIONS:
        yield f"| {decision} | {_link(place)} |"


def _walk_table() -> Iterator[str]:
    yield "| call | files |"
    yield "|---|--:|"
    for name, walk in walks().items():
        yield f"| {walk.title} | {len(files_of(name))} |"


def _walk(name: str) -> Sequence[str]:
    walk = walks()[name]
    steps = [
        f"{number}. {_link(file)}: {sentence(file)}"
        for number, file in enumerate(files_of(name), 1)
    ]
    return [f"### {walk.title}", "", f"`{walk.call}`", "", *steps]


if __name__ == "__main__":
    PAGE.write_text(page(), "utf-8")
