"""The questions of a run asked, within its caps and with its progress told."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Any

from rich.console import Console

from oprag.cli.evaluation_progress import CountedEmbeddings, answering, spent
from oprag.cli.evaluation_setup import Evaluation, RunOptions
from oprag.cli.telling import note
from oprag.errors import ChatModelError, SpendingCapError
from oprag.evaluation.bench import Bench
from oprag.evaluation.failure_classes import label_declined
from oprag.evaluation.running.limits import CappedModel, Spending
from oprag.evaluation.running.run_directory import RunDirectory
from oprag.evaluation.running.runner import RunReport, run
from oprag.tokens import resolve_token_counter


class Asking:
    """Asks a run's questions within its caps.

    Args:
        evaluation: The run.
        options: What bounds it.
        directory: Begun with the run's settings.
    """

    def __init__(
        self, evaluation: Evaluation, options: RunOptions, directory: RunDirectory
    ) -> None:
        self._evaluation = evaluation
        self._options = options
        self._directory = directory
        self._model = evaluation.model
        self._spending: Spending | None = None
        if not options.offline:
            self._spending = Spending(
                resolve_token_counter(None),
                max_tokens=options.max_tokens,
                max_cost=options.max_cost,
                price=options.price,
                record=directory.spending_path,
            )
            self._model = CappedModel(
                self._model, self._spending, longest_reply=options.max_reply
            )

    def ask(self, embeddings: CountedEmbeddings, *, label: bool) -> RunReport:
        """Ask everything, and why what was declined was."""
        total = len(self._evaluation.plan)
        console = Console(stderr=True)
        with answering(console, total, self._spending, embeddings) as answered:
            # In one event loop: clients keep their connections from call to call.
            return asyncio.run(self._all(answered, label=label))

    async def _all(
        self, answered: Callable[[Mapping[str, Any]], None], *, label: bool
    ) -> RunReport:
        bench = Bench(
            self._evaluation.dataset,
            self._model,
            self._evaluation.vectors,
            window=self._options.window,
            cache=self._evaluation.cache,
            seed=self._options.seed,
            answer_style=self._options.answer_style,
        )
        # The offline reader never waits. One after the other, every run embeds the
        # same texts together, and so gets the same vectors to the last digit.
        at_once = 1 if self._options.offline else self._options.concurrency
        report = await run(
            self._evaluation.plan,
            bench,
            self._directory,
            concurrency=at_once,
            answered=answered,
        )
        if label and report.stopped is None:
            await self._label(report)
        return report

    async def _label(self, report: RunReport) -> None:
        dataset = self._evaluation.dataset
        try:
            await label_declined(self._directory, dataset, self._model)
        except SpendingCapError as error:
            report.stopped = error
        except ChatModelError as error:
            note(f"Not all declined questions are labelled. {error.message}")

    def spent(self) -> list[str]:
        """Tell what was spent, in all, since the run was begun."""
        return [] if self._spending is None else ["", f"Spent: {spent(self._spending)}"]
