"""Every code block of the README and the docs runs, and prints what the page says."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path

import pytest

from tests.docs.preludes import PRELUDES

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\((?!https?://)([^)#]+)(?:#[^)]*)?\)")


# The texts behind the pages are so short that everything fits their budgets.
@pytest.mark.filterwarnings("ignore::oprag.errors.UnfilledBudgetWarning")
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_code_blocks_run_and_print_what_the_page_shows(page):
    blocks = BLOCK.findall(page.read_text(encoding="utf-8"))
    namespace: dict[str, object] = {"__name__": "docs"}
    prelude = PRELUDES.get(page.stem)
    if prelude is not None:
        namespace.update(prelude())

    printed = ""
    for language, code in blocks:
        if language == "python":
            output = io.StringIO()
            with contextlib.redirect_stdout(output):
                exec(compile(code, str(page), "exec"), namespace)  # noqa: S102 -- our own docs
            printed = output.getvalue()
        elif language == "text":
            assert printed.strip() == code.strip()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_to_files_that_exist(page):
    for target in LINK.findall(page.read_text(encoding="utf-8")):
        assert (page.parent / target).exists(), target


def test_the_commands_of_the_readme_are_targets_of_the_makefile():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")

    commands = set(re.findall(r"^make ([\w-]+)", readme, re.MULTILINE))
    assert {"demo", "test"} <= commands
    for command in sorted(commands):
        assert re.search(rf"^{command}:", makefile, re.MULTILINE), command
