"""`oprag sweep`: how many tokens to use for your documents, and with which system."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from oprag_cli.messages import stop
from oprag_cli.options import AsJson, Files, check_paths, takes
from oprag_eval.cli.options import (
    RunOptions,
    Systems,
    read_budgets,
    read_specs,
    refuse_json_of_estimate,
)

if TYPE_CHECKING:
    from oprag_eval.data import Dataset

_SYSTEMS = [
    "langchain-default,llamaindex-default,dos-rag,op-rag,recommended,full-document"
]
"""The defaults of the frameworks, beside systems that may be changed."""


@takes(RunOptions)
def sweep(
    files: Files,
    *,
    questions: Annotated[
        Path,
        typer.Option(
            help="Your questions: CSV with the columns question, answer and document, "
            "JSON Lines, or a data set of LlamaIndex, ragas or LangSmith.",
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
    system: Annotated[
        list[str] | None,
        typer.Option(
            metavar="MODULE:NAME",
            help="A system of your own beside these: a function of a question, a "
            "retriever of LangChain or LlamaIndex, or a query engine. All systems then "
            "search all documents. May be repeated.",
            show_default=False,
        ),
    ] = None,
    judge: Annotated[
        str,
        typer.Option(
            metavar="MODULE:NAME|FILE.csv",
            help="Scores answers from 0 to 1: a function of a row of rows.jsonl, or a "
            "file with the columns question_id and score.",
            show_default=False,
        ),
    ] = "",
    fail_under: Annotated[
        list[str] | None,
        typer.Option(
            metavar="MEASURE=NUMBER",
            help="Exit with 5 where a score is under it, such as recall=0.8. May be "
            "repeated.",
            show_default=False,
        ),
    ] = None,
    compare: Annotated[
        Path | None,
        typer.Option(
            metavar="RUN",
            help="Exit with 5 where this run is worse than the one in that folder, and "
            "it is no accident.",
            show_default=False,
        ),
    ] = None,
    as_json: AsJson = False,
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
    well as the best on these documents, the evidence, and a line of Python; or says
    how many questions it takes to tell.

    Without a chat model it measures whether the passages hold the evidence or the
    answers that your questions name, and cannot compare their order; with one, its
    answers.

    \b
      oprag sweep notes/ --questions questions.csv
      oprag sweep notes/ --questions questions.csv --model openai:gpt-4o-mini --dry-run
      oprag sweep notes/ --questions questions.csv --system my_module:retriever

    Exit codes: as `oprag evaluate`; 5 where --fail-under or --compare is not met.
    """  # noqa: D301 -- Click leaves paragraphs alone that begin with this character
    specs = read_specs(systems)
    tokens = read_budgets(budgets) if budgets else []
    refuse_json_of_estimate(options, as_json=as_json)
    check_paths(*files, questions)

    from oprag.tokens import resolve_token_counter
    from oprag_eval.catalogue import make_system
    from oprag_eval.cli.data import (
        budgets_for,
        own_documents,
        restrict,
        sweep_measure,
        with_answer_recall,
    )
    from oprag_eval.cli.ending import SweepEnding, read_bounds, rows_before
    from oprag_eval.cli.run import perform
    from oprag_eval.data import read_own
    from oprag_eval.judging import judge_named
    from oprag_eval.systems.own import load_own

    options.check()
    ending = SweepEnding(
        bounds=read_bounds(fail_under or []),
        compared=compare,
        before=rows_before(compare),
        as_json=as_json,
        judge=judge_named(judge) if judge else None,
    )
    if judge and options.offline and not system:
        raise stop(_NO_ANSWERS, code=2)
    own = [load_own(target) for target in system or []]
    chosen = [*own, *(make_system(spec) for spec in specs)]
    read = read_own(questions, own_documents(files, questions, out))
    dataset = with_answer_recall(restrict(read, options.limit_questions))
    if options.offline and not options.dry_run and _needs_model(dataset):
        raise stop(_OPTIONS, code=2)
    if own:
        dataset = replace(dataset, search_all=True, notes=(*dataset.notes, _ALL))
    perform(
        dataset,
        chosen,
        tokens or budgets_for(dataset, resolve_token_counter(None)),
        options,
        out,
        measure="" if judge else sweep_measure(dataset, offline=options.offline),
        ending=ending,
    )


def _needs_model(dataset: Dataset) -> bool:
    """Return whether nothing but answers to questions with options can be measured."""
    return all(each.options and not each.evidence for each in dataset.questions)


_OPTIONS = (
    "Questions with options are answered by a chat model, and without one nothing is "
    "measured on them. Give --model, or evidence to the questions."
)
_NO_ANSWERS = (
    "--judge scores answers, and without a chat model there are none. Give --model, or "
    "a --system that answers."
)
_ALL = (
    "A system of one's own searches all documents, so every system did, whichever "
    "document a question is about."
)
