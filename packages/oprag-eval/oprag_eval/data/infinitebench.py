"""∞Bench (arXiv:2402.13718): En.QA, En.MC and PassKey."""

from __future__ import annotations

from collections.abc import Sequence

from oprag_eval.data.building import Contexts, Counts, finish
from oprag_eval.data.records import Dataset, Question
from oprag_eval.data.rows import Row, Rows
from oprag_eval.errors import check_one_of

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
_PUBLISHED = {
    "en.qa": (Counts("∞Bench", 351),),
    "en.mc": (
        Counts("∞Bench", 229),
        Counts("the DOS RAG paper", 229, 58),
        Counts("the OP-RAG paper", 224),
    ),
    "passkey": (Counts("∞Bench", 590),),
}
_OPTIONS = 4


def read_infinitebench(task: str, rows: Rows) -> Dataset:
    """Read a task of ∞Bench.

    Fields: `id`, `context`, `input` (older files: `content`, `question`), `answer`
    and, in En.MC, four `options`. `answer` is a list, in older files a bare text;
    in En.MC its first entry is the right option's text, and a second one is its
    letter.

    Args:
        task: `"en.qa"`, `"en.mc"` or `"passkey"`.
        rows: The rows of the task's file.

    Raises:
        InvalidOptionError: There is no such task here.
        UnreadableFileError: A row lacks a field, or its answer is none of its
            options.
    """
    check_one_of("task", task, FILES)
    contexts = Contexts(rows, "context", "content", prefix="book")
    questions = []
    for number, row in enumerate(rows):
        answers = _answers(row)
        options = row.texts("options") if task == "en.mc" else ()
        questions.append(
            Question(
                row.label("id") if "id" in row.values else str(number),
                (contexts.add(row),),
                row.text("input", "question"),
                answers[:1] if options else answers,
                options,
                _gold(row, answers, options) if options or task == "en.mc" else None,
            )
        )
    return finish(
        f"infinitebench/{task}",
        questions,
        contexts.documents(),
        path=rows.path,
        metrics=_METRICS[task],
        published=_PUBLISHED[task],
    )


def _answers(row: Row) -> tuple[str, ...]:
    value = row.get("answer")
    answers = (value,) if isinstance(value, str) else row.texts("answer")
    if not any(answer.strip() for answer in answers):
        raise row.error("'answer' is empty")
    return answers


def _gold(row: Row, answers: Sequence[str], options: Sequence[str]) -> int:
    if len(options) != _OPTIONS:
        raise row.error(f"{len(options)} options, not {_OPTIONS}")
    text, letters = answers[0], answers[1:]
    golds = [index for index, option in enumerate(options) if option == text]
    if letters:
        golds = [index for index in golds if "ABCD"[index] == letters[0]]
    if not golds:
        raise row.error(f"the answer {answers!r} is not one of the options {options!r}")
    return golds[0]
