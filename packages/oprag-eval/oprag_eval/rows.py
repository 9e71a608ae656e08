"""The rows of a run, as other tools import them: JSON Lines and CSV, flat.

Each is one answer. `user_input`, `retrieved_contexts`, `response` and `reference` are
ragas' names; MLflow and LangSmith are told the columns. Scores are columns
by the names of `scores.jsonl`.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TypeAlias

from oprag_eval.data import Dataset
from oprag_eval.models import OFFLINE
from oprag_eval.running.run_directory import RunDirectory

ROWS = "rows.jsonl"
TABLE = "rows.csv"
Row: TypeAlias = dict[str, Any]


def rows_of(
    answers: Iterable[Mapping[str, Any]], dataset: Dataset, settings: Mapping[str, Any]
) -> Iterator[Row]:
    """Make the rows of answers.

    Args:
        answers: Scored, or not.
        dataset: The set that they answer.
        settings: Those of the run. If it had no chat model, the only `response` is that
            of a system that answers itself; the others have None, which ragas and
            LangSmith take as no answer.
    """
    offline = settings.get("model") == OFFLINE
    questions = {question.question_id: question for question in dataset.questions}
    for answer in answers:
        question = questions[answer["question_id"]]
        answered = not offline or answer["self_answered"]
        scores = answer.get("measures", {})
        yield {
            "question_id": question.question_id,
            "user_input": question.question,
            "retrieved_contexts": contexts_of(answer, dataset),
            "response": answer["prediction"] if answered else None,
            "reference": question.answers[0] if question.answers else None,
            "document": question.doc_ids[0] if question.doc_ids else None,
            "system": answer["system"],
            "budget": answer["budget"],
            "run": answer["run"],
            "context_tokens": answer["context_tokens"],
            **{
                name: None if value is None else float(value)
                for name, value in scores.items()
            },
        }


def contexts_of(answer: Mapping[str, Any], dataset: Dataset) -> list[str]:
    """Return the texts that were read, in their order.

    Of texts that stand in no document, those that the answer keeps.
    """
    kept = iter(answer.get("texts", ()))
    texts = []
    for name, start, end, _ in answer["pieces"]:
        if start is None:
            texts += [text for text in [next(kept, None)] if text is not None]
        else:
            texts.append(dataset.documents[name].text[start:end])
    return texts


def write_rows(
    directory: RunDirectory, answers: Iterable[Mapping[str, Any]], dataset: Dataset
) -> None:
    """Write `rows.jsonl` and `rows.csv`; in CSV a list is JSON in its cell."""
    rows = list(rows_of(answers, dataset, directory.settings()))
    lines = (json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    directory.write_text(ROWS, "".join(lines))
    written = io.StringIO(newline="")
    columns = list(dict.fromkeys(key for row in rows for key in row))
    table = csv.DictWriter(written, columns, lineterminator="\n")
    table.writeheader()
    for row in rows:
        listed = json.dumps(row["retrieved_contexts"], ensure_ascii=False)
        table.writerow({**row, "retrieved_contexts": listed})
    directory.write_text(TABLE, written.getvalue())
