"""`oprag reproduce`: a paper's table, beside your own under the same conditions."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from oprag_cli.messages import stop
from oprag_cli.options import AsJson, takes
from oprag_eval.cli.options import RunOptions, refuse_json_of_estimate

if TYPE_CHECKING:
    from oprag_eval.estimate import RunEstimate
    from oprag_eval.reproduction import Recipe

_NO_NAME = "No table is named. Give one; `oprag reproduce --list` shows them."


@takes(RunOptions)
def reproduce(
    ctx: typer.Context,
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="The table.", show_default=False)
    ] = "",
    *,
    data: Annotated[
        list[str] | None,
        typer.Option(
            metavar="[NAME=]PATH",
            help="Where the authors' data is: of a set (longbench/qasper=…), of its "
            "family (longbench=…), or of all; without it, from the Hugging Face hub. "
            "May be repeated.",
            show_default=False,
        ),
    ] = None,
    reader: Annotated[
        str,
        typer.Option(
            help="Whose figures are compared, such as GPT-4o; without it, the paper's "
            "first reader's.",
            show_default=False,
        ),
    ] = "",
    out: Annotated[
        Path | None,
        typer.Option(
            help="Folder of the run; without it, oprag-reproduce/NAME/READER. A run "
            "that is already there is continued.",
            show_default=False,
        ),
    ] = None,
    show_list: Annotated[
        bool, typer.Option("--list", help="Show the tables, and who answered.")
    ] = False,
    as_json: AsJson = False,
    options: RunOptions,
) -> None:
    """Run a paper's table again, beside your own figures.

    The paper's conditions are in a recipe: data, model, embeddings, prompts, window,
    budgets, systems, runs, seed. An option that you give takes the place of the
    recipe's, and the result says so; what is shown below as a default holds where the
    recipe says nothing. Give the same command again to continue a run. `--dry-run`
    without `--data` reads no data, and says the cost roughly.

    \b
      oprag reproduce --list
      oprag reproduce dos-rag/en.mc --dry-run --price 2.5,10
      oprag reproduce dos-rag/quality --data QuALITY/ --reader GPT-4o-mini

    Exit codes: as `oprag evaluate`.
    """  # noqa: D301 -- Click leaves paragraphs alone that begin with this character
    if show_list:
        from oprag_eval.cli.display import tables

        typer.echo("\n".join(tables()))
        return
    if not name:
        raise stop(_NO_NAME, code=2)
    refuse_json_of_estimate(options, as_json=as_json)

    from oprag_eval import rough
    from oprag_eval.cli.display import estimate_lines, heading
    from oprag_eval.estimate import of_several
    from oprag_eval.reproduction import recipe_named

    recipe = recipe_named(name)
    given = {key for key in vars(options) if _is_given(ctx, key)}
    reader = recipe.reader(reader)
    options, differs = _under(recipe, reader, options, given)
    paths = _paths(recipe, data or [])
    if options.dry_run and not any(paths.values()) and rough.known(recipe):
        typer.echo(
            "\n".join([*heading(recipe, reader, differs), _roughly(recipe, options)])
        )
        return
    options.check()
    typer.echo("\n".join(heading(recipe, reader, differs)), err=as_json)
    folder = out or Path("oprag-reproduce", *name.split("/"), reader)
    several = len(recipe.sets) > 1
    folders = [folder / one if several else folder for one in recipe.sets]
    spent_in = folder / "spending.jsonl"
    estimates, failed = _run(
        recipe,
        reader,
        options,
        paths,
        folders=folders,
        spent_in=spent_in,
        as_json=as_json,
    )
    if not options.dry_run:
        if all((each / "summary.json").exists() for each in folders):
            _compare(recipe, reader, folders, folder, differs, as_json=as_json)
        if failed is not None:
            raise failed
    elif several:
        lines = estimate_lines(of_several(estimates), options.price)
        typer.echo("\n".join(["", "All sets:", *lines]))


def _roughly(recipe: Recipe, options: RunOptions) -> str:
    """Return the rough tokens and cost of a table, without its data."""
    from oprag_eval.rough import estimate, sentence

    found = estimate(
        recipe,
        window=options.window,
        runs=options.runs,
        style=options.answer_style,
        limit=options.limit_questions,
    )
    return sentence(found, options.price, offline=options.offline)


def _run(
    recipe: Recipe,
    reader: str,
    options: RunOptions,
    paths: Mapping[str, str],
    *,
    folders: Sequence[Path],
    spent_in: Path,
    as_json: bool,
) -> tuple[list[RunEstimate], typer.Exit | None]:
    """Ask every set, as `oprag evaluate` does, or estimate it."""
    from oprag_eval.cli.data import restrict
    from oprag_eval.cli.ending import JsonEnding
    from oprag_eval.cli.run import FAILED, perform
    from oprag_eval.data import load

    ending = JsonEnding(shown=False) if as_json else None
    estimates, failed = [], None
    for name, folder in zip(recipe.sets, folders, strict=True):
        typer.echo(f"\n{name}\n" if len(folders) > 1 else "", err=as_json)
        dataset = restrict(load(name, paths[name]), options.limit_questions)
        try:
            estimate = perform(
                dataset,
                [arm.system for arm in recipe.arms],
                recipe.budgets,
                options,
                folder,
                measure=recipe.scored(reader, dataset),
                planned=recipe.planned,
                spent_in=spent_in,
                ending=ending,
            )
            estimates += [estimate] if estimate else []
        except typer.Exit as stopped:  # with answers missing there is still a table
            if stopped.exit_code != FAILED:
                raise
            failed = stopped
    return estimates, failed


def _is_given(ctx: typer.Context, key: str) -> bool:
    source = ctx.get_parameter_source(key)
    return source is not None and source.name == "COMMANDLINE"


def _under(
    recipe: Recipe, reader: str, options: RunOptions, given: set[str]
) -> tuple[RunOptions, list[str]]:
    """Take the recipe's conditions for options not given, and tell the others."""
    wanted: dict[str, Any] = {**recipe.readers[reader], **recipe.options}
    taken = {key: value for key, value in wanted.items() if key not in given}
    options = replace(options, **taken)
    kept = vars(options)
    differs = [
        f"--{key.replace('_', '-')} is {kept[key]}, in the paper {value}"
        for key, value in wanted.items()
        if kept[key] != value
    ]
    if options.limit_questions is not None:
        differs.append(f"the first {options.limit_questions:,} questions alone")
    return options, differs


def _paths(recipe: Recipe, data: Sequence[str]) -> dict[str, str]:
    """Return the path of each set of the table; empty for a set on the hub."""
    paths = dict.fromkeys(recipe.sets, "")
    families = {one.partition("/")[0] for one in recipe.sets}
    for each in data:
        name, equals, path = each.partition("=")
        if not equals:
            name, path = "", each
        if name and name not in paths and name not in families:
            message = f"--data {each!r}: {recipe.name} asks {', '.join(recipe.sets)}."
            raise stop(message, code=2)
        for one in recipe.sets:
            if name in ("", one, one.partition("/")[0]):
                paths[one] = path
    return paths


def _compare(
    recipe: Recipe,
    reader: str,
    folders: Sequence[Path],
    folder: Path,
    differs: Sequence[str],
    *,
    as_json: bool,
) -> None:
    """Put the runs beside the paper, in a file and on the screen."""
    from oprag.files import write_whole
    from oprag_eval.cli.display import comparison_lines
    from oprag_eval.reproduction import compare, pairs_of

    files = [each / "summary.json" for each in folders]
    summaries = [json.loads(file.read_text("utf-8")) for file in files]
    rows = compare(recipe, reader, summaries)
    pairs = pairs_of(recipe, rows, summaries)
    values = {
        "table": recipe.name,
        "title": recipe.title,
        "source": recipe.source,
        "reader": reader,
        "not_as_in_the_paper": list(differs),
        "notes": recipe.notes,
        "pairs": [asdict(pair) for pair in pairs],
        "rows": [asdict(row) for row in rows],
    }
    text = json.dumps(values, ensure_ascii=False, indent=2) + "\n"
    write_whole(folder / "reproduction.json", text.encode())
    lines = ["", *comparison_lines(recipe, reader, rows, pairs)]
    typer.echo(text.rstrip() if as_json else "\n".join(lines))
