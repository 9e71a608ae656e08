"""LongBench (arXiv:2308.14508): the seven sets of the Self-Route paper."""

from __future__ import annotations

from oprag_eval.data.building import Contexts, Counts, finish
from oprag_eval.data.records import Dataset, Question
from oprag_eval.data.rows import Rows
from oprag_eval.errors import check_one_of

TASKS = {
    "narrativeqa": 200,
    "qasper": 200,
    "multifieldqa_en": 150,
    "hotpotqa": 200,
    "2wikimqa": 200,
    "musique": 200,
    "qmsum": 200,
}
"""The sets, by the authors' names, and the number of their questions."""


def read_longbench(task: str, rows: Rows) -> Dataset:
    """Read a set of LongBench.

    Fields: `_id`, `input` (the question), `context`, `answers` (a list), `length`
    (in words). The several documents of the multi-hop sets stand in one context,
    headed *Passage 1:* and so on: they are one document here, as in the papers.

    Args:
        task: One of `TASKS`.
        rows: The rows of its file.

    Raises:
        InvalidOptionError: There is no such set here.
        UnreadableFileError: A row lacks a field.
    """
    check_one_of("task", task, TASKS)
    contexts = Contexts(rows, "context", prefix=task)
    questions = []
    for row in rows:
        answers = row.texts("answers")
        if not answers:
            raise row.error("'answers' is empty")
        questions.append(
            Question(row.label("_id"), (contexts.add(row),), row.text("input"), answers)
        )
    return finish(
        f"longbench/{task}",
        questions,
        contexts.documents(),
        path=rows.path,
        metrics=("rouge_l",) if task == "qmsum" else ("token_f1",),
        published=(Counts("LongBench", TASKS[task]),),
    )
