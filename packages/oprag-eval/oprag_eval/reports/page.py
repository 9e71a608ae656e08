"""The page of a run: one file that needs nothing else, and may run nothing else.

Its content security policy allows the one script and the one style sheet by their
hashes, and images that are in the page itself.
"""

from __future__ import annotations

import base64
import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from oprag_eval.data import Dataset, Question
from oprag_eval.reports.plots import Plot
from oprag_eval.reports.summary import Summary
from oprag_eval.reports.tables import Table, heading_of, number_of

_FOLDER = Path(__file__).parent / "templates"


def as_page(
    summary: Summary,
    tables: Sequence[Table],
    plots: Sequence[Plot],
    questions: Mapping[str, Any],
) -> str:
    """Write the page."""
    import jinja2
    from jinja2 import utils

    environment = jinja2.Environment(
        autoescape=True,
        loader=jinja2.FileSystemLoader(_FOLDER),
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    script = (_FOLDER / "report.js").read_text("utf-8")
    style = (_FOLDER / "report.css").read_text("utf-8")
    page: str = environment.get_template("report.html.jinja").render(
        summary=summary,
        questions_asked=number_of(summary.questions, "question"),
        documents_asked=number_of(summary.documents, "document"),
        measure=heading_of(summary.measure, summary),
        settings={
            key: json.dumps(value, ensure_ascii=False, sort_keys=True)
            for key, value in sorted(summary.settings.items())
        },
        tables=tables,
        plots=[
            (plot, f"data:image/svg+xml;base64,{base64.b64encode(plot.svg).decode()}")
            for plot in plots
        ],
        # Escapes <, >, & and ', so that no text can end the element.
        questions=utils.htmlsafe_json_dumps(questions, separators=(",", ":")),
        script=script,
        style=style,
        script_hash=_hash(script),
        style_hash=_hash(style),
    )
    return page


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode("utf-8")).digest()
    return f"sha256-{base64.b64encode(digest).decode('ascii')}"


MOST_ANSWERS = 20_000
"""Answers that a page holds at most."""
MOST_PIECES = 300_000
"""Passages that a page holds at most; with both a page stays under some 25 MB."""


def page_data(
    answers: Sequence[Mapping[str, Any]],
    dataset: Dataset,
    measure: str,
    *,
    numbered: bool = False,
    held: str = "",
    most_answers: int = MOST_ANSWERS,
    most_pieces: int = MOST_PIECES,
) -> dict[str, Any]:
    """Return the data of scored answers that the page's script shows, as plain values.

    Returns:
        `held`: the thing that passages are searched for, if there are no answers; else
        empty. `numbered`: whether options were asked for by number, not by letter.
        `arms`:
        `[system, budget]` each. `documents`: `[title, length]` by id. `total` and
        `every`: all questions, and that each `every`-th is here. `questions`: see
        `_question`; arms by their place in the list.
    """
    asked: dict[str, list[Mapping[str, Any]]] = {}
    for answer in answers:
        asked.setdefault(answer["question_id"], []).append(answer)
    questions = [q for q in dataset.questions if q.question_id in asked]
    pieces = sum(len(answer["pieces"]) for answer in answers)
    every = math.ceil(max(len(answers) / most_answers, pieces / most_pieces, 1))
    arms = list(dict.fromkeys((each["system"], each["budget"]) for each in answers))
    places = {arm: place for place, arm in enumerate(arms)}
    shown = [
        _question(question, asked[question.question_id], places, measure, told=not held)
        for question in questions[::every]
    ]
    pieces_of = (row[6] for each in shown for row in each["answers"])
    read = [name for each in shown for name in each["documents"]]
    read += [piece[0] for listed in pieces_of for piece in listed]
    found = [dataset.documents[name] for name in dict.fromkeys(read)]
    return {
        "arms": [list(arm) for arm in arms],
        "documents": {each.doc_id: [each.title, len(each.text)] for each in found},
        "every": every,
        "held": held,
        "numbered": numbered,
        "questions": shown,
        "total": len(questions),
    }


def _question(
    question: Question,
    answers: Sequence[Mapping[str, Any]],
    arms: Mapping[tuple[str, int | None], int],
    measure: str,
    *,
    told: bool,
) -> dict[str, Any]:
    """Return one question: `documents` that its strip is drawn over, and `answers`.

    An answer is `[arm, run, prediction or None, score, tokens, route, pieces,
    made]`; pieces are `[document, start, end]`, in the order they were read; made
    counts the texts that are in no document, such as summaries.
    """
    rows: list[list[Any]] = []
    for answer in answers:
        value = answer["measures"].get(measure)
        placed = [piece[:3] for piece in answer["pieces"] if piece[1] is not None]
        rows.append(
            [
                arms[answer["system"], answer["budget"]],
                answer["run"],
                (answer["prediction"] or None) if told else None,
                None if value is None else round(float(value), 4),
                answer["context_tokens"],
                answer["route"],
                placed,
                len(answer["pieces"]) - len(placed),
            ]
        )
    read = dict.fromkeys(piece[0] for row in rows for piece in row[6])
    return {
        "answers": rows,
        "documents": list(question.doc_ids or read),
        "evidence": [[*question.doc_ids[:1], *span] for span in question.evidence],
        "gold": question.gold_option,
        "id": question.question_id,
        "options": list(question.options),
        "question": question.question,
        "right": list(question.answers),
    }
