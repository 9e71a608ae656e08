"""What `import langchain_oprag` needs, and what it says when that is missing."""

import doctest
import importlib
import subprocess
import sys

import pytest


def run(*lines: str) -> str:
    """Run lines in a new interpreter; what they printed."""
    command = [sys.executable, "-W", "error", "-c", "\n".join(lines)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def without(package: str) -> tuple[str, str]:
    """Lines that make a package look as if it were not installed."""
    return "import sys", f"sys.modules[{package!r}] = None"


CAUGHT = (
    "except oprag.errors.MissingDependencyError as error:",
    "    print(error.package, error.extra, isinstance(error, ImportError), error)",
)


def test_without_the_framework_the_error_names_the_extra():
    said = run(
        *without("langchain_core"),
        "import oprag.errors",
        "try:",
        "    import langchain_oprag",
        *CAUGHT,
    )

    assert said.startswith("langchain_core langchain True")
    assert 'pip install "oprag[langchain]"' in said


@pytest.mark.slow
def test_without_the_splitters_package_all_else_works_and_they_name_the_extra():
    said = run(
        *without("langchain_text_splitters"),
        "import oprag.errors, langchain_oprag",
        "print(langchain_oprag.OrderPreservingCompressor()([]))",
        "for name in ('OffsetTokenSplitter', 'OffsetSentenceSplitter'):",
        "    try:",
        "        getattr(langchain_oprag, name)",
        *(f"    {line}" for line in CAUGHT),
    ).splitlines()

    assert said[0] == "[]"
    assert len(said) == 3
    for error in said[1:]:
        assert error.startswith("langchain_text_splitters langchain True")
        assert 'pip install "oprag[langchain]"' in error


@pytest.mark.slow
def test_importing_it_does_not_import_the_splitters_package():
    said = run(
        "import langchain_oprag, sys",
        "print('langchain_text_splitters' in sys.modules)",
        "langchain_oprag.OffsetTokenSplitter",
        "print('langchain_text_splitters' in sys.modules)",
    )

    assert said.split() == ["False", "True"]


@pytest.mark.parametrize(
    "module", ["evidence", "retrievers", "splitters", "tools", "vector_stores"]
)
def test_the_examples_in_the_docstrings_are_right(module):
    tested = doctest.testmod(importlib.import_module(f"langchain_oprag.{module}"))

    assert tested.attempted > 0
    assert tested.failed == 0
