"""LongBench (arXiv:2308.14508): the seven sets of the Self-Route paper."""

from __future__ import annotations

from pydantic import Field

from oprag_eval.data.builder import add_text, finish
from oprag_eval.data.records import Dataset, Document, Question
from oprag_eval.data.rows import Fields, Rows, Text

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


class _Asked(Fields):
    id: str = Field(validation_alias="_id")
    question: Text = Field(validation_alias="input")
    context: Text
    answers: tuple[str, ...] = Field(min_length=1)


def read_longbench(task: str, rows: Rows) -> Dataset:
    """Read a set of LongBench.

    The several documents of the multi-hop sets stand in one context, headed
    *Passage 1:* and so on: they are one document here, as in the papers.
    """
    documents: dict[str, Document] = {}
    questions = [
        Question(
            row.id, (add_text(documents, task, row.context),), row.question, row.answers
        )
        for _, row in rows.of(_Asked)
    ]
    return finish(
        f"longbench/{task}",
        questions,
        documents,
        path=rows.path,
        metrics=("rouge_l",) if task == "qmsum" else ("token_f1",),
        published=TASKS[task],
    )
