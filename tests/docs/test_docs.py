"""Every code block of the README and the docs runs, and prints what the page says."""

import re
from pathlib import Path

import pytest

from tests.docs.blocks import blocks_of, run

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
LINK = re.compile(r"\]\((?!https?://)([^)#]+)(?:#[^)]*)?\)")


# The texts behind the pages are so short that everything fits their budgets.
@pytest.mark.filterwarnings("ignore::oprag.errors.UnfilledBudgetWarning")
# LlamaIndex's agents use what pydantic and its own workflows deprecate.
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
# And it leaves the agent's memory out of a context that is saved.
@pytest.mark.filterwarnings("ignore:Skipping serialization of known unserializable")
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_code_blocks_run_and_print_what_the_page_shows(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run(blocks_of(page), page.name)


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
