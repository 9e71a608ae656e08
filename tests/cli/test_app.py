"""The command line itself: help, version, completion, and errors in one line."""

import os
import re
import subprocess
import sys
import warnings
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from oprag.errors import UnfilledBudgetWarning
from oprag_cli import main
from oprag_cli.app import _OneLineErrors, app
from oprag_cli.embedding_models import ModelCallError
from tests.kit.fresh_interpreter import run

ROOT = Path(__file__).parents[2]
RUNNER = CliRunner()


def test_without_a_command_the_commands_are_listed():
    result = RUNNER.invoke(app, [])

    assert "demo" in result.output
    assert "Usage:" in result.output


def test_help_lists_the_commands_in_four_panels_not_cut_at_eighty_columns():
    result = RUNNER.invoke(app, ["-h"], env={"COLUMNS": "80"})

    panels = re.findall(r"^([A-Z].*):\n((?:  .+\n)+)", result.output, re.MULTILINE)
    titles = dict(panels)
    assert [*titles][1:] == [
        "Ask your files",
        "Keep an index",
        "Serve other programs",
        "Measure",
    ]
    assert titles["Keep an index"].split()[0] == "index"
    assert "sweep" in titles["Measure"]
    assert "..." not in "".join([*titles.values()][1:])


def test_help_names_values_by_one_word():
    shown = RUNNER.invoke(app, ["context", "-h"]).output

    assert re.search(r"--k N ", shown)
    assert re.search(r"--embedding-model TEXT ", shown)
    assert re.search(r"--directory PATH ", shown)
    of_play = RUNNER.invoke(app, ["play", "-h"], prog_name="oprag").output
    assert "oprag play [OPTIONS] [FILE]" in of_play  # older Typers leave "..." out


HEAVY = ("langchain_core", "chromadb", "torch", "numpy")
MISSING = """
import sys
from oprag_cli import main
sys.argv = ["oprag", *{arguments!r}]
try:
    main()
except SystemExit as end:
    print(end.code, *(name for name in {heavy!r} if name in sys.modules))
"""


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["context", "absent.pdf", "Who pays?"], 1),
        (["ask", "absent.pdf", "Who pays?", "--model", "openai:x"], 1),
        (["index", "absent.pdf"], 1),
        (["doctor", "absent"], 2),
        (["mcp", "absent"], 1),
        (["sweep", "absent", "--questions", "absent.csv"], 1),
        (["context", os.curdir, " "], 2),
    ],
)
def test_a_missing_file_is_told_before_anything_large_is_imported(arguments, code):
    assert run(MISSING.format(arguments=arguments, heavy=HEAVY)) == f"{code}\n"


def test_the_version_is_the_installed_one():
    try:
        installed = version("oprag")
    except PackageNotFoundError:
        pytest.skip("oprag runs from a folder here; nothing is installed")

    assert RUNNER.invoke(app, ["--version"]).output == f"oprag {installed}\n"


@pytest.mark.parametrize(
    ("arguments", "hint"),
    [
        (["dmeo"], "'demo'"),
        (["demo", "--tokens", "5"], "--tokens"),
        (["context", "a", "b", "--k", "0"], "--k"),
        (["demo", "--token-budget", "many"], "Invalid value for '--token-budget': "),
        (
            ["context", "a", "b", "--order", "scroe"],
            "'scroe' is not one of 'document',",
        ),
    ],
)
def test_a_wrong_call_is_told_and_exits_with_2(arguments, hint):
    result = RUNNER.invoke(app, arguments)

    assert result.exit_code == 2
    assert hint in result.stderr
    assert result.stdout == ""


@pytest.mark.parametrize(
    ("word", "missing"), [(os.curdir, "QUESTION"), ("Who pays?", "FILE")]
)
def test_of_files_and_a_question_the_missing_one_is_named(word, missing):
    result = RUNNER.invoke(app, ["context", word], prog_name="oprag")

    assert result.exit_code == 2
    assert result.stderr == (
        f"Error: Missing argument '{missing}'. Type, for example: "
        'oprag context report.pdf "Who pays for repairs?"\n'
    )


def command_that(does) -> typer.Typer:
    """An application of our kind whose one command does this."""
    made = typer.Typer(cls=_OneLineErrors, pretty_exceptions_enable=False)
    made.command("run")(does)
    made.callback()(lambda: None)
    return made


def raising(error: BaseException) -> typer.Typer:
    def does() -> None:
        raise error

    return command_that(does)


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (ModelCallError("No model.", model="m"), "No model."),
        (PermissionError(13, "Permission denied", "/x"), "Permission denied: '/x'"),
        (OSError("The disk is full."), "The disk is full."),
        (ModuleNotFoundError("no", name="chromadb.x"), "needs the package 'chromadb',"),
    ],
)
def test_an_error_of_the_user_is_one_line_on_stderr(error, message):
    result = RUNNER.invoke(raising(error), ["run"])

    assert result.exit_code == 1
    assert result.stdout == ""
    assert result.stderr.startswith("Error: ")
    assert result.stderr.endswith("\n")
    assert result.stderr.count("\n") == 1
    assert message in result.stderr


def test_an_error_of_ours_is_one_line_that_says_where_it_was(monkeypatch):
    monkeypatch.setenv("SOME_TOKEN", "a-token-of-the-user")
    error = KeyError("a bug\nwith a-token-of-the-user")

    result = RUNNER.invoke(raising(error), ["run"])

    assert isinstance(result.exception, SystemExit)
    assert result.exit_code == 1
    assert result.stderr.startswith("Error: This should not happen: KeyError in test_a")
    assert "a bug" in result.stderr
    assert "with ***" in result.stderr
    assert result.stderr.count("\n") == 1


def test_ctrl_c_is_one_line_and_exit_code_130():
    result = RUNNER.invoke(raising(KeyboardInterrupt()), ["run"])

    assert (result.exit_code, result.stdout) == (130, "")
    assert result.stderr == "Error: Stopped.\n"


def test_ctrl_c_before_a_command_begins_is_too(monkeypatch, capsys):
    def stopped(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("oprag_cli.app.app", stopped)
    monkeypatch.setattr("sys.unraisablehook", sys.unraisablehook)  # is put back
    with pytest.raises(SystemExit) as caught:
        main()

    assert caught.value.code == 130
    assert capsys.readouterr().err == "Error: Stopped.\n"


def test_warnings_of_oprag_are_one_line_and_others_are_not_shown():
    def does() -> None:
        warnings.warn("Fetch more.", UnfilledBudgetWarning, stacklevel=1)
        warnings.warn("For programmers.", FutureWarning, stacklevel=1)
        typer.echo("done")

    result = RUNNER.invoke(command_that(does), ["run"])

    assert result.stdout == "done\n"
    assert result.stderr == "Note: Fetch more.\n"


def run_python(code: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", code]
    return subprocess.run(
        command, check=False, capture_output=True, cwd=ROOT, text=True, encoding="utf-8"
    )


def test_without_typer_the_command_line_says_what_to_install():
    run = run_python(
        "import sys; sys.modules['typer'] = None\nfrom oprag_cli import main\nmain()"
    )

    assert run.returncode == 1
    assert run.stderr == (
        "The command line of oprag needs the package 'typer'. "
        'Install it with: pip install "oprag[cli]"\n'
    )


@pytest.mark.parametrize(
    ("command", "wanted"), [("run", '"oprag[demo]"'), ("sweep", "oprag-eval")]
)
def test_what_is_to_be_installed_is_what_the_command_needs(command, wanted):
    def does() -> None:
        raise ModuleNotFoundError(name="numpy")

    made = command_that(does)
    made.command("sweep")(does)

    assert f"pip install {wanted}\n" in RUNNER.invoke(made, [command]).stderr


def test_help_does_not_wait_for_the_libraries_behind_the_commands():
    run = run_python(
        "import sys, oprag_cli.app\n"
        "print(sorted({'torch', 'chromadb', 'langchain_core'} & set(sys.modules)))"
    )

    assert run.stdout == "[]\n"
