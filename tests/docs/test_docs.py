"""Every code block of the README and the docs runs, and prints what the page says."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.docs.blocks import blocks_for, blocks_of, frameworks_of
from tests.docs.fresh import encodings

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
LINK = re.compile(r"\]\((?!https?://)([^)#]+)(?:#[^)]*)?\)")

WITH_CODE = [
    page
    for page in PAGES
    if page.name != "start.md"  # needs a model's server: see `test_start`
    if any(name == "python" for name, _ in blocks_of(page))
]
READERS = [(page, name) for page in WITH_CODE for name in frameworks_of(page)]


@pytest.mark.parametrize(
    ("page", "framework"), READERS, ids=lambda value: getattr(value, "name", value)
)
def test_code_blocks_run_with_one_framework_and_print_what_the_page_shows(
    page, framework, tmp_path
):
    program = ROOT / "tests" / "docs" / "blocks.py"

    done = subprocess.run(
        [sys.executable, "-Werror", program, page, framework],
        check=False,
        cwd=tmp_path,
        env={**os.environ, "TIKTOKEN_CACHE_DIR": str(encodings())},
        capture_output=True,
        text=True,
    )

    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("page", WITH_CODE, ids=lambda page: page.name)
def test_no_block_needs_both_frameworks(page):
    runs = [blocks_for(page, name) for name in frameworks_of(page)]

    left_out = [
        code
        for language, code in blocks_of(page)
        if language == "python" and all((language, code) not in run for run in runs)
    ]
    assert left_out == []


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


def test_ci_begins_with_the_commands_of_the_readme_as_they_are_printed():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    ci = (ROOT / ".ci" / "run").read_text(encoding="utf-8")

    printed = re.findall(r"^(make [^#\n]+?) *(?:#.*)?$", readme, re.MULTILINE)
    ran = re.findall(r"^\s*(make .+)$", ci, re.MULTILINE)
    assert printed == ["make demo", "make test"]
    assert ran[: len(printed)] == printed
