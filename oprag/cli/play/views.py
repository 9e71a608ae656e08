"""The strips and passages of a step, as plain JSON values for the page."""

from __future__ import annotations

from typing import Any

from oprag.cli.demo import jumps_back
from oprag.cli.play.session import Session, Step
from oprag.context import headers
from oprag.errors import counted
from oprag.ordering import document_order

_PREVIEW = 160
"""Characters shown of a passage in the list."""


def files_view(session: Session) -> dict[str, Any]:
    """The files, how far they are, and a sentence for each that is not there."""
    desk, status = session.desk, session.status
    read = {} if desk is None else desk.shelf.paths
    given = [name or str(path) for path, name in session.given if not path.is_dir()]
    ready = desk and f"{counted(desk.index.chunks, 'chunk')}, {desk.tokens:,} tokens"
    shown = dict.fromkeys([*read, *(given if status.working else [])])
    return {
        "files": [[name, name not in read] for name in shown],
        "sentences": session.refused,
        "working": status.working,
        "said": status.said or ready or "",
        "done": status.done,
        "total": status.total,
    }


def step_view(step: Step) -> dict[str, Any]:
    """All that is shown of a step but the context itself."""
    found, desk = step.retrieved, step.desk
    by_rank, in_order = found.by_rank, document_order(found.chunks)
    turns = {id(chunk): turn for turn, chunk in enumerate(in_order)}
    last = max(len(turns) - 1, 1)
    shares = {key: turn / last for key, turn in turns.items()}
    passages = [
        {
            "number": number,
            "key": f"{passage.document_key}/{passage.part}/{passage.chunks[0].span}",
            "place": passage.citation,
            "best": passage.rank + 1,
            "tokens": tokens,
            "share": shares[id(passage.chunks[0])],
            "text": " ".join(passage.text[: 2 * _PREVIEW].split())[:_PREVIEW],
        }
        for number, (passage, tokens) in enumerate(
            zip(found.passages, found.passage_tokens, strict=True), start=1
        )
    ]
    return {
        "passages": passages,
        "said": _said(step),
        "documents": _documents(step, shares),
        "without": len(desk.whole) - len({p.text_id for p in found.passages}),
        "order": step.options.order,
        "in_order": [shares[id(chunk)] for chunk in in_order],
        "by_rank": [shares[id(chunk)] for chunk in by_rank],
        "jumps": sum(jumps_back(turns[id(chunk)] for chunk in by_rank)),
    }


def sent_view(step: Step) -> list[dict[str, Any]]:
    """The text of each passage that is sent, and what is shown beside it."""
    passages = step.retrieved.passages
    return [
        {"text": passage.text, "head": head.rstrip()}
        for passage, head in zip(passages, headers(passages), strict=True)
    ]


def _said(step: Step) -> str:
    found = step.retrieved
    documents = len({passage.text_id for passage in found.passages})
    share = found.tokens / max(step.desk.tokens, 1)
    return (
        f"{counted(len(found.passages), 'passage')} from "
        f"{counted(documents, 'document')}, {found.tokens:,} of "
        f"{step.options.token_budget:,} tokens: {share:.1%} of all text"
    )


def _documents(step: Step, shares: dict[int, float]) -> list[dict[str, Any]]:
    """The documents that are read, as they follow one another in the context."""
    desk = step.desk
    marks: dict[str, list[list[float]]] = {}
    for number, passage in enumerate(step.retrieved.passages, start=1):
        of_one = marks.setdefault(passage.text_id, [])
        begin = desk.starts.get((passage.text_id, passage.part), 0)
        for chunk in passage.chunks:
            start, end = chunk.span or (0, 0)
            of_one.append([begin + start, begin + end, number, shares[id(chunk)]])
    return [
        {"name": source, "length": len(desk.whole[source]), "marks": of_one}
        for source, of_one in marks.items()
    ]
