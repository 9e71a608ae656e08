"""The page on the command line names what exists, and all of it."""

import re
import shlex
from pathlib import Path

import pytest
import typer

from oprag_cli.app import app

PAGE = Path(__file__).parents[2] / "docs" / "command_line.md"
TEXT = PAGE.read_text(encoding="utf-8")
COMMAND = typer.main.get_command(app)
LINES = re.findall(r"^(oprag .*)$", TEXT, re.MULTILINE)


@pytest.mark.parametrize("line", LINES)
def test_a_line_of_the_page_is_a_call_that_is_understood(line, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("notes", "report.pdf", "texts"):  # some must be there to be named
        (tmp_path / name).mkdir()
    arguments = shlex.split(line.partition(" >")[0])[1:]

    if arguments[0].startswith("--"):
        known = {option for parameter in COMMAND.params for option in parameter.opts}
        assert set(arguments) <= known
        return
    command = COMMAND.commands[arguments[0]]
    context = command.make_context(arguments[0], arguments[1:])
    assert context.params.get("question", "?").endswith("?")


def test_the_page_shows_every_command():
    assert {line.split()[1] for line in LINES} >= set(COMMAND.commands)


@pytest.mark.parametrize("name", sorted(COMMAND.commands))
def test_every_help_explains_every_option_and_shows_an_example(name):
    command = COMMAND.commands[name]

    assert all(parameter.help for parameter in command.params)
    assert f"\n  oprag {name}" in command.help
