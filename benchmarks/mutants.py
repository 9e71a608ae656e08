"""Mutation testing: which small faults in the core do the tests notice?

Each mutant is one change in one file of the rooms below: a comparison turned round, a
number one higher, `and` for `or`, a condition negated, a result left out, a statement
removed. For each, the tests of its room run first, then the laws, then those of the
adapters, until one fails or all have passed. The same seed gives the same mutants of
the same tree, which is copied and stays as it is.

    python -m benchmarks.mutants --sample 200 --out /tmp/mutants.jsonl
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
ROOMS = ("context", "positions", "documents", "indexing", "routing")
LAWS = ["tests/laws"]
ADAPTERS = ["tests/parity", "tests/langchain", "tests/llamaindex"]
BESIDE = {"context": ["tests/test_ordering.py"], "positions": ["tests/locating"]}
"""Tests of a room that are not in the folder of its name."""

TURNED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}


class Mutant(NamedTuple):
    """One change: the file, the number of the change in it, its line and its kind."""

    file: str
    number: int
    line: int
    kind: str

    @property
    def room(self) -> str:
        """The room of the file: its tests run first."""
        return self.file.split("/")[1]


def changes(node: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    """Yield the kind of each change of a node, and what stands there instead."""
    match node:
        case ast.Compare(ops=[op, *rest]):
            turned = TURNED[type(op)]()
            yield (
                "comparison",
                ast.Compare(node.left, [turned, *rest], node.comparators),
            )
        case ast.BoolOp():
            other = ast.Or() if isinstance(node.op, ast.And) else ast.And()
            yield "and/or", ast.BoolOp(other, node.values)
        case ast.Constant(value=int() as value) if not isinstance(value, bool):
            yield "number", ast.Constant(value + 1)
        case ast.If() | ast.While() | ast.IfExp():
            negated = ast.UnaryOp(ast.Not(), node.test)
            yield (
                "condition",
                type(node)(**{**dict(ast.iter_fields(node)), "test": negated}),
            )
        case ast.Return(value=ast.expr() as value) if not is_none(value):
            yield "result", ast.Return(ast.Constant(None))
        case ast.Raise() | ast.AugAssign() | ast.Expr(value=ast.Call()):
            yield "statement", ast.Pass()


def is_none(value: ast.expr) -> bool:
    """Whether an expression is `None`."""
    return isinstance(value, ast.Constant) and value.value is None


class Put(ast.NodeTransformer):
    """Put one node in the place of another."""

    def __init__(self, old: ast.AST, new: ast.AST) -> None:
        self.old, self.new = old, ast.copy_location(new, old)

    def visit(self, node: ast.AST) -> ast.AST:
        """Return the new node where the old one is."""
        return self.new if node is self.old else self.generic_visit(node)


def running(node: ast.AST) -> Iterator[ast.AST]:
    """Yield every node that runs: no annotation, and nothing inside a `raise`."""
    yield node
    if isinstance(node, ast.Raise):  # all messages are in the approved table
        return
    for name, value in ast.iter_fields(node):
        if name in {"annotation", "returns", "type_params"}:
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST):
                yield from running(child)


def all_changes(tree: ast.AST) -> list[tuple[ast.AST, str, ast.AST]]:
    """List the changes of a file: the node, the kind, what it becomes."""
    return [(node, kind, new) for node in running(tree) for kind, new in changes(node)]


def mutants(root: Path, rooms: list[str]) -> list[Mutant]:
    """List the mutants of every file of some rooms, in the order of the files."""
    return [
        Mutant(path.relative_to(root).as_posix(), number, node.lineno, kind)
        for room in rooms
        for path in sorted((root / "oprag" / room).rglob("*.py"))
        for number, (node, kind, _) in enumerate(
            all_changes(ast.parse(path.read_text("utf-8")))
        )
    ]


def mutated(source: str, number: int) -> str:
    """Return a file's source with one change."""
    tree = ast.parse(source)
    old, _, new = all_changes(tree)[number]
    return ast.unparse(ast.fix_missing_locations(Put(old, new).visit(tree)))


def copy(folder: Path) -> None:
    """Copy what git knows of the tree, with the changes that are not committed."""
    listed = subprocess.run(
        ["git", "ls-files", "-z"],  # noqa: S607
        cwd=ROOT,
        capture_output=True,
        check=True,
        text=True,
    )
    for name in filter(None, listed.stdout.split("\0")):
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)


def stages(room: str) -> dict[str, list[str]]:
    """Name the tests of a room, those nearest to it first."""
    return {
        "room": [f"tests/{room}", *BESIDE.get(room, ())],
        "laws": LAWS,
        "adapters": ADAPTERS,
    }


def failure(tests: list[str], root: Path, limit: float) -> str | None:
    """Run some tests until one fails: its name, or `None` if all pass."""
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider"]
    command += ["-m", "not (stores or scale or browser)", "--tb=no", *tests]
    # The same generated cases for every mutant; a group of its own, to be ended whole.
    run = subprocess.Popen(  # noqa: S603 -- this interpreter
        command,
        cwd=root,
        env={**os.environ, "PYTHONPATH": str(root), "CI": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    try:
        said, _ = run.communicate(timeout=limit)
    except subprocess.TimeoutExpired:
        os.killpg(run.pid, signal.SIGKILL)
        run.communicate()
        return "time limit"
    if not run.returncode:
        return None
    named = re.search(r"^(?:FAILED|ERROR) (\S+)", said, re.MULTILINE)
    return named[1] if named else said[-200:]


def noticed(room: str, root: Path, limit: float, skip: set[str]) -> dict[str, str]:
    """Return which tests of a room fail, and the first of them."""
    for name, tests in stages(room).items():
        test = None if name in skip else failure(tests, root, limit)
        if test is not None:
            return {"by": name, "test": test}
    return {"by": "survived"}


def judged(mutant: Mutant, root: Path, limit: float, skip: set[str]) -> dict[str, str]:
    """Return which tests noticed a mutant, and the first of them."""
    path = root / mutant.file
    before = path.read_text("utf-8")
    path.write_text(mutated(before, mutant.number), "utf-8")
    try:
        return noticed(mutant.room, root, limit, skip)
    finally:
        path.write_text(before, "utf-8")


def main() -> None:
    """Judge a sample of the mutants, and report how many were noticed by what."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sample", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--rooms", nargs="*", default=ROOMS, choices=ROOMS)
    parser.add_argument("--limit", type=float, default=900, help="seconds per stage")
    parser.add_argument("--skip", nargs="*", default=[], help="stages left out")
    parser.add_argument("--out", type=Path, help="a line of JSON for each mutant")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        copy(root)
        found = mutants(root, given.rooms)
        chance = random.Random(given.seed)  # noqa: S311 -- no secret
        sample = chance.sample(found, min(given.sample, len(found)))
        for room in sorted({mutant.room for mutant in sample}):
            if test := noticed(room, root, given.limit, set(given.skip)).get("test"):
                parser.error(f"{test} fails without a mutant")
        counted: Counter[str] = Counter()
        for mutant in sample:
            began = time.monotonic()
            by = judged(mutant, root, given.limit, set(given.skip))
            counted[by["by"]] += 1
            fields = {**mutant._asdict(), **by}
            line = json.dumps({**fields, "seconds": round(time.monotonic() - began)})
            print(line, flush=True)
            if given.out:
                with given.out.open("a", encoding="utf-8") as file:
                    file.write(line + "\n")
    print(f"{len(sample)} of {len(found)} mutants:", dict(counted))


if __name__ == "__main__":
    main()
