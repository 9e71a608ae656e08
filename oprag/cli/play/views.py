"""What the page draws of a step: strips, passages, evidence, as plain JSON values."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from oprag.chunk import Chunk, Passage
from oprag.cli.display import jumps_back
from oprag.cli.play.session import Desk, Session, Step
from oprag.ordering import document_order

_PREVIEW = 160
"""Characters shown of a passage in the list."""


def files_view(session: Session) -> dict[str, Any]:
    """The files, how far they are, and a sentence for each that is not there."""
    desk, status = session.desk, session.status
    files = [] if desk is None else list(desk.shelf.names.items())
    return {
        "files": [{"source": source, "name": name} for source, name in files],
        "sentences": session.refused,
        "working": status.working,
        "said": status.said or _ready(desk),
        "done": status.done,
        "total": status.total,
    }


def _ready(desk: Desk | None) -> str:
    if desk is None:
        return ""
    return f"{desk.index.chunks:,} chunks, {desk.tokens:,} tokens"


def step_view(step: Step) -> dict[str, Any]:
    """All that is shown of a step but the context itself."""
    found, desk = step.retrieved, step.desk
    by_score, in_order = found.by_score, document_order(found.chunks)
    turns = {id(chunk): turn for turn, chunk in enumerate(in_order)}
    last = max(len(turns) - 1, 1)
    shares = {key: turn / last for key, turn in turns.items()}
    passages = [
        {
            "number": number,
            "key": f"{passage.document}/{passage.part}/{passage.chunks[0].span}",
            "place": place(desk, passage),
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
        "without": len(desk.whole) - len({p.uri for p in found.passages}),
        "order": step.options.order.value,
        "in_order": [shares[id(chunk)] for chunk in in_order],
        "by_score": [shares[id(chunk)] for chunk in by_score],
        "jumps": sum(jumps_back(turns[id(chunk)] for chunk in by_score)),
    }


def _said(step: Step) -> str:
    found = step.retrieved
    documents = len({passage.uri for passage in found.passages})
    share = found.tokens / max(step.desk.tokens, 1)
    return (
        f"{_counted(len(found.passages), 'passage')} from "
        f"{_counted(documents, 'document')}, {found.tokens:,} of "
        f"{step.options.token_budget:,} tokens: {share:.1%} of all that is there"
    )


def _counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _documents(step: Step, shares: dict[int, float]) -> list[dict[str, Any]]:
    """The documents that are read, as they follow one another in the context."""
    desk = step.desk
    marks: dict[str, list[list[float]]] = {}
    for number, passage in enumerate(step.retrieved.passages, start=1):
        of_one = marks.setdefault(passage.uri, [])
        for chunk in passage.chunks:
            for start, end in _in_whole(desk, [chunk]):
                of_one.append([start, end, number, shares[id(chunk)]])
    return [
        {
            "name": desk.shelf.names.get(source, source),
            "length": len(desk.whole[source]),
            "marks": of_one,
        }
        for source, of_one in marks.items()
    ]


def _in_whole(desk: Desk, chunks: Iterable[Chunk]) -> list[tuple[int, int]]:
    """Where chunks stand in the full text of their document."""
    places = []
    for chunk in chunks:
        begin = desk.starts.get((chunk.uri, chunk.part), 0)
        if chunk.span is not None:
            places.append((begin + chunk.span.start, begin + chunk.span.end))
    return places


def place(desk: Desk, passage: Passage) -> str:
    """Say where a passage stands, by the name that its file has on the page."""
    shown = desk.shelf.names.get(passage.uri, passage.name)
    return shown + passage.citation.removeprefix(passage.name)


def evidence_view(session: Session) -> dict[str, Any]:
    """Which parts of the documents were read for which question."""
    steps = list(session.history.items())
    desk = session.desk
    if desk is None:
        return {"questions": [], "documents": []}
    read: dict[str, list[list[tuple[int, int]]]] = {}
    for turn, (_, step) in enumerate(steps):
        for passage in step.retrieved.passages:
            rows = read.setdefault(passage.uri, [[] for _ in steps])
            rows[turn] += _in_whole(desk, passage.chunks)
    return {
        "questions": [
            {"question": question, "tokens": step.retrieved.tokens}
            for question, step in steps
        ],
        "documents": [
            {
                "name": desk.shelf.names.get(source, source),
                "length": len(desk.whole[source]),
                "rows": rows,
                "share": _covered(rows) / max(len(desk.whole[source]), 1),
            }
            for source, rows in read.items()
        ],
    }


def _covered(rows: Iterable[Iterable[tuple[int, int]]]) -> int:
    """Characters that are in any of the spans."""
    end = covered = 0
    for start, stop in sorted(span for row in rows for span in row):
        covered += max(0, stop - max(start, end))
        end = max(end, stop)
    return covered
