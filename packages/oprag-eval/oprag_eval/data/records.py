"""Documents and questions, the one form that every data set is read into."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from oprag.chunk import Span
from oprag_eval.metrics.contexts import EvidenceKind


@dataclass(frozen=True, slots=True)
class Document:
    """One source text, whole."""

    doc_id: str
    """Unique in its set."""
    title: str
    """For people; empty if the set has none."""
    text: str
    """The text that spans are of, in characters (Python `str` offsets)."""
    titles: tuple[str, ...] = ()
    """Titles of its parts, if the set lists them; empty otherwise."""
    links: tuple[str, ...] = ()
    """Ids of documents that it links to, if the set lists them, and of others."""


@dataclass(frozen=True, slots=True)
class Question:
    """One question and the known facts of its answer."""

    question_id: str
    """Unique in its set."""
    doc_ids: tuple[str, ...]
    """The documents it is asked of, one in most sets. Empty: all of the set."""
    question: str
    answers: tuple[str, ...] = ()
    """Each of them right. Empty if the set has none (retrieval only)."""
    options: tuple[str, ...] = ()
    """Texts of the options in their order; empty for open questions."""
    gold_option: int | None = None
    """Index of the right option, 0 = first; None for open questions."""
    evidence: tuple[Span, ...] = ()
    """The places of the answer in the one document of `doc_ids`. Empty: not known."""
    evidence_kind: EvidenceKind = "all"
    """`"any"`: each span suffices; `"all"`: every span is needed."""
    supporting: tuple[str, ...] = ()
    """Titles of the articles that the answer needs. Empty: not known."""


@dataclass(frozen=True, eq=False)
class Dataset:
    """Questions and the documents they are asked of."""

    name: str
    """As `load` takes it; for your own data, the name of the folder or file."""
    questions: tuple[Question, ...]
    """In the order of the file."""
    documents: Mapping[str, Document]
    """The documents by id, in the order of the file."""
    metrics: tuple[str, ...] = ()
    """Names in `oprag_eval.metrics` that fit, the papers' own first."""
    notes: tuple[str, ...] = ()
    """Differences from the papers: counts, and questions that were left out."""
    search_all: bool = False
    """Whether every question is asked of all documents, whichever it is on."""

    def documents_of(self, question: Question) -> list[Document]:
        """Return the documents that a question is asked of, in order."""
        if self.search_all:
            return [*self.documents.values()]
        return [self.documents[name] for name in question.doc_ids or self.documents]

    def count_documents(self, questions: Sequence[Question]) -> int:
        """Count the documents that some questions are asked of together."""
        if any(not question.doc_ids for question in questions):
            return len(self.documents)
        return len({name for question in questions for name in question.doc_ids})
