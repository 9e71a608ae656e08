"""Beside frameworks that are too old: the adapters say so, and the core works.

The old frameworks are packages of the test's own, with nothing but a version.
"""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.test_packaging import EXTRAS, requirements

ROOT = Path(__file__).parents[1]
FRAMEWORKS = {
    "langchain": ("langchain-core", "langchain_core/__init__.py", "__version__ = {!r}"),
    "llamaindex": (
        "llama-index-core",
        "llama_index/core/__init__.py",
        "__version__ = {!r}",
    ),
}

IMPORT = """
from oprag import order_context
places = [{{"source": "a.txt", "start_index": place}} for place in (9, 0)]
print([passage.text for passage in order_context(["late", "early"], places)])
try:
    import {extra}_oprag
except ImportError as error:
    print(type(error).__name__, error.installed, error.needed, error.extra)
    print(error)
"""


def said_beside(framework: str, version: str, folder: Path) -> list[str]:
    """Import the adapter where this version of its framework comes first."""
    _, file, content = FRAMEWORKS[framework]
    module = folder / file
    module.parent.mkdir(parents=True)
    module.write_text(content.format(version))
    code = f"import sys; sys.path[:0] = {[str(folder), str(ROOT)]!r}"
    done = subprocess.run(
        [sys.executable, "-c", code + IMPORT.format(extra=framework)],
        capture_output=True,
        check=True,
        text=True,
    )
    return done.stdout.splitlines()


@pytest.mark.parametrize(
    ("framework", "version"),
    [
        ("langchain", "0.2.43"),
        ("langchain", "0.3.67"),
        ("langchain", "0.3.9rc1"),
        ("llamaindex", "0.12.52.post1"),
        ("llamaindex", "0.14.17"),
    ],
)
def test_an_old_framework_is_named_with_the_version_needed_and_the_ways_out(
    framework, version, tmp_path
):
    ordered, facts, message = said_beside(framework, version, tmp_path)

    name = FRAMEWORKS[framework][0]
    (declared,) = (r for r in requirements(EXTRAS[framework]) if r.name == name)
    needed = facts.split()[2]
    assert f">={needed}" in str(declared.specifier)
    assert ordered == "['early', 'late']"
    assert facts == f"MissingDependencyError {version} {needed} {framework}"
    assert message == (
        f"{framework}_oprag needs {name} {needed} or newer, and {version} is "
        f'installed. Upgrade it with: pip install "oprag[{framework}]". Where it has '
        "to stay, call oprag.order_context(texts, metadatas), which needs no framework."
    )
