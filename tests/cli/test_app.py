"""The command line itself: help, version, completion, and errors in one line."""

import subprocess
import sys
import warnings
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from oprag.cli.app import _OneLineErrors, app
from oprag.errors import EmbeddingModelError, UnfilledBudgetWarning

ROOT = Path(__file__).parents[2]
RUNNER = CliRunner()


def test_without_a_command_the_commands_are_listed():
    result = RUNNER.invoke(app, [])

    assert "demo" in result.output
    assert "Usage:" in result.output


def test_help_is_plain_text_that_names_every_option():
    result = RUNNER.invoke(app, ["demo", "--help"])

    assert result.exit_code == 0
    for option in (
        "--token-budget",
        "--k",
        "--embedding-model",
        "--directory",
        "--json",
    ):
        assert f"  {option} " in result.output
    assert result.output.isascii()


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
        (["demo", "--k", "0"], "--k"),
        (["demo", "--token-budget", "many"], "--token-budget"),
    ],
)
def test_a_wrong_call_is_told_and_exits_with_2(arguments, hint):
    result = RUNNER.invoke(app, arguments)

    assert result.exit_code == 2
    assert hint in result.stderr
    assert result.stdout == ""


def test_the_shell_completes_commands():
    environment = {
        "_OPRAG_COMPLETE": "complete_bash",
        "COMP_WORDS": "oprag de",
        "COMP_CWORD": "1",
    }

    result = RUNNER.invoke(app, [], prog_name="oprag", env=environment)

    assert result.stdout.split() == ["demo"]


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
    ("error", "told"),
    [
        (EmbeddingModelError("No model.", model="m"), "No model."),
        (PermissionError(13, "Permission denied", "/x"), "Permission denied: '/x'"),
        (OSError("The disk is full."), "The disk is full."),
        (ModuleNotFoundError("no", name="chromadb.x"), "needs the package 'chromadb',"),
    ],
)
def test_an_error_of_the_user_is_one_line_on_stderr(error, told):
    result = RUNNER.invoke(raising(error), ["run"])

    assert result.exit_code == 1
    assert result.stdout == ""
    assert result.stderr.startswith("Error: ")
    assert result.stderr.endswith("\n")
    assert result.stderr.count("\n") == 1
    assert told in result.stderr


def test_an_error_of_ours_is_not_hidden():
    result = RUNNER.invoke(raising(KeyError("a bug")), ["run"])

    assert isinstance(result.exception, KeyError)


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
        "import sys; sys.modules['typer'] = None\nfrom oprag.cli import main\nmain()"
    )

    assert run.returncode == 1
    assert run.stderr == (
        "The command line of oprag needs the package 'typer'. "
        'Install it with: pip install "oprag[cli]"\n'
    )


def test_without_chroma_the_demo_says_what_to_install():
    run = run_python(
        "import sys; sys.modules['chromadb'] = None; sys.argv = ['oprag', 'demo']\n"
        "from oprag.cli import main\n"
        "main()"
    )

    assert run.returncode == 1
    assert run.stderr.startswith("Error: This command needs the package 'chromadb',")
    assert 'pip install "oprag[demo]"' in run.stderr
    assert run.stderr.count("\n") == 1


def test_importing_the_packages_does_not_import_the_command_line():
    run = run_python(
        "import sys, oprag, langchain_oprag, llamaindex_oprag\n"
        "print([name for name in sys.modules if name.startswith('oprag.cli')])"
    )

    assert run.stdout == "[]\n"


def test_help_does_not_wait_for_the_libraries_behind_the_commands():
    run = run_python(
        "import sys, oprag.cli.app\n"
        "print(sorted({'torch', 'chromadb', 'langchain_core'} & set(sys.modules)))"
    )

    assert run.stdout == "[]\n"
