"""∞Bench (arXiv:2402.13718) and LongBench (arXiv:2308.14508): a text by a question."""

from __future__ import annotations

from typing import NamedTuple

from pydantic import AliasChoices, Field

from oprag_eval.data.records import Dataset, Document, Question
from oprag_eval.data.rows import Fields, Rows, Text, add_text, finish, malformed


class _Task(NamedTuple):
    published: int
    """The number of questions; the OP-RAG paper has 224 of En.MC."""
    metrics: tuple[str, ...] = ("token_f1",)


_CHOICE = "infinitebench/en.mc"
_OPTIONS = 4
TASKS = {
    "infinitebench/en.qa": _Task(351),
    _CHOICE: _Task(229, ("choice_match", "bracketed_match")),
    "infinitebench/passkey": _Task(590, ("first_number_match",)),
    "longbench/narrativeqa": _Task(200),
    "longbench/qasper": _Task(200),
    "longbench/multifieldqa_en": _Task(150),
    "longbench/hotpotqa": _Task(200),
    "longbench/2wikimqa": _Task(200),
    "longbench/musique": _Task(200),
    "longbench/qmsum": _Task(200, ("rouge_l",)),
}
"""The sets of the papers; those of LongBench by the authors' names."""


class _Asked(Fields):
    """In En.MC the first answer is the right option's text, and a second its letter."""

    id: str = Field(validation_alias=AliasChoices("id", "_id"))
    context: Text
    question: Text = Field(validation_alias="input")
    answers: tuple[str, ...] = Field(
        min_length=1, validation_alias=AliasChoices("answer", "answers")
    )
    options: tuple[str, ...] = ()

    def gold(self) -> int | None:
        """Return the index of the right option; None if there is no such option."""
        text, letters = self.answers[0], self.answers[1:]
        golds = [index for index, option in enumerate(self.options) if option == text]
        if letters:
            golds = [
                index for index in golds if "ABCD"[index : index + 1] == letters[0]
            ]
        return next(iter(golds), None) if len(self.options) == _OPTIONS else None


def read_long_contexts(name: str, rows: Rows) -> Dataset:
    """Read a set of `TASKS`.

    The several documents of LongBench's multi-hop sets stand in one context, headed
    *Passage 1:* and so on: they are one document here, as in the papers.
    """
    documents: dict[str, Document] = {}
    questions = []
    for line, row in rows.of(_Asked):
        gold, answers = None, row.answers
        if name == _CHOICE:
            gold, answers = row.gold(), answers[:1]
            if gold is None:
                reason = f"{row.answers} is none of the four options {row.options}"
                raise malformed(rows.path, line, reason)
        document = add_text(documents, name.partition("/")[2], row.context)
        questions.append(
            Question(row.id, (document,), row.question, answers, row.options, gold)
        )
    task = TASKS[name]
    return finish(
        name,
        questions,
        documents,
        path=rows.path,
        metrics=task.metrics,
        published=task.published,
    )
