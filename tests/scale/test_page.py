"""The code of the page on Ray runs on a cluster, and prints what the page says."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.docs.blocks import ON_CLUSTERS, blocks_of

DOCS = Path(__file__).parents[2] / "docs"


@pytest.mark.parametrize("page", sorted(ON_CLUSTERS))
def test_code_blocks_run_as_a_script_and_print_what_the_page_shows(
    page, database, address, tmp_path
):
    blocks = blocks_of(DOCS / page)
    script = tmp_path / "page.py"
    script.write_text("\n".join(code for kind, code in blocks if kind == "python"))

    run = subprocess.run(
        [sys.executable, script],
        env={
            **os.environ,
            "DATABASE": f"postgresql+psycopg://{database}",
            "RAY_ADDRESS": address,
        },
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )

    assert run.returncode == 0, run.stderr
    assert run.stdout == "".join(code for kind, code in blocks if kind == "text")
