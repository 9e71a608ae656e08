"""`oprag evaluate`: the papers' systems on the papers' data."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from oprag_cli.messages import stop
from oprag_cli.options import AsJson, takes
from oprag_eval.cli.options import (
    RunOptions,
    Systems,
    read_budgets,
    read_specs,
    refuse_json_of_estimate,
)

_DATA = (
    "Name a data set: --data NAME=PATH (`oprag evaluate --list` shows the names). Your "
    "own questions are for `oprag sweep`."
)

_SYSTEMS = [
    "langchain-default,llamaindex-default,vanilla-rag,op-rag,dos-rag,full-document"
]


@takes(RunOptions)
def evaluate(
    *,
    data: Annotated[
        str,
        typer.Option(
            metavar="NAME=PATH",
            help="A data set of the papers and where it is; without =PATH from the "
            "Hugging Face hub.",
            show_default=False,
        ),
    ] = "",
    systems: Systems = _SYSTEMS,
    budgets: Annotated[
        str, typer.Option(help="Tokens of the context, separated by commas.")
    ] = "1500,5000,10000,20000,30000,40000",
    out: Annotated[
        Path,
        typer.Option(
            help="Folder of the run. A run that is already there is continued."
        ),
    ] = Path("oprag-evaluate"),
    show_list: Annotated[
        bool, typer.Option("--list", help="Show the data sets and the systems.")
    ] = False,
    as_json: AsJson = False,
    options: RunOptions,
) -> None:
    """Compare systems at equal tokens, on published data.

    Asks every question of every system at every budget, scores the answers, and
    writes tables, plots and a page to the folder of the run. Give the same command
    again to continue a run that was stopped. `oprag sweep` does so on your documents.

    \b
      oprag evaluate --list
      oprag evaluate --data quality=QuALITY/ --dry-run --model openai:gpt-4o-mini

    Exit codes: 0 when every answer is there, 1 when it cannot begin, for example
    because another command writes to the folder, 3 when some answers failed, 4 when a
    cap stopped it, 130 after Ctrl-C.
    """  # noqa: D301 -- Click leaves paragraphs alone that begin with this character
    if show_list:
        from oprag_eval.cli.display import listing

        typer.echo("\n".join(listing()))
        return
    specs, tokens = read_specs(systems), read_budgets(budgets)
    if not data:
        raise stop(_DATA, code=2)
    refuse_json_of_estimate(options, as_json=as_json)

    from oprag_eval.catalogue import make_system
    from oprag_eval.cli.data import restrict, sweep_measure, with_answer_recall
    from oprag_eval.cli.ending import JsonEnding
    from oprag_eval.cli.run import perform
    from oprag_eval.data import load

    options.check()
    chosen = [make_system(spec) for spec in specs]
    name, _, path = data.partition("=")
    dataset = restrict(load(name.strip(), path.strip()), options.limit_questions)
    measure = sweep_measure(dataset, offline=options.offline)
    if options.offline:  # its answers say little: measure the contexts
        dataset = with_answer_recall(dataset)
    ending = JsonEnding() if as_json else None
    perform(dataset, chosen, tokens, options, out, measure=measure, ending=ending)
