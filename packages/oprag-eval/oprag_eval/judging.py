"""A judge of somebody else's: a function, or scores by question."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

from oprag.errors import InvalidOptionError
from oprag_eval.data import Dataset
from oprag_eval.data.rows import csv_rows, malformed
from oprag_eval.rows import Row, rows_of
from oprag_eval.running.run_directory import LineFile, RunDirectory, key_of
from oprag_eval.scores import JUDGE, JUDGED

Judge: TypeAlias = Callable[[Row], Any]
"""Gives a row's score, from 0 to 1, or whether it is right."""


def judge_answers(directory: RunDirectory, dataset: Dataset, judge: Judge) -> None:
    """Have the answers judged that are not yet, and keep the scores.

    Raises:
        InvalidOptionError: It gives no score.
    """
    known = {key_of(line) for line in directory.lines(JUDGED)}
    answers = [each for each in directory.answers() if key_of(each) not in known]
    rows = rows_of(answers, dataset, directory.settings())
    with LineFile(directory.path / JUDGED) as file:
        for answer, row in zip(answers, rows, strict=True):
            score = _checked(judge(row), row)
            file.add({**key_of(answer)._asdict(), JUDGE: score})


def _checked(said: Any, row: Row) -> float:
    if inspect.isawaitable(said):
        message = "The judge is a coroutine function. Give one that returns the score."
        raise InvalidOptionError(message, option="judge", value=said)
    if isinstance(said, bool | int | float) and 0 <= said <= 1:
        return float(said)
    message = (
        f"The judge gave {said!r} for question {row['question_id']}: a score is a "
        "number from 0 to 1."
    )
    raise InvalidOptionError(message, option="judge", value=said)


def judge_by_file(path: Path) -> Judge:
    """Read scores by question: a CSV file with the columns question_id and score.

    With a column `system`, or `budget`, a score is of that one alone.

    Raises:
        UnreadableFileError: A line has no score from 0 to 1, or none fits a question.
    """
    found: dict[tuple[str, str, str], float] = {}
    for line, values in csv_rows(path).values:
        try:
            score = float(values["score"])
        except (KeyError, ValueError):
            score = -1.0
        asked = values.get("question_id", "")
        if not (asked and 0 <= score <= 1):
            reason = "it needs a question_id, and a score from 0 to 1"
            raise malformed(str(path), line, reason)
        found[asked, values.get("system", ""), values.get("budget", "")] = score

    def judge(row: Row) -> float:
        budget = "" if row["budget"] is None else str(row["budget"])
        for system, tokens in (
            *((row["system"], budget), (row["system"], "")),
            *(("", budget), ("", "")),
        ):
            key = row["question_id"], system, tokens
            if key in found:
                return found[key]
        reason = f"it has no score of question {row['question_id']}, {row['system']}"
        raise malformed(str(path), None, reason)

    return judge


def judge_named(name: str) -> Judge:
    """Return the judge that `--judge` names: a CSV file, or `module:function`."""
    from oprag_eval.systems.own import load_object

    if name.endswith(".csv"):
        return judge_by_file(Path(name))
    found: Judge = load_object("--judge", name)
    return found
