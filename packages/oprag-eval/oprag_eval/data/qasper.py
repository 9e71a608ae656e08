"""Qasper (arXiv:2105.03011): questions on research papers, with evidence."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from oprag.chunk import Span
from oprag_eval.data.building import Counts, finish
from oprag_eval.data.records import Dataset, Document, Question
from oprag_eval.data.rows import Row, malformed, read_json

UNANSWERABLE = "Unanswerable"
"""The gold answer where an annotator found none: an answer like any other."""

_PUBLISHED = {
    "train": (Counts("Qasper", 2_593, 888),),
    "dev": (Counts("Qasper", 1_005, 281),),
    "test": (Counts("Qasper", 1_451, 416),),
}


def read_qasper(path: Path, *, split: str = "dev") -> Dataset:
    """Read a file of Qasper, such as `qasper-dev-v0.3.json`.

    A paper's text is its title, its abstract, and the names and paragraphs of its
    sections, joined by blank lines. Each annotator's answer is one right answer:
    *Unanswerable*, *Yes* or *No*, the extracted spans joined by `, `, or the free
    text. The evidence is that of the first annotator of whose evidence every
    paragraph was found in the text (`"all"`); tables and figures are not in the
    text, and without such an annotator the evidence is not known. Questions that
    nobody answered are left out, and the set's notes say how many.

    Args:
        path: The file: one JSON object, paper id to paper.
        split: `"train"`, `"dev"` or `"test"`: which count to compare with.

    Raises:
        UnreadableFileError: The file is no JSON, or a paper lacks a field; the error
            names the paper.
        UnreadableFileError: The file is not there.
    """
    papers = read_json(path)
    if not isinstance(papers, Mapping):
        raise malformed(str(path), None, "not an object of papers")
    documents: dict[str, Document] = {}
    questions: list[Question] = []
    asked = 0
    for paper, values in papers.items():
        if not isinstance(values, Mapping):
            raise malformed(str(path), None, f"paper {paper!r} is no object")
        row = Row(values, f"{path}, paper {paper}", None, 0)
        documents[paper] = Document(paper, row.text("title", empty=True), _text(row))
        questions += _questions(row, documents[paper])
        asked += len(row.get("qas"))
    lost = asked - len(questions)
    return finish(
        f"qasper/{split}",
        questions,
        documents,
        path=str(path),
        metrics=("token_f1",),
        published=_PUBLISHED.get(split, ()),
        notes=[f"{lost} questions without an answer are left out"] if lost else [],
    )


def _text(row: Row) -> str:
    parts = [row.text("title", empty=True), row.text("abstract", empty=True)]
    for section in row.objects("full_text"):
        parts.append(str(section.get("section_name") or ""))
        parts += section.texts("paragraphs")
    return "\n\n".join(part for part in map(str.strip, parts) if part)


def _questions(paper: Row, document: Document) -> Iterator[Question]:
    for asked in paper.objects("qas"):
        rows = [given.inner("answer") for given in asked.objects("answers")]
        found = [
            (answer, _spans(row.texts("evidence"), document.text))
            for row in rows
            if (answer := _answer(row))
        ]
        if not found:
            continue
        yield Question(
            asked.label("question_id"),
            (document.doc_id,),
            asked.text("question"),
            tuple(dict.fromkeys(answer for answer, _ in found)),
            evidence=next((spans for _, spans in found if spans), ()),
        )


def _answer(row: Row) -> str:
    """The answer by the rules of the authors' evaluation; empty where none is given."""
    if row.get("unanswerable"):
        return UNANSWERABLE
    if row.get("yes_no") is not None:
        return "Yes" if row.get("yes_no") else "No"
    if spans := row.texts("extractive_spans"):
        return ", ".join(spans)
    return row.text("free_form_answer", empty=True).strip()


def _spans(evidence: Sequence[str], text: str) -> tuple[Span, ...]:
    """Where all pieces of evidence stand; nothing where one is not found."""
    spans = []
    for piece in filter(None, map(str.strip, evidence)):
        start = text.find(piece)
        if start < 0:
            return ()
        spans.append(Span(start, start + len(piece)))
    return tuple(sorted(dict.fromkeys(spans)))
