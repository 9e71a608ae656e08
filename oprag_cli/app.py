"""The application that holds all commands, and prints their errors."""

from __future__ import annotations

import re
import traceback
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import entry_points, version
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from oprag.errors import OpragError, OpragWarning
from oprag_cli import INTERRUPTED
from oprag_cli.ask import ask
from oprag_cli.context import context
from oprag_cli.demo import demo
from oprag_cli.doctor import doctor
from oprag_cli.index_command import index
from oprag_cli.mcp import mcp
from oprag_cli.messages import note, stop
from oprag_cli.options import name_values
from oprag_cli.play import play
from oprag_cli.serve import serve


class _OneLineErrors(TyperGroup):
    """Turns the errors that a user can do something about into one line each."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """List the commands by the occasion on which people type them."""
        lines: dict[str, str] = {}
        for name in self.list_commands(ctx):
            if command := self.get_command(ctx, name):
                lines[name] = command.get_short_help_str(_WIDEST)
        others = lines.keys() - set().union(*_PANELS.values())
        width = max(map(len, lines), default=0)
        for title, names in {**_PANELS, "Others": sorted(others)}.items():
            shown = [(n.ljust(width), lines[n]) for n in names if n in lines]
            if shown:
                with formatter.section(title):
                    formatter.write_dl(shown)

    def invoke(self, ctx: Any) -> Any:
        """Run the command.

        Raises:
            typer.Exit: With code 1, after an error was printed on stderr; with 130
                after Ctrl-C.
        """
        try:
            with _one_line_warnings():
                return super().invoke(ctx)
        except KeyboardInterrupt as interrupt:
            raise stop("Stopped.", INTERRUPTED) from interrupt
        except Exception as error:  # a stack trace helps nobody who types a command
            ends = isinstance(error, (BrokenPipeError, typer.Abort))
            if wrong := _wrong_call(error):
                raise stop(wrong, 2) from error
            if ends or hasattr(error, "exit_code"):  # the reader had enough, or Typer
                raise
            message = _message(error, ctx.invoked_subcommand)
            raise stop(_write_as_typed(message, ctx)) from error


_OF_EVAL = {
    "check-questions": "Find gold passages that are not in your documents.",
    "evaluate": "Compare systems at equal tokens, on published data.",
    "questions": "Have a chat model draft questions on your files, to be edited.",
    "reproduce": "Run a table of a paper under the paper's conditions.",
    "sweep": "Find out how many tokens your own documents need.",
}
"""The commands of the distribution `oprag-eval`."""
_PANELS = {
    "Ask your files": ("context", "ask", "play", "demo"),
    "Keep an index": ("index", "doctor"),
    "Serve other programs": ("mcp", "serve"),
    "Measure": ("sweep", "questions", "check-questions", "evaluate", "reproduce"),
}
"""The commands as help lists them."""
_WIDEST = 60
"""Characters of a command's line in that list."""
_OWN_EXTRA = {"mcp": "mcp", "play": "play", "serve": "serve"}
_OF_PYDANTIC = re.compile("Value error, |, unable to parse.*")


def _wrong_call(error: Any) -> str:
    """Return the mistake in a call, and the words to type; empty for other errors."""
    ctx = getattr(error, "ctx", None)
    if ctx is None:
        return ""
    message = _OF_PYDANTIC.sub("", error.format_message())
    example = re.search(rf"\n +({ctx.command_path} .*)", ctx.command.help or "")
    if not (example and message.startswith("Missing argument")):
        end = "" if message.endswith((".", "?")) else "."
        return f"{message}{end} See: {ctx.command_path} --help"
    only = ctx.params.get("question")  # the last word, whatever it is
    if only and Path(only).exists():
        message = "Missing argument 'QUESTION'."
    return f"{message} Type, for example: {example[1]}"


def _message(error: Exception, command: str | None) -> str:
    """Return the message for any error, an unexpected one included."""
    if isinstance(error, ModuleNotFoundError):
        extra = _OWN_EXTRA.get(command or "", "demo")
        wanted = "oprag-eval" if command in _OF_EVAL else f'"oprag[{extra}]"'
        package = (error.name or str(error)).partition(".")[0]
        return (
            f"This command needs the package {package!r}, which is not installed. "
            f"Install it with: pip install {wanted}"
        )
    if isinstance(error, OpragError):
        return error.message
    if isinstance(error, OSError):
        return str(error).removeprefix(f"[Errno {error.errno}] ")

    from oprag.calls import read_error_message

    place = traceback.extract_tb(error.__traceback__)[-1]
    said = read_error_message(error)
    return (
        f"This should not happen: {type(error).__name__} in "
        f"{Path(place.filename).name}, line {place.lineno}: {said} Please "
        "report it, with the command."
    )


def _write_as_typed(message: str, ctx: Any) -> str:
    """Write options as users type them: `--token-budget=3` for `token_budget=3`."""
    command = ctx.command.get_command(ctx, ctx.invoked_subcommand or "")
    for option in command.params if command else ():
        message = re.sub(rf"(?<![\w/-]){option.name}(?==)", option.opts[0], message)
    return message


@contextmanager
def _one_line_warnings() -> Iterator[None]:
    """Show the warnings of oprag as one line each.

    Leave out all others, which speak to programmers.
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
    context_settings={"help_option_names": ["-h", "--help"]},
    # Plain text: readable in every terminal, file and screen reader.
    rich_markup_mode=None,
)
for _command in (demo, index, context, ask, doctor, play, mcp, serve):
    app.command()(name_values(_command))


def _not_installed(ctx: typer.Context) -> None:
    message = (
        f"`oprag {ctx.info_name}` is not installed. Get it with: pip install oprag-eval"
    )
    raise stop(message)


_installed = {entry.name: entry for entry in entry_points(group="oprag.commands")}
for _name in sorted(_installed):
    app.command(_name)(name_values(_installed[_name].load()))
for _name in sorted(_OF_EVAL.keys() - _installed.keys()):
    # It says how to install the command, whatever arguments it gets.
    anything = {"allow_extra_args": True, "ignore_unknown_options": True}
    help_text = f"{_OF_EVAL[_name]} (pip install oprag-eval)"
    app.command(_name, help=help_text, context_settings=anything)(_not_installed)


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
