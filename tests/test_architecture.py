"""The house: what may be imported from where, and how much lies loose.

The floors and the doors are contracts of import-linter (`pyproject.toml`); here each
of them is broken once. What is imported from elsewhere is read from the source.
"""

import ast
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.kit import fresh_interpreter
from tests.test_packaging import EVAL, PACKAGES, PYPROJECT

ROOT = Path(__file__).parents[1]
CONTRACTS = PYPROJECT["tool"]["importlinter"]["contracts"]

ROOMS = {path.parent.name for path in ROOT.glob("oprag/*/__init__.py")}

THIRD_PARTY = {
    "oprag": (),
    "langchain_oprag": (
        *("langchain_core", "langchain_text_splitters", "pydantic"),
        "typing_extensions",  # of both: LangGraph's states are of its TypedDict
    ),
    "llamaindex_oprag": ("llama_index.core",),
    "oprag_ray": (),
}
"""The imports that importing a package may cause; the command line imports anything."""


class Module(NamedTuple):
    """One module of this project."""

    name: str
    path: Path

    @property
    def package(self) -> str:
        """The package that it is in."""
        return self.name.partition(".")[0]


def modules() -> list[Module]:
    """List every module of the project."""
    return [
        Module(".".join(path.relative_to(ROOT).with_suffix("").parts), path)
        for top in sorted(PACKAGES)
        for path in sorted((ROOT / top).rglob("*.py"))
    ]


def imports_at_import(node: ast.AST) -> Iterator[str]:
    """Name what importing a file imports from other packages, in any block."""
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom) and not node.level:
        yield from (f"{node.module}.{alias.name}" for alias in node.names)
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
        return
    if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test):
        node = ast.Module(node.orelse, [])
    for child in ast.iter_child_nodes(node):
        yield from imports_at_import(child)


def foreign(source: str, package: str) -> list[str]:
    """Name what a file of `package` imports and may not."""
    allowed = tuple(f"{name}." for name in (*THIRD_PARTY[package], *PACKAGES))
    return [
        name
        for name in imports_at_import(ast.parse(source))
        if name.partition(".")[0] not in sys.stdlib_module_names
        and not f"{name}.".startswith(allowed)
    ]


def test_a_module_imports_only_the_third_parties_of_its_package():
    for module in modules():
        if module.package in THIRD_PARTY:
            source = module.path.read_text("utf-8")

            assert foreign(source, module.package) == [], module.name


def loaded_by(statement: str) -> set[str]:
    """Run an import in a new interpreter; the top names of what it loaded."""
    code = (
        "import sys; before = set(sys.modules)\n"
        f"{statement}\n"
        "print(*sorted({m.split('.')[0] for m in set(sys.modules) - before}))"
    )
    return set(fresh_interpreter.run(code).split())


@pytest.mark.parametrize("module", ["oprag", "oprag.testing"])
def test_importing_the_core_loads_nothing_but_the_standard_library(module):
    assert loaded_by(f"import {module}") - sys.stdlib_module_names == {"oprag"}


@pytest.mark.slow
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


def verdicts(root: Path) -> dict[str, str]:
    """Run import-linter on the packages under `root`: KEPT or BROKEN, by contract."""
    code = "from importlinter.cli import lint_imports_command as run; run()"
    config = ["--config", str(ROOT / "pyproject.toml"), "--no-cache", "--no-logo"]
    run = subprocess.run(
        [sys.executable, "-c", code, *config],
        capture_output=True,
        check=False,
        cwd=root,
        text=True,
    )
    return dict(re.findall(r"^(.+) (KEPT|BROKEN)\b", run.stdout, re.MULTILINE))


def inside(room: str) -> str:
    """Name a module behind the door of a room."""
    return min(path.stem for path in ROOT.glob(f"oprag/{room}/[a-z]*.py"))


BAD_IMPORTS = {
    "oprag/loose.py": "",  # a module without a floor
    "oprag/tokens/front_door.py": "from oprag import Chunk",
    "oprag/tokens/round.py": "from oprag.tokens import about",
    "oprag/tokens/about.py": "from oprag.tokens import round",
    "oprag/tokens/upward.py": "import oprag.testing, langchain_oprag, oprag_eval",
    "oprag_cli/round.py": "from oprag_cli import about",
    "oprag_cli/about.py": "from oprag_cli import round",
    "langchain_oprag/sideways.py": "import llamaindex_oprag, oprag_cli, oprag_ray",
    "langchain_oprag/deep.py": "\n".join(
        f"import oprag.{room}.{inside(room)}" for room in sorted(ROOMS)
    )
    + "\nimport oprag_ray.clusters",
}
"""Breaks every contract, with files that the packages do not have."""


@pytest.fixture
def copied(tmp_path) -> Path:
    """All packages, to be spoilt."""
    for folder in (*(ROOT / package for package in PACKAGES), EVAL / "oprag_eval"):
        only = shutil.ignore_patterns("__pycache__", "templates")
        shutil.copytree(folder, tmp_path / folder.name, ignore=only)
    return tmp_path


@pytest.mark.slow
def test_import_linter_keeps_every_contract_until_it_is_broken(copied):
    names = {contract["name"] for contract in CONTRACTS}
    before = verdicts(copied)
    for file, source in BAD_IMPORTS.items():
        (copied / file).write_text(source, "utf-8")

    assert before == dict.fromkeys(names, "KEPT")
    assert verdicts(copied) == dict.fromkeys(names, "BROKEN")


def test_every_room_has_a_door():
    doors = {
        tuple(contract["protected_modules"]): tuple(contract["allowed_importers"])
        for contract in CONTRACTS
        if contract["type"] == "protected"
    }

    assert {((f"oprag.{room}.*",), (f"oprag.{room}",)) for room in ROOMS} <= set(
        doors.items()
    )


def test_little_lies_loose_at_the_front_door():
    folders = {path.parent for path in ROOT.glob("oprag/*/__init__.py")}

    assert len({*folders, *ROOT.glob("oprag/*.py")}) <= 30


def test_only_doors_list_their_names():
    listing = {
        module.name.removesuffix(".__init__")
        for module in modules()
        if re.search(r"^__all__\b", module.path.read_text("utf-8"), re.MULTILINE)
        and module.path.name != "__init__.py"
    }

    assert listing == set()
