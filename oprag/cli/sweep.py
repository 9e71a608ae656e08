"""`oprag sweep`: how many tokens to use for one's own documents, and with what."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from oprag.cli.evaluation_options import (
    DEFAULT_MODEL,
    AllowedReply,
    AskedStyle,
    Cache,
    Concurrency,
    DryRun,
    LimitQuestions,
    MaxCost,
    MaxTokens,
    Prices,
    Reader,
    Runs,
    Seed,
    Style,
    Temperature,
    Window,
    read_budgets,
    read_price,
    read_specs,
    read_temperature,
)
from oprag.cli.options import DEFAULT_EMBEDDING_MODEL, EmbeddingModel, Files

Questions = Annotated[
    Path,
    typer.Option(
        help="Your questions: a CSV file with the columns question, answer and "
        "document, or JSON Lines.",
        show_default=False,
    ),
]
Budgets = Annotated[
    str,
    typer.Option(
        help="Tokens of the context, separated by commas; without it, as many steps as "
        "your documents are long.",
        show_default=False,
    ),
]
Systems = Annotated[
    list[str],
    typer.Option(
        metavar="NAME[:KEY=VALUE,…],…",
        help="Systems, separated by commas; `oprag evaluate --list` shows them.",
    ),
]
Out = Annotated[
    Path,
    typer.Option(help="Folder of the run; a run that is there is gone on with."),
]


def sweep(
    files: Files,
    *,
    questions: Questions,
    budgets: Budgets = "",
    systems: Systems = ["dos-rag,op-rag,recall,full-document"],  # noqa: B006 -- Typer copies it
    model: Reader = DEFAULT_MODEL,
    answer_style: AskedStyle = Style.LETTER,
    out: Out = Path("oprag-sweep"),
    runs: Runs = 1,
    limit_questions: LimitQuestions = None,
    dry_run: DryRun = False,
    price: Prices = "",
    max_tokens: MaxTokens = None,
    max_cost: MaxCost = None,
    concurrency: Concurrency = 4,
    window: Window = None,
    max_reply: AllowedReply = 1024,
    temperature: Temperature = "0",
    seed: Seed = 42,
    embedding_model: EmbeddingModel = DEFAULT_EMBEDDING_MODEL,
    cache: Cache = None,
) -> None:
    """Find out how many tokens your own documents need.

    Asks your questions of your documents at growing token budgets, each with chunks
    in document order, by recall, and of the whole documents. Ends with
    the fewest tokens that do not do measurably worse than the best, and the evidence.

    Without a chat model it measures whether the passages hold the evidence or the
    answers that your questions name; with one, its answers.

    \b
      oprag sweep notes/ --questions questions.csv
      oprag sweep notes/ --questions questions.csv --model openai:gpt-4o-mini --dry-run

    Exit codes: as `oprag evaluate`.
    """  # noqa: D301 -- Click leaves paragraphs alone that begin with this character
    specs, money = read_specs(systems), read_price(price)
    tokens = read_budgets(budgets) if budgets else []

    from oprag.cli.advice import advice_lines
    from oprag.cli.evaluation_data import load_own, restrict
    from oprag.cli.evaluation_run import perform
    from oprag.cli.evaluation_setup import RunOptions, check_options, make_systems
    from oprag.evaluation.sweeping import budgets_for, sweep_measure, with_answer_recall
    from oprag.tokens import resolve_token_counter

    options = RunOptions(
        model=model,
        answer_style=answer_style.value,
        embedding_model=embedding_model,
        runs=runs,
        concurrency=concurrency,
        max_tokens=max_tokens,
        max_cost=max_cost,
        price=money,
        window=window,
        max_reply=max_reply,
        temperature=read_temperature(temperature),
        seed=seed,
        cache=cache,
    )
    check_options(options)
    chosen = make_systems(specs)
    dataset = restrict(load_own(files, questions, out), limit_questions)
    dataset = with_answer_recall(dataset)
    perform(
        dataset,
        chosen,
        tokens or budgets_for(dataset, resolve_token_counter(None)),
        options,
        None if dry_run else out,
        measure=sweep_measure(dataset, offline=options.offline),
        conclude=advice_lines,
    )
