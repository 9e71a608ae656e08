"""The package as it is imported."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def run(code: str, **environment: str) -> str:
    """Run code in a new interpreter and give what it prints."""
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        check=True,
        cwd=ROOT,
        env={**os.environ, **environment},
        text=True,
    )
    return done.stdout.strip()


def test_without_llamaindex_the_error_names_what_to_install():
    printed = run(
        "import sys\n"
        "sys.modules['llama_index'] = None\n"
        "from oprag.errors import MissingDependencyError\n"
        "try:\n"
        "    import llamaindex_oprag\n"
        "except MissingDependencyError as error:\n"
        "    print(error.package, error.extra, error)\n"
    )

    assert printed.startswith("llama_index llamaindex ")
    assert 'pip install "oprag[llamaindex]"' in printed


def test_another_import_that_fails_is_not_taken_for_it():
    printed = run(
        "import sys\n"
        "sys.modules['pydantic'] = None\n"
        "try:\n"
        "    import llamaindex_oprag\n"
        "except ImportError as error:\n"
        "    print(type(error).__name__, error.name)\n"
    )

    assert printed == "ModuleNotFoundError pydantic"


@pytest.mark.slow
def test_the_context_is_the_same_under_every_hash_seed():
    code = (
        "from llamaindex_oprag import OrderPreservingRetriever\n"
        "from tests.llamaindex.corpus import QUESTION, document, index\n"
        "lease = index(document('a'), document('b'))\n"
        "ours = OrderPreservingRetriever(lease.as_retriever(), token_budget=400,\n"
        "    merge=True, citations=True)\n"
        "print(ascii([node.to_dict() for node in ours.retrieve(QUESTION)]))\n"
    )

    printed = {run(code, PYTHONHASHSEED=seed) for seed in ("0", "77")}

    assert len(printed) == 1
    assert len(printed.pop()) > 1_000
