"""Options that the commands share, spelt and explained the same everywhere."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Annotated, Any, Literal, get_args, get_type_hints

import typer
from typer.models import OptionInfo

OF_CHROMA = (
    "Give the folder that was passed as persist_directory= or to PersistentClient."
)
DEFAULT_EMBEDDING_MODEL = "sentence-transformers/all-MiniLM-L6-v2"

TokenBudget = Annotated[
    int, typer.Option(min=1, help="Tokens that the passages may take together.")
]
MostChunks = Annotated[
    int | None,
    typer.Option("--k", min=1, help="Chunks at most; by default as many as fit."),
]


def _parse_widen(value: str | None) -> Any:
    """Return the number that a text is, or `fill`."""
    if value is None or value == "fill":
        return value
    if not value.isdecimal() or int(value) < 1:
        message = "it takes a number of neighbours from 1 on, or fill."
        raise typer.BadParameter(message)
    return int(value)


Widened = Annotated[
    str | None,
    typer.Option(
        "--widen",
        metavar="NUMBER|fill",
        callback=_parse_widen,
        help="Also read chunks beside each one found: this many on each side, or with "
        "`fill` as many as still fit.",
    ),
]
EmbeddingModel = Annotated[
    str,
    typer.Option(
        help="A sentence-transformers model: its name or folder. Two, with a comma "
        "between: one for questions, one for texts."
    ),
]
ChatModelName = Annotated[
    str,
    typer.Option(
        "--model",
        metavar="PROVIDER:MODEL",
        envvar="OPRAG_MODEL",
        help="The chat model, such as openai:gpt-4o-mini or ollama:llama3.2.",
        show_default=False,
    ),
]
Window = Annotated[
    int | None,
    typer.Option(
        "--max-context-tokens",
        min=1,
        help="Tokens that the model takes, prompt and answer together; for "
        "Self-Route. By default what is known of the model.",
    ),
]
DeclinedBy = Annotated[
    Literal["word", "tool"],
    typer.Option(
        "--decline",
        help="For Self-Route, how the model refuses: by a word, or, if it can call "
        "tools, by a call, which cannot be misread.",
    ),
]
Directory = Annotated[
    Path | None,
    typer.Option(
        help="Folder to keep the index in; by default one in your cache folder."
    ),
]
AsJson = Annotated[
    bool, typer.Option("--json", help="Print JSON instead, for other programs.")
]

FolderOrIndex = Annotated[
    Path,
    typer.Argument(
        metavar="FOLDER|CHROMA_DIRECTORY",
        help="Text, Markdown, HTML, PDF and Word files, or an existing index.",
        show_default=False,
    ),
]
Collection = Annotated[str, typer.Option(help="The collection of a Chroma directory.")]
Files = Annotated[
    list[Path],
    typer.Argument(
        metavar="FILE",
        help="Text, Markdown, HTML, PDF and Word files, or folders of them.",
        show_default=False,
    ),
]
Question = Annotated[
    str,
    typer.Argument(
        metavar="QUESTION",
        help="In quotes, after the files.",
        show_default=False,
        is_eager=True,  # read before the error that no file was named
    ),
]


@dataclass(frozen=True, kw_only=True)
class SearchOptions:
    """Options of a search in files."""

    token_budget: TokenBudget = 4_000
    k: MostChunks = None
    widen: Widened = None
    selection: Annotated[
        Literal["budget", "recall"],
        typer.Option(
            help="The best chunks that fit, or the text that is worth most by its own "
            "rank and its neighbours'."
        ),
    ] = "budget"
    order: Annotated[
        Literal["document", "rank"], typer.Option(help="Document order, or best first.")
    ] = "document"
    merge: Annotated[
        bool,
        typer.Option(
            "--merge/--no-merge", help="Join chunks that touch into one passage."
        ),
    ] = True
    embedding_model: EmbeddingModel = DEFAULT_EMBEDDING_MODEL
    directory: Directory = None
    as_json: AsJson = False


@dataclass(frozen=True, kw_only=True)
class ServeOptions:
    """Options of a server of documents."""

    token_budget: TokenBudget = 4_000
    widen: Widened = None
    collection: Collection = ""
    embedding_model: EmbeddingModel = DEFAULT_EMBEDDING_MODEL
    directory: Directory = None


_METAVARS = {int: "N", float: "N", str: "TEXT", Path: "PATH"}
"""The words of help for a value, by its type."""


def name_values(command: Callable[..., None]) -> Callable[..., None]:
    """Name the values of a command's options in its help: `N`, `TEXT`, `PATH`."""
    for hint in get_type_hints(command, include_extras=True).values():
        kind, *infos = get_args(hint) or (hint,)
        kinds = [*get_args(kind), kind]
        name = next((_METAVARS[each] for each in kinds if each in _METAVARS), None)
        for info in infos:
            if isinstance(info, OptionInfo) and info.metavar is None:
                info.metavar = name
    return command


def check_paths(*paths: Path) -> None:
    """Refuse a file or folder that is not there, before anything large is imported.

    Raises:
        UnreadableFileError: There is nothing by this name.
    """
    from oprag.files import unreadable

    for path in paths:
        try:
            path.lstat()
        except (FileNotFoundError, NotADirectoryError):
            raise unreadable(path, "does not exist") from None
        except (OSError, ValueError):
            continue  # whoever reads it reports the error


def check_question(question: str) -> None:
    """Refuse a question without a word.

    Raises:
        typer.BadParameter: It is blank.
    """
    if not question.strip():
        raise typer.BadParameter("it is empty.", param_hint="QUESTION")


def takes(kind: type[Any]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command the options that a dataclass holds.

    Typer shows each field as an option of the command, after the command's own. The
    command gets all of them as one argument, `options`.
    """
    hints = get_type_hints(kind, include_extras=True)
    shared = [
        inspect.Parameter(
            each.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=each.default,
            annotation=hints[each.name],
        )
        for each in fields(kind)
    ]

    def added(command: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(command)
        def run(**given: Any) -> None:
            options = kind(**{each.name: given.pop(each.name) for each in shared})
            command(**given, options=options)

        own = inspect.signature(command, eval_str=True)
        kept = [each for each in own.parameters.values() if each.name != "options"]
        signature = own.replace(parameters=[*kept, *shared])
        run.__signature__ = signature  # type: ignore[attr-defined]  # Typer reads it
        run.__annotations__ = {n: p.annotation for n, p in signature.parameters.items()}
        return run

    return added


def cache_folder() -> Path:
    """Return the folder for oprag in the user's cache folder, as each system has it."""
    import platformdirs

    return platformdirs.user_cache_path("oprag", appauthor=False)
