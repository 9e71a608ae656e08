"""The code of the section on Ray runs on a cluster, and prints what the page says."""

import os
import subprocess
import sys
from pathlib import Path

from tests.docs.blocks import BLOCK, ON_CLUSTERS

PAGE = Path(__file__).parents[2] / "docs" / "large_indexes.md"


def test_code_blocks_run_as_a_script_and_print_what_the_page_shows(
    database, address, tmp_path
):
    (section,) = ON_CLUSTERS.findall(PAGE.read_text(encoding="utf-8"))
    blocks = BLOCK.findall(section)
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
