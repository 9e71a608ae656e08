"""The application that holds all commands, and what becomes of their errors."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version
from typing import Annotated, Any

import typer
from typer.core import TyperArgument, TyperGroup

from oprag.cli.ask import ask
from oprag.cli.context import context
from oprag.cli.demo import demo
from oprag.cli.doctor import doctor
from oprag.cli.evaluate import evaluate
from oprag.cli.sweep import sweep
from oprag.cli.telling import note, told
from oprag.errors import BudgetTooSmallError, OpragError, OpragWarning


class _OneLineErrors(TyperGroup):
    """Turns the errors that a user can do something about into one line each."""

    def invoke(self, ctx: Any) -> Any:
        """Run the command.

        Raises:
            typer.Exit: With code 1, after an error was told on stderr.
        """
        try:
            with _one_line_warnings():
                return super().invoke(ctx)
        except BrokenPipeError:  # the reader had enough: no error
            raise
        except ModuleNotFoundError as error:
            raise told(_install_hint(error, ctx.invoked_subcommand)) from error
        except typer.BadParameter as error:
            raise _in_plain_words(error) from error.__cause__
        except BudgetTooSmallError as error:
            raise told(_larger_budget(error)) from error
        except OpragError as error:
            raise told(str(error)) from error
        except OSError as error:
            raise told(str(error).removeprefix(f"[Errno {error.errno}] ")) from error


_PYDANTIC = "Value error, "
"""How pydantic, which newer Typers read values with, begins what it says of one."""

_OF_RUNS = ("evaluate", "sweep")
"""Commands that need the extra `eval` as well."""


def _install_hint(error: ModuleNotFoundError, command: str | None) -> str:
    extras = "demo,eval" if command in _OF_RUNS else "demo"
    package = (error.name or str(error)).partition(".")[0]
    return (
        f"This command needs the package {package!r}, which is not installed. "
        f'Install it with: pip install "oprag[{extras}]"'
    )


def _in_plain_words(error: typer.BadParameter) -> typer.BadParameter:
    """The error of a wrong call, as someone who knows no Python reads it."""
    if error.param is not None and error.ctx is not None and not error.message:
        # One argument was given, and Typer takes the last for the question.
        named = {
            param.name: param
            for param in error.ctx.command.params
            if isinstance(param, TyperArgument)
        }
        if error.param.name == "files" and "question" in named:
            error.param = named["question"]
            error.message = "Put it after the files, in quotes."
    error.message = error.message.removeprefix(_PYDANTIC)
    return error


def _larger_budget(error: BudgetTooSmallError) -> str:
    """What the library says of it speaks of options that the command line lacks."""
    return (
        f"A budget of {error.token_budget:,} tokens holds not even one passage: the "
        f"best takes {error.needed:,}. Give a larger --token-budget."
    )


@contextmanager
def _one_line_warnings() -> Iterator[None]:
    """Show the warnings of oprag as one line each.

    No others: they speak to programmers.
    """

    def show(message: Warning | str, *_: Any, **__: Any) -> None:
        note(str(message))

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.simplefilter("always", OpragWarning)
        warnings.showwarning = show
        yield


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"oprag {version('oprag')}")
        raise typer.Exit


app = typer.Typer(
    cls=_OneLineErrors,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    # Plain text: readable in every terminal, file and screen reader.
    rich_markup_mode=None,
)
for _command in (demo, context, ask, doctor, evaluate, sweep):
    app.command()(_command)


@app.callback()
def oprag(
    *,
    version: Annotated[
        bool,
        typer.Option(
            "--version",
            callback=_show_version,
            is_eager=True,
            help="Show the version and exit.",
        ),
    ] = False,
) -> None:
    """Retrieved passages, put back in the order the author wrote them."""
