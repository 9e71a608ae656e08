"""Promises of pip: extras that exist, and tested bounds."""

import re
import tomllib
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

ROOT = Path(__file__).parents[1]
PACKAGES = {"langchain_oprag", "llamaindex_oprag", "oprag", "oprag_cli", "oprag_ray"}
EVAL = ROOT / "packages" / "oprag-eval"
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
OF_EVAL = tomllib.loads((EVAL / "pyproject.toml").read_text("utf-8"))["project"]
EXTRAS = PYPROJECT["project"]["optional-dependencies"]
GROUPS = PYPROJECT["dependency-groups"]


def requirements(lines) -> list[Requirement]:
    """Parse dependencies, without the inclusions of other groups."""
    return [Requirement(line) for line in lines if isinstance(line, str)]


def pins(file: str) -> dict[str, str]:
    """Read a constraints file: normalised name to version."""
    lines = (ROOT / file).read_text("utf-8").splitlines()
    pairs = (line.split("==") for line in lines if line and line[0] != "#")
    return {canonicalize_name(name): version for name, version in pairs}


def named_extras(text: str) -> set[str]:
    """Collect the extras named in a text: `oprag[…]` and `extra="…"`."""
    bracketed = re.findall(r"""oprag\[([^\]"'{}]*)\]""", text)
    keywords = re.findall(r"""\bextra=["'](\w+)["']""", text)
    names = {name.strip() for group in bracketed for name in group.split(",")}
    return names | set(keywords) - {"allow", "forbid", "ignore"}  # pydantic's


def test_every_extra_named_to_users_exists():
    tops = [*(ROOT / name for name in PACKAGES), EVAL]
    sources = [path for top in tops for path in top.rglob("*.py")]
    pages = [
        *ROOT.glob("*.md"),
        *ROOT.glob("docs/**/*.md"),
        *ROOT.glob("packages/*/*.md"),
        *ROOT.glob("packages/*/pyproject.toml"),
        ROOT / "pyproject.toml",
    ]

    unknown = {
        f"{path.relative_to(ROOT)}: {extra}"
        for path in [*sources, *pages]
        for extra in named_extras(path.read_text("utf-8")) - set(EXTRAS)
    }

    assert unknown == set()


def lower_bounds(lines) -> dict[str, Version]:
    """Return the lowest version that is declared of each package."""
    lowest = {}
    for requirement in requirements(lines):
        for specifier in requirement.specifier:
            if specifier.operator == ">=":
                lowest[requirement.name] = Version(specifier.version)
    return lowest


def lowest_tested(file: str) -> dict[str, Version]:
    return {name: Version(version) for name, version in pins(file).items()}


ADAPTERS = ("langchain", "llamaindex", "chroma", "bm25")
"""Extras that are tested beside LangChain 0.3; all others need 1.x."""


def test_the_adapters_are_tested_with_the_lowest_versions_declared():
    lines = [line for extra in ADAPTERS for line in EXTRAS[extra]]
    declared = lower_bounds(lines)
    tested = lowest_tested("constraints-lowest.txt")

    assert declared.items() <= tested.items()
    assert (
        tested.items() <= {**lower_bounds(GROUPS["test-adapters"]), **declared}.items()
    )


def test_all_other_extras_are_tested_with_the_lowest_versions_declared():
    extras = [lines for extra, lines in EXTRAS.items() if extra not in ADAPTERS]
    declared = lower_bounds(line for lines in extras for line in lines)
    tested = lowest_tested("constraints-lowest-extras.txt")

    assert declared.items() <= tested.items()
    groups = [*GROUPS["test-stores"], *GROUPS["test-scale"]]
    assert tested == {**lower_bounds(groups), **declared}


def test_only_torch_is_held_back():
    assert pins("constraints.txt") == {"torch": "2.13.0"}


def test_the_lock_file_holds_a_version_of_all_that_is_declared():
    locked = pins("requirements-dev.lock")
    wanted = [
        requirement
        for lines in [*EXTRAS.values(), OF_EVAL["dependencies"], *GROUPS.values()]
        for requirement in requirements(lines)
        if requirement.name != "oprag"
    ]

    assert {r.name for r in wanted} <= set(locked)
    assert [str(r) for r in wanted if not r.specifier.contains(locked[r.name])] == []


def test_upper_bounds_do_not_age():
    """A framework may be new: `make test CONSTRAINTS=` tests what is newest."""
    bounds = {
        requirement.name: specifier.version
        for extra in ("langchain", "llamaindex")
        for requirement in requirements(EXTRAS[extra])
        for specifier in requirement.specifier
        if specifier.operator != ">="
    }

    assert set(bounds.values()) == {"2"}
