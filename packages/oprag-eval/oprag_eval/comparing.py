"""`oprag sweep` as a Python call that returns rows."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from oprag.errors import InvalidOptionError
from oprag_eval.artifacts import Vectors
from oprag_eval.bench import Bench
from oprag_eval.catalogue import make_system
from oprag_eval.cli.data import (
    budgets_for,
    data_facts,
    own_documents,
    sweep_measure,
    with_answer_recall,
)
from oprag_eval.data import Dataset, read_own
from oprag_eval.judging import Judge, judge_answers
from oprag_eval.models import OFFLINE, Model
from oprag_eval.readers.chat import ChatModel
from oprag_eval.readers.offline import OfflineReader
from oprag_eval.reports import write_reports
from oprag_eval.rows import ROWS, Row, write_rows
from oprag_eval.running.run_directory import RunDirectory, alone_in
from oprag_eval.running.runner import Plan, run
from oprag_eval.scores import score
from oprag_eval.system import System
from oprag_eval.systems.own import OwnSystem, own_system

if TYPE_CHECKING:
    from langchain_core.embeddings import Embeddings
    from langchain_core.language_models import BaseChatModel


def compare_systems(
    documents: Mapping[str, str] | str | Path,
    questions: str | Path,
    systems: Sequence[Any],
    *,
    embeddings: Embeddings,
    budgets: Sequence[int] = (),
    model: BaseChatModel | None = None,
    judge: Judge | None = None,
    out: str | Path | None = None,
) -> list[Row]:
    """Ask questions of systems, and return a row for each answer.

    Args:
        documents: Texts by name, or a folder of files.
        questions: The file of questions, see `read_own`.
        systems: Those of the catalogue, written as on the command line, such as
            `"dos-rag:size=50"`, and your own: a function of a question, a retriever, or
            a query engine. With one of your own, all systems search all documents.
        embeddings: The embedding model of the catalogue's systems.
        budgets: Tokens of the context. Empty: as `oprag sweep` chooses them.
        model: Answers. None: there is no answer, only the passages are measured.
        judge: A function from a row to a score from 0 to 1.
        out: Folder of the run with its page, which is continued if it is there. None:
            nothing is kept.

    Returns:
        The rows, as `rows.jsonl` has them: `question_id`, `user_input`,
        `retrieved_contexts`, `response`, `reference`, `document`, `system`, `budget`,
        `run`, `context_tokens`, and the scores by name.

    Raises:
        InvalidOptionError: A question could not be answered by a system.
        UnreadableFileError: A file cannot be read.

    May be called where an event loop runs, as in a notebook; it blocks.
    """
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made if out is None else out)
        dataset = _read(documents, Path(questions), folder, offline=model is None)
        chosen = [_system(each) for each in systems]
        if any(isinstance(each, OwnSystem) for each in chosen):
            dataset = replace(dataset, search_all=True)
        reader: Model = OfflineReader()
        if model is not None:
            reader = ChatModel(model, type(model).__name__)
        bench = Bench(dataset, reader, Vectors(embeddings, name="given"))
        plan = Plan(
            chosen, budgets or budgets_for(dataset, bench.counter), dataset.questions
        )
        directory = RunDirectory(folder)
        with alone_in(folder):
            directory.begin(_settings(plan, dataset, reader))
            _ask(plan, bench, directory)
            if judge is not None:
                judge_answers(directory, dataset, judge)
            write_reports(directory, dataset, measure=_measure(dataset, model, judge))
            write_rows(directory, score(directory, dataset), dataset)
            return [dict(row) for row in directory.lines(ROWS)]


def _read(
    documents: Mapping[str, str] | str | Path,
    questions: Path,
    folder: Path,
    *,
    offline: bool,
) -> Dataset:
    if isinstance(documents, Mapping):
        read = read_own(questions, documents)
    else:
        read = read_own(questions, own_documents([Path(documents)], questions, folder))
    return with_answer_recall(read) if offline else read


def _system(given: Any) -> System:
    if isinstance(given, System):
        return given
    return make_system(given) if isinstance(given, str) else own_system(given)


def _measure(dataset: Dataset, model: Any, judge: Judge | None) -> str:
    return "" if judge else sweep_measure(dataset, offline=model is None)


def _settings(plan: Plan, dataset: Dataset, reader: Model) -> dict[str, Any]:
    systems = dict.fromkeys(arm.system for arm in plan.arms)
    return {
        "data": data_facts(dataset),
        "systems": {each.name: each.settings() for each in systems},
        "budgets": sorted({arm.budget for arm in plan.arms if arm.budget}),
        "model": reader.name,
    }


def _ask(plan: Plan, bench: Bench, directory: RunDirectory) -> None:
    """Ask in a separate thread, which has its own event loop."""
    offline = bench.model.name == OFFLINE
    with ThreadPoolExecutor(1) as pool:
        asking = run(plan, bench, directory, concurrency=1 if offline else 4)
        report = pool.submit(asyncio.run, asking).result()
    if report.errors:
        first = report.errors[0]
        message = (
            f"{first['system']} could not answer question {first['question_id']}. "
            f"{first['message']}"
        )
        raise InvalidOptionError(message, option="systems", value=first["system"])
