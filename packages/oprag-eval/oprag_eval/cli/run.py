"""A run: made ready, estimated, asked, scored and reported, with its exit code."""

from __future__ import annotations

import asyncio
import errno
import platform
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import typer
from langchain_core.embeddings import Embeddings

from oprag.routing import no_tools
from oprag.tokens import resolve_token_counter
from oprag_cli import INTERRUPTED
from oprag_cli.chat_models import load_chat_model
from oprag_cli.display import make_console, progress_bar
from oprag_cli.embedding_models import load_model
from oprag_cli.messages import note, stop
from oprag_cli.options import cache_folder
from oprag_eval.artifacts import Vectors
from oprag_eval.bench import Bench
from oprag_eval.cli.data import data_facts
from oprag_eval.cli.display import advice_lines, estimate_lines, result_lines
from oprag_eval.cli.options import RunOptions
from oprag_eval.data import Dataset
from oprag_eval.estimate import RunEstimate, estimate_run, times
from oprag_eval.models import Model
from oprag_eval.question_words import wording_for
from oprag_eval.readers.chat import ChatModel
from oprag_eval.readers.offline import OfflineReader
from oprag_eval.reports import write_reports
from oprag_eval.reports.summary import Summary
from oprag_eval.reports.tables import number_of
from oprag_eval.running.limits import CappedModel, Spending
from oprag_eval.running.run_directory import RunDirectory, alone_in
from oprag_eval.running.runner import Plan, RunReport, run
from oprag_eval.system import System
from oprag_eval.systems.own import OwnSystem

FAILED = 3
"""Exit code if some questions could not be answered."""
CAPPED = 4
"""Exit code if a cap stopped the run."""

_PACKAGES = (
    *("oprag", "langchain-core", "nltk", "numpy", "sentence-transformers"),
    *("tiktoken", "torch", "transformers"),
)
"""Packages that may change an answer."""


_RETRIES = 6
"""The number of times that a client repeats a call that failed in passing."""


def perform(
    dataset: Dataset,
    systems: Sequence[System],
    budgets: Sequence[int],
    options: RunOptions,
    out: Path,
    *,
    measure: str = "",
    planned: Sequence[tuple[str, str]] = (),
    spent_in: Path | None = None,
    ending: Ending | None = None,
) -> RunEstimate | None:
    """Estimate a run, and unless it is a dry one ask the questions that are left.

    Systems are compared by `measure` and as `planned`. Empty: by the set's own, each
    with vanilla RAG. Spending is entered in `spent_in`, so that several runs share
    one cap. None: in the run's folder. `ending` tells the result in its own way.

    Returns:
        The estimate of a run that is not carried out.
    """
    embeddings = load_model(options.embedding_model, make_console(stderr=True))
    evaluation = make_evaluation(dataset, systems, budgets, options, embeddings)
    if options.dry_run:
        return _show_estimate(evaluation, options, _account(options))
    directory, code = RunDirectory(out), 0
    with alone_in(out):
        directory.begin(evaluation.settings)
        # No language model, no account.
        record = spent_in or out / "spending.jsonl"
        spending = None if options.offline else _account(options, record)
        if spending is not None:
            _show_rest(
                evaluation,
                options,
                directory,
                spending,
                err=ending is not None and ending.as_json,
            )
        try:
            report = _asked(evaluation, options, directory, spending)
            spent = [] if spending is None else ["", f"Spent: {spending}"]
            if report.known or report.asked:
                code = _report(
                    evaluation.bench.dataset,
                    directory,
                    ending,
                    spent,
                    price=options.price,
                    measure=measure,
                    planned=planned,
                    stopped=report.stopped is not None,
                )
        except KeyboardInterrupt as interrupt:
            note(f"Stopped. {_kept(evaluation, directory)}")
            raise typer.Exit(INTERRUPTED) from interrupt
        except OSError as error:
            if error.errno != errno.ENOSPC:
                raise
            kept = _kept(evaluation, directory)
            raise stop(f"The disk is full. {kept}") from error
    _leave(report, code, spent, out)
    return None


def _leave(report: RunReport, code: int, spent: Sequence[str], out: Path) -> None:
    """Exit with the code of missing answers, else with that of the ending."""
    if not report.complete:
        raise _incomplete(report, spent, out)
    if code:
        raise typer.Exit(code)


def _report(
    dataset: Dataset,
    directory: RunDirectory,
    ending: Ending | None,
    spent: Sequence[str],
    **how: Any,
) -> int:
    """Write the reports and tell the result; return the exit code."""
    if ending is not None:
        ending.judge_answers(directory, dataset)
    summary = write_reports(directory, dataset, **how)
    lines = [*result_lines(summary), *spent, *advice_lines(summary)]
    lines += ["", f"Report: {directory.path / 'report.html'}"]
    if ending is not None:
        return ending(directory, dataset, summary, lines)
    typer.echo("\n".join(lines))
    return 0


class Ending(Protocol):
    """The end of a run, if it is not told in lines alone."""

    @property
    def as_json(self) -> bool:
        """Whether standard output is JSON, and all else goes to standard error."""

    def judge_answers(self, directory: RunDirectory, dataset: Dataset) -> None:
        """Judge the answers, before they are scored."""

    def __call__(
        self,
        directory: RunDirectory,
        dataset: Dataset,
        summary: Summary,
        lines: Sequence[str],
    ) -> int:
        """Tell the result; return the exit code."""


def _show_rest(
    evaluation: Evaluation,
    options: RunOptions,
    directory: RunDirectory,
    spending: Spending,
    *,
    err: bool,
) -> None:
    """Show the estimate of the run, if something is left to be asked."""
    left = 1 - len(directory.answers()) / len(evaluation.plan)
    if left:
        _show_estimate(evaluation, options, spending, left, err=err)
        typer.echo("", err=err)


def _show_estimate(
    evaluation: Evaluation,
    options: RunOptions,
    spending: Spending,
    left: float = 1,
    *,
    err: bool = False,
) -> RunEstimate | None:
    """Show the estimate of the whole run; say if the share that is left passes a cap.

    Somebody else's systems are not asked for it, since that may cost.
    """
    console = make_console(stderr=True)
    plan, own = evaluation.plan.without(OwnSystem)
    if own:
        note(f"Not estimated, since they would have to be asked: {', '.join(own)}.")
    if plan is None:
        return None
    with progress_bar(console, "Embedding a sample for the estimate") as bar:
        estimating = estimate_run(plan, evaluation.bench, advanced=bar)
        estimate = asyncio.run(estimating)
    for line in estimate_lines(estimate, options.price):
        typer.echo(line, err=err)
    if spending.passed([times(estimate.low.usage, left)]) is not None:
        note("What is left is more than the cap allows: the run can be continued.")
    return estimate


def _asked(
    evaluation: Evaluation,
    options: RunOptions,
    directory: RunDirectory,
    spending: Spending | None,
) -> RunReport:
    """Ask the questions that are left."""
    bench = evaluation.bench
    if spending is not None:
        longest = options.max_reply
        bench.model = CappedModel(bench.model, spending, longest_reply=longest)
    try:
        with progress_bar(make_console(stderr=True), "Answers") as bar:
            asking = run(
                evaluation.plan,
                bench,
                directory,
                # The offline reader never waits. One after the other, every run embeds
                # the same texts together, and gets the same vectors to the last digit.
                concurrency=1 if options.offline else options.concurrency,
                advanced=bar,
            )
            # In one event loop: clients keep their connections from call to call.
            return asyncio.run(asking)
    finally:
        bench.vectors.close()


def _kept(evaluation: Evaluation, directory: RunDirectory) -> str:
    return (
        f"{len(directory.answers()):,} of {len(evaluation.plan):,} answers are kept in "
        f"{directory.path}. Give the same command again to continue."
    )


def _account(options: RunOptions, record: Path | None = None) -> Spending:
    """Return the account of the run: its caps and its spending."""
    return Spending(
        resolve_token_counter(None),
        max_tokens=options.max_tokens,
        max_cost=options.max_cost,
        price=options.price,
        record=record,
    )


def _incomplete(report: RunReport, spent: Sequence[str], out: Path) -> typer.Exit:
    """Tell which answers are missing, and return the exit to raise."""
    if report.stopped is not None:
        return stop(" ".join([report.stopped.message, *spent]), code=CAPPED)
    first = report.errors[0]
    missing = number_of(len(report.errors), "answer")
    are = "is" if len(report.errors) == 1 else "are"
    message = (
        f"{missing} {are} missing. The first: {first['system']}, "
        f"question {first['question_id']}. {first['message']} All are in "
        f"{out / 'errors.jsonl'}; the same command asks them again."
    )
    return stop(message, code=FAILED)


class Evaluation(NamedTuple):
    """Everything that a run needs."""

    plan: Plan
    bench: Bench
    settings: dict[str, Any]
    """Everything that decides the answers; `run.json`."""


def make_evaluation(
    dataset: Dataset,
    systems: Sequence[System],
    budgets: Sequence[int],
    options: RunOptions,
    embeddings: Embeddings,
) -> Evaluation:
    """Make a run ready."""
    style = options.answer_style
    decline = not options.no_decline
    wording = wording_for(dataset, options.prompts, decline=decline, style=style)
    plan = Plan(systems, budgets, dataset.questions, runs=options.runs)
    cache = options.cache or cache_folder() / "evaluation"
    vectors = Vectors(embeddings, name=options.embedding_model, folder=cache)
    settings = {
        "data": data_facts(dataset),
        "systems": {system.name: system.settings() for system in systems},
        "budgets": list(budgets),
        "runs": options.runs,
        "model": options.model,
        "prompts": {"source": wording.source, "decline": wording.decline},
        "answer_style": style,
        "temperature": None if options.offline else options.temperature,
        "max_reply": options.max_reply,
        "window": options.window,
        "embedding_model": options.embedding_model,
        "tokenizer": resolve_token_counter(None).name,
        "seed": options.seed,
        "versions": _versions(options),
    }
    model: Model = OfflineReader()
    if not (options.offline or options.dry_run):  # an estimate takes no key
        model = _chat_model(options)
    able = options.dry_run or model.calls_tools
    if not able and any(getattr(s, "decline", "") == "tool" for s in systems):
        raise no_tools("--model", model)
    bench = Bench(
        dataset,
        model,
        vectors,
        window=options.window,
        max_reply=options.max_reply,
        cache=cache,
        seed=options.seed,
        temperature=options.temperature,
        answer_style=style,
        wording=wording,
    )
    return Evaluation(plan, bench, settings)


def _chat_model(options: RunOptions) -> ChatModel:
    """Make a client; if the provider takes a seed, it is sent."""
    fields = {"temperature": options.temperature, "max_retries": _RETRIES}
    given = {key: value for key, value in fields.items() if value is not None}
    client = load_chat_model(options.model, **given)
    if "seed" in type(client).model_fields:
        client = client.model_copy(update={"seed": options.seed})
    return ChatModel(client, options.model)


def _versions(options: RunOptions) -> dict[str, str]:
    provider = options.model.partition(":")[0].replace("_", "-")
    found = {"python": platform.python_version()}
    for name in (*_PACKAGES, f"langchain-{provider}"):
        try:
            found[name] = version(name)
        except PackageNotFoundError:  # another provider's, or not needed here
            continue
    return found
