"""All that the page shows of a session, as plain JSON values."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from oprag.chunk import Passage
from oprag.context import headers
from oprag.errors import count_nouns
from oprag_cli.demo import QUESTIONS, jumps_back
from oprag_cli.play.answers import Answering
from oprag_cli.play.desk import ORDERS, Step
from oprag_cli.play.session import Session

_PREVIEW = 160
"""Characters shown of a passage in the list."""
_HOVER = 400
"""Characters shown of a passage where the pointer rests."""


def files_view(session: Session) -> dict[str, Any]:
    """Return the files, their progress, and a sentence for each that cannot be used."""
    desk, status = session.desk, session.status
    read = {} if desk is None else desk.shelf.paths
    given = [name or str(path) for path, name in session.given if not path.is_dir()]
    ready = (
        desk and f"{count_nouns(desk.index.chunks, 'chunk')}, {desk.tokens:,} tokens"
    )
    shown = dict.fromkeys([*read, *(given if status.working else [])])
    short = short_names(shown)
    return {
        "files": [[name, short[name], name not in read] for name in shown],
        "given": bool(session.given),
        "sentences": session.refused,
        "working": status.working,
        "said": status.said or ready or "",
        "share": status.share,
    }


def view_question(session: Session) -> dict[str, Any]:
    """Return the state of the question: why it waits, or why it has no passages."""
    said = ""
    working = session.status.working
    if session.searching:
        said = "Searching …"
    elif session.question and working and session.desk is None:
        said = f"The question waits until the files are ready. {session.status.said}"
    elif session.question and working:
        said = "Found in the files that are ready; others are being indexed."
    return {
        "said": said,
        "first": not session.question,
        "problem": session.problem,
        "model": session.workshop.chat_model,
        "fits": "" if session.step is None else fits(session.step),
        "examples": list(QUESTIONS) if session.has_sample else [],
    }


def fits(step: Step) -> str:
    """Return how many of all chunks fit the budget."""
    some = len(step.retrieved.chunks)
    return f"fits {some:,} of {count_nouns(step.desk.index.chunks, 'chunk')}"


def step_view(step: Step) -> dict[str, Any]:
    """Return all that is shown of a step except the texts that are sent."""
    found, desk = step.retrieved, step.desk
    by_rank = step.numbers("rank")
    return {
        "question": found.question,
        "passages": passages_view(step),
        "said": _say(step),
        "tokens": found.tokens,
        "documents": _documents(step),
        "without": len(desk.whole) - len({p.text_id for p in found.passages}),
        "orders": {order: step.numbers(order) for order in ORDERS},
        "jumps": sum(jumps_back(by_rank)),
    }


def passages_view(step: Step) -> list[dict[str, Any]]:
    """Return the passages in document order, each with its colour and its beginning."""
    found = step.retrieved
    short = short_names(step.desk.shelf.paths)
    last = max(len(found.passages) - 1, 1)
    return [
        {
            "number": number,
            "document": passage.text_id,
            "name": short.get(passage.text_id, passage.text_id),
            "place": place_within(passage),
            "best": passage.rank + 1,
            "tokens": tokens,
            "share": (number - 1) / last,
            "text": _cut_beginning(passage.text, _PREVIEW),
            "hover": _cut_beginning(passage.text, _HOVER),
        }
        for number, (passage, tokens) in enumerate(
            zip(found.passages, found.passage_tokens, strict=True), start=1
        )
    ]


def view_sent(step: Step) -> list[dict[str, Any]]:
    """Return the text of each passage and the line before it, as they are sent."""
    passages = step.retrieved.passages
    return [
        {"text": passage.text, "head": head}
        for passage, head in zip(passages, headers(passages), strict=True)
    ]


def answers_view(answering: Answering) -> dict[str, Any]:
    """Return the answers, while they are written."""
    step = answering.step
    return {
        "model": answering.model,
        "question": "" if step is None else step.retrieved.question,
        "stale": step is not None and step is not answering.session.step,
        "working": answering.working,
        "cited": answering.cited,
        "answers": {
            answer.order: {
                "text": answer.text,
                "problem": answer.problem,
                "working": answer.working,
                "facts": answer.facts,
            }
            for answer in answering.answers
        },
    }


def short_names(names: Iterable[str]) -> dict[str, str]:
    """Cut the folder that names share off them, or off none if two became the same.

    The names of dropped files have no folder, and stay unchanged.
    """
    names = list(names)
    folders = [str(Path(name).parent) for name in names if len(Path(name).parts) > 1]
    try:
        common = os.path.commonpath(folders)
    except ValueError:  # there is none
        common = ""
    short = {name: name for name in names}
    for name in names:
        if common and Path(name).is_relative_to(common):
            short[name] = str(Path(name).relative_to(common))
    if len({*short.values()}) < len(names):
        return {name: name for name in names}
    return short


def place_within(passage: Passage) -> str:
    """Return the citation without the name, under which it stands."""
    return passage.citation.removeprefix(passage.document_name).lstrip(", ")


def _cut_beginning(text: str, length: int) -> str:
    shown = " ".join(text[: 2 * length].split())
    return shown if len(shown) <= length else f"{shown[: length - 1].rstrip()}…"


def _say(step: Step) -> str:
    found = step.retrieved
    documents = len({passage.text_id for passage in found.passages})
    share = found.tokens / max(step.desk.tokens, 1)
    return (
        f"{count_nouns(len(found.passages), 'passage')} from "
        f"{count_nouns(documents, 'document')}, {found.tokens:,} of "
        f"{step.options.token_budget:,} tokens: {share:.1%} of all text"
    )


def _documents(step: Step) -> list[dict[str, Any]]:
    """Return the documents that are read, in the order of the context."""
    desk = step.desk
    marks: dict[str, list[list[int]]] = {}
    for number, passage in enumerate(step.retrieved.passages, start=1):
        of_one = marks.setdefault(passage.text_id, [])
        begin = desk.starts.get((passage.text_id, passage.part), 0)
        for chunk in passage.chunks:
            start, end = chunk.span or (0, 0)
            of_one.append([begin + start, begin + end, number])
    return [
        {"document": source, "length": len(desk.whole[source]), "marks": of_one}
        for source, of_one in marks.items()
    ]
