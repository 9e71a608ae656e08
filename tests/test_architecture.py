"""Imports point inwards: command line → evaluation → adapters → core."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[1]
PACKAGES = ("langchain_oprag", "llamaindex_oprag", "oprag")

OUTER = ("oprag.cli", "oprag.demo", "oprag.evaluation", "oprag.__main__")
"""The outer ring: modules and packages by the beginning of their names."""

THIRD_PARTY = {
    "core": (),
    "langchain_oprag": ("langchain_core", "langchain_text_splitters", "pydantic"),
    "llamaindex_oprag": ("llama_index.core",),
}
"""What each ring may import from elsewhere when it is imported itself."""

OWN = {
    "core": ("core",),
    "langchain_oprag": ("core", "langchain_oprag"),
    "llamaindex_oprag": ("core", "llamaindex_oprag"),
}
"""What each ring may import of this project, even inside a function."""


class Import(NamedTuple):
    """One imported module, and whether importing the file runs the import."""

    module: str
    at_import: bool


def imports(source: str, package: str) -> list[Import]:
    """List the imports of a file of `package`, relative ones resolved."""
    return list(_walk(ast.parse(source), package, at_import=True))


def _walk(node: ast.AST, package: str, *, at_import: bool) -> Iterator[Import]:
    if isinstance(node, ast.Import):
        yield from (Import(alias.name, at_import) for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        # `from . import x`, `from oprag import x`: x may be a module of its own.
        parents = package.split(".")[: -(node.level - 1) or None] if node.level else []
        base = ".".join([*parents, *([node.module] if node.module else [])])
        yield from (Import(f"{base}.{alias.name}", at_import) for alias in node.names)
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
        at_import = False
    elif isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test):
        for child in node.body:
            yield from _walk(child, package, at_import=False)
        node = ast.Module(node.orelse, [])
    for child in ast.iter_child_nodes(node):
        yield from _walk(child, package, at_import=at_import)


def ring(module: str) -> str:
    """Name the ring that a module of this project belongs to."""
    top, _, _ = module.partition(".")
    if top != "oprag":
        return top
    return "outer" if module.startswith(OUTER) else "core"


def violations(source: str, module: str, package: str) -> list[str]:
    """Say which imports of a file break a rule, in the order they stand."""
    here = ring(module)
    if here == "outer":
        return []
    found = []
    for name, at_import in imports(source, package):
        top, _, _ = name.partition(".")
        if top in PACKAGES:
            allowed = ring(name) in OWN[here]
        else:
            known = name.startswith(tuple(f"{own}." for own in THIRD_PARTY[here]))
            known = known or name in THIRD_PARTY[here]
            allowed = known or top in sys.stdlib_module_names or not at_import
        if not allowed:
            found.append(f"{module} imports {name}")
    return found


class Module(NamedTuple):
    """One module of this project."""

    name: str
    package: str
    path: Path


def modules() -> list[Module]:
    """List every module of the project."""
    found = []
    for path in sorted(p for top in PACKAGES for p in (ROOT / top).rglob("*.py")):
        parts = path.relative_to(ROOT).with_suffix("").parts
        package = ".".join(parts[:-1])
        name = package if parts[-1] == "__init__" else ".".join(parts)
        found.append(Module(name, package, path))
    return found


@pytest.mark.parametrize("module", modules(), ids=lambda module: module.name)
def test_a_module_imports_only_what_its_ring_may(module):
    source = module.path.read_text("utf-8")

    assert violations(source, module.name, module.package) == []


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("oprag.chunk", "import numpy"),
        ("oprag.chunk", "try:\n    import regex\nexcept ImportError:\n    pass"),
        ("oprag.chunk", "class A:\n    from pydantic import BaseModel"),
        ("oprag.chunk", "def f():\n    import langchain_oprag"),
        ("oprag.chunk", "from oprag import cli"),
        ("oprag.chunk", "from . import cli"),
        ("oprag.chunk", "from .evaluation.metrics import token_f1"),
        ("oprag.chunk", "import oprag.demo_index"),
        ("langchain_oprag.retriever", "import langchain"),
        ("langchain_oprag.retriever", "from llamaindex_oprag import nodes"),
        ("langchain_oprag.retriever", "from oprag.evaluation import metrics"),
        ("llamaindex_oprag.retriever", "from llama_index.llms.openai import OpenAI"),
        ("llamaindex_oprag.retriever", "import pydantic"),
        ("llamaindex_oprag.retriever", "def f():\n    import langchain_oprag"),
    ],
)
def test_an_import_against_the_direction_is_seen(module, source):
    assert len(violations(source, module, module.rpartition(".")[0])) == 1


@pytest.mark.parametrize(
    ("module", "source"),
    [
        (
            "oprag.tokens.counters",
            "import json, re\nfrom collections.abc import Callable",
        ),
        ("oprag.tokens.counters", "def f():\n    import tiktoken"),
        (
            "oprag.tokens.counters",
            "if TYPE_CHECKING:\n    from tokenizers import Tokenizer",
        ),
        (
            "oprag.tokens.counters",
            "from oprag.errors import OpragError\nfrom . import chunk",
        ),
        ("langchain_oprag.retriever", "from langchain_core.documents import Document"),
        ("langchain_oprag.retriever", "from oprag import order_context"),
        ("llamaindex_oprag.nodes", "from llama_index.core.bridge import pydantic"),
        ("oprag.cli", "import typer\nfrom langchain_oprag import retriever"),
        ("oprag.evaluation.sweep", "import numpy\nimport oprag.ordering"),
    ],
)
def test_an_import_along_the_direction_is_let_be(module, source):
    assert violations(source, module, module.rpartition(".")[0]) == []


def loaded_by(statement: str) -> set[str]:
    """Run an import in a new interpreter; the top names of what it loaded."""
    code = (
        "import sys; before = set(sys.modules)\n"
        f"{statement}\n"
        "print(*sorted({m.split('.')[0] for m in set(sys.modules) - before}))"
    )
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, check=True, cwd=ROOT
    )
    return set(run.stdout.decode().split())


def test_importing_the_core_loads_nothing_but_the_standard_library():
    assert loaded_by("import oprag") - sys.stdlib_module_names == {"oprag"}


@pytest.mark.parametrize(
    ("package", "framework", "other"),
    [
        ("langchain_oprag", "langchain_core", "llama_index"),
        ("llamaindex_oprag", "llama_index", "langchain"),
    ],
)
def test_importing_an_adapter_loads_its_own_framework_alone(package, framework, other):
    loaded = loaded_by(f"import {package}")

    assert {package, "oprag", framework} <= loaded
    assert not [name for name in loaded if name.startswith(other)]
