"""Qasper (arXiv:2105.03011): questions on research papers, with evidence."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

import pydantic

from oprag.chunk import Span
from oprag_eval.data.builder import Counts, finish
from oprag_eval.data.records import Dataset, Document, Question
from oprag_eval.data.rows import Fields, Text, check_file, malformed, said

UNANSWERABLE = "Unanswerable"
"""The gold answer where an annotator found none: an answer like any other."""

_PUBLISHED = {
    "train": (Counts("Qasper", 2_593, 888),),
    "dev": (Counts("Qasper", 1_005, 281),),
    "test": (Counts("Qasper", 1_451, 416),),
}


class _Answer(Fields):
    unanswerable: bool
    yes_no: bool | None
    extractive_spans: tuple[str, ...]
    free_form_answer: str
    evidence: tuple[str, ...]

    def text(self) -> str:
        """By the rules of the authors' evaluation; empty where none is given."""
        if self.unanswerable:
            return UNANSWERABLE
        if self.yes_no is not None:
            return "Yes" if self.yes_no else "No"
        return ", ".join(self.extractive_spans) or self.free_form_answer.strip()


class _Annotation(Fields):
    answer: _Answer


class _Asked(Fields):
    question_id: str
    question: Text
    answers: tuple[_Annotation, ...]


class _Section(Fields):
    section_name: str | None
    paragraphs: tuple[str, ...]


class _Paper(Fields):
    title: str
    abstract: str
    full_text: tuple[_Section, ...]
    qas: tuple[_Asked, ...]

    def text(self) -> str:
        """Title, abstract, and the names and paragraphs of the sections."""
        parts = [self.title, self.abstract]
        for section in self.full_text:
            parts += [section.section_name or "", *section.paragraphs]
        return "\n\n".join(part for part in map(str.strip, parts) if part)


_PAPERS = pydantic.TypeAdapter(dict[str, _Paper])


def read_qasper(path: Path, *, split: str = "dev") -> Dataset:
    """Read a file of Qasper, such as `qasper-dev-v0.3.json`.

    Each annotator's answer is one right answer: *Unanswerable*, *Yes* or *No*, the
    extracted spans joined by `, `, or the free text. The evidence is that of the first
    annotator of whose evidence every paragraph was found in the text (`"all"`); tables
    and figures are not in the text, and without such an annotator the evidence is not
    known. Questions that nobody answered are left out, and the set's notes say how
    many.
    """
    check_file(path)
    try:
        papers = _PAPERS.validate_python(json.loads(path.read_bytes()))
    except ValueError as error:  # also of JSON and of pydantic
        raise malformed(str(path), None, said(error)) from error
    documents = {
        name: Document(name, paper.title, paper.text())
        for name, paper in papers.items()
    }
    questions = [
        question
        for name, paper in papers.items()
        for question in _questions(paper, documents[name])
    ]
    lost = sum(len(paper.qas) for paper in papers.values()) - len(questions)
    return finish(
        f"qasper/{split}",
        questions,
        documents,
        path=str(path),
        metrics=("token_f1",),
        published=_PUBLISHED.get(split, ()),
        notes=[f"{lost} questions without an answer are left out"] if lost else [],
    )


def _questions(paper: _Paper, document: Document) -> Iterator[Question]:
    for asked in paper.qas:
        given = [each.answer for each in asked.answers if each.answer.text()]
        if given:
            found = (_spans(answer.evidence, document.text) for answer in given)
            yield Question(
                asked.question_id,
                (document.doc_id,),
                asked.question,
                tuple(dict.fromkeys(answer.text() for answer in given)),
                evidence=next(filter(None, found), ()),
            )


def _spans(evidence: Sequence[str], text: str) -> tuple[Span, ...]:
    """Return the spans of all evidence; nothing where a piece is not found."""
    spans = []
    for piece in filter(None, map(str.strip, evidence)):
        start = text.find(piece)
        if start < 0:
            return ()
        spans.append(Span(start, start + len(piece)))
    return tuple(sorted(dict.fromkeys(spans)))
