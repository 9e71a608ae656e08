"""∞Bench (arXiv:2402.13718): En.QA, En.MC and PassKey."""

from __future__ import annotations

from pydantic import Field

from oprag_eval.data.builder import add_text, finish
from oprag_eval.data.records import Dataset, Document, Question
from oprag_eval.data.rows import Fields, Rows, Text, malformed

FILES = {
    "en.qa": "longbook_qa_eng.jsonl",
    "en.mc": "longbook_choice_eng.jsonl",
    "passkey": "passkey.jsonl",
}
"""The authors' file of each task."""

_METRICS = {
    "en.qa": ("token_f1",),
    "en.mc": ("choice_match", "bracketed_match"),
    "passkey": ("first_number_match",),
}
_PUBLISHED = {"en.qa": 351, "en.mc": 229, "passkey": 590}
"""Numbers of questions; the OP-RAG paper has 224 of En.MC."""
_OPTIONS = 4


class _Asked(Fields):
    """In En.MC the first answer is the right option's text, and a second its letter."""

    id: str
    context: Text
    question: Text = Field(validation_alias="input")
    answer: tuple[Text, ...]
    options: tuple[str, ...] = ()

    def gold(self) -> int | None:
        """Return the index of the right option; None: there is no such option."""
        text, letters = self.answer[0], self.answer[1:]
        golds = [index for index, option in enumerate(self.options) if option == text]
        if letters:
            golds = [index for index in golds if "ABCD"[index] == letters[0]]
        return next(iter(golds), None) if len(self.options) == _OPTIONS else None


def read_infinitebench(task: str, rows: Rows) -> Dataset:
    """Read a task of ∞Bench."""
    documents: dict[str, Document] = {}
    questions = []
    chosen = task == "en.mc"
    for line, row in rows.of(_Asked):
        gold = row.gold() if chosen else None
        if chosen and gold is None:
            reason = f"{row.answer} is none of the four options {row.options}"
            raise malformed(rows.path, line, reason)
        questions.append(
            Question(
                row.id,
                (add_text(documents, "book", row.context),),
                row.question,
                row.answer[:1] if chosen else row.answer,
                row.options if chosen else (),
                gold,
            )
        )
    return finish(
        f"infinitebench/{task}",
        questions,
        documents,
        path=rows.path,
        metrics=_METRICS[task],
        published=_PUBLISHED[task],
    )
