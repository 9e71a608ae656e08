"""Without a framework, or beside one that is too old: the adapters say so.

The old frameworks are packages of the test's own, with nothing but a version.
"""

import doctest
import importlib
import subprocess
import sys
from pathlib import Path

import pytest

from tests.kit import fresh_interpreter
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


CAUGHT = """
except oprag.errors.MissingDependencyError as error:
    print(error.package, error.extra, isinstance(error, ImportError), error)
"""


@pytest.mark.parametrize(
    ("package", "extra"),
    [("langchain_core", "langchain"), ("llama_index", "llamaindex")],
)
def test_without_its_framework_an_adapter_names_the_extra(package, extra):
    said = fresh_interpreter.run(
        f"import oprag.errors\ntry:\n    import {extra}_oprag{CAUGHT}",
        without=[package],
    )

    assert said.startswith(f"{package} {extra} True")
    assert f'pip install "oprag[{extra}]"' in said


@pytest.mark.slow
def test_without_the_splitters_package_all_else_works_and_they_name_the_extra():
    said = fresh_interpreter.run(
        "import oprag.errors, langchain_oprag\n"
        "print(langchain_oprag.OrderPreservingCompressor()([]))\n"
        f"try: langchain_oprag.OffsetTokenSplitter{CAUGHT}",
        without=["langchain_text_splitters"],
    )

    nothing, error = said.splitlines()
    assert nothing == "[]"
    assert error.startswith("langchain_text_splitters langchain True")


@pytest.mark.parametrize(
    "module", ["evidence", "retrievers", "splitters", "tools", "vector_stores"]
)
def test_the_examples_in_the_docstrings_are_right(module):
    tested = doctest.testmod(importlib.import_module(f"langchain_oprag.{module}"))

    assert tested.attempted > 0
    assert tested.failed == 0
