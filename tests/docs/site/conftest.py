"""The documentation site, built once; `make docs` names the folder of its own."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.docs.site.reading import Html
from tests.evaluation.reports.test_page_in_browser import browser

__all__ = ["browser"]

ROOT = Path(__file__).parents[3]
BUILT = os.environ.get("OPRAG_SITE")


@pytest.fixture(scope="session")
def site(tmp_path_factory) -> Path:
    """The folder of the site, built without a network; a warning is an error."""
    if BUILT:
        return ROOT / BUILT
    folder = tmp_path_factory.mktemp("site")
    code = (
        "from mkdocs.__main__ import cli\n"
        "from tests.docs.blocks import stay_offline\n"
        "stay_offline()\n"
        f"cli(['build', '--strict', '--quiet', '--site-dir', {str(folder)!r}])\n"
    )
    command = [sys.executable, "-c", code]
    done = subprocess.run(
        command, cwd=ROOT, check=False, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


@pytest.fixture(scope="session")
def pages(site) -> dict[str, Html]:
    return {
        path.relative_to(site).as_posix(): Html(path.read_text("utf-8"))
        for path in sorted(site.rglob("*.html"))
    }
