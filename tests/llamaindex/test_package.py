"""The package as it is imported."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

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
