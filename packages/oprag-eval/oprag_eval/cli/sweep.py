"""`oprag sweep`: how many tokens to use for one's own documents, and with what."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from oprag.cli.options import Files, takes
from oprag_eval.cli.options import RunOptions, Systems, read_budgets, read_specs

_SYSTEMS = [
    "langchain-default,llamaindex-default,dos-rag,op-rag,recommended,full-document"
]
"""The defaults of the frameworks, beside what may be changed."""


@takes(RunOptions)
def sweep(
    files: Files,
    *,
    questions: Annotated[
        Path,
        typer.Option(
            help="Your questions: a CSV file with the columns question, answer and "
            "document, or JSON Lines.",
            show_default=False,
        ),
    ],
    budgets: Annotated[
        str,
        typer.Option(
            help="Tokens of the context, separated by commas; without it, from 250 "
            "up to the length of your documents.",
            show_default=False,
        ),
    ] = "",
    systems: Systems = _SYSTEMS,
    out: Annotated[
        Path,
        typer.Option(
            help="Folder of the run. A run that is already there is continued."
        ),
    ] = Path("oprag-sweep"),
    options: RunOptions,
) -> None:
    """Find out how many tokens your own documents need.

    Asks your questions at growing token budgets: of chunks in document order, by the
    settings that this project recommends, and of whole documents; and once each by the
    defaults of LangChain and LlamaIndex. Ends with the fewest tokens shown to do as
    well as the best, and the evidence; or says that it takes more questions to tell.

    Without a chat model it measures whether the passages hold the evidence or the
    answers that your questions name; with one, its answers.

    \b
      oprag sweep notes/ --questions questions.csv
      oprag sweep notes/ --questions questions.csv --model openai:gpt-4o-mini --dry-run

    Exit codes: as `oprag evaluate`.
    """  # noqa: D301 -- Click leaves paragraphs alone that begin with this character
    specs = read_specs(systems)
    tokens = read_budgets(budgets) if budgets else []

    from oprag.tokens import resolve_token_counter
    from oprag_eval.catalogue import make_system
    from oprag_eval.cli.data import (
        budgets_for,
        own_documents,
        restrict,
        sweep_measure,
        with_answer_recall,
    )
    from oprag_eval.cli.run import perform
    from oprag_eval.data import read_own

    options.check()
    chosen = [make_system(spec) for spec in specs]
    own = read_own(questions, own_documents(files, questions, out))
    dataset = with_answer_recall(restrict(own, options.limit_questions))
    perform(
        dataset,
        chosen,
        tokens or budgets_for(dataset, resolve_token_counter(None)),
        options,
        out,
        measure=sweep_measure(dataset, offline=options.offline),
    )
