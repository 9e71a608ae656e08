"""Documents and questions, the one form that every data set is read into."""

from __future__ import annotations

import string
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from oprag.chunk import Span
from oprag.errors import DocumentNotFoundError, InvalidOptionError
from oprag_eval.metrics.contexts import EvidenceKind


@dataclass(frozen=True, slots=True)
class Document:
    """One source text, whole."""

    doc_id: str
    """Unique in its set."""
    title: str
    """For people; empty where the set has none."""
    text: str
    """The text that spans are of, in characters (Python `str` offsets)."""
    titles: tuple[str, ...] = ()
    """Of what is in it, where the set lists that; empty otherwise."""
    links: tuple[str, ...] = ()
    """Ids of documents that it links to, where the set lists that, and of others."""


@dataclass(frozen=True, slots=True)
class Question:
    """One question and what is known of its answer."""

    question_id: str
    """Unique in its set."""
    doc_ids: tuple[str, ...]
    """The documents it is asked of, one in most sets; empty: all of the set."""
    question: str
    answers: tuple[str, ...] = ()
    """Each of them right. Empty where the set has none (retrieval only)."""
    options: tuple[str, ...] = ()
    """Texts of the options in their order; empty for open questions."""
    gold_option: int | None = None
    """Index of the right option, 0 = first; None for open questions."""
    evidence: tuple[Span, ...] = ()
    """The places of the answer in the one document of `doc_ids`; empty: not known."""
    evidence_kind: EvidenceKind = "all"
    """`"any"`: each span suffices; `"all"`: every span is needed."""
    supporting: tuple[str, ...] = ()
    """Titles of the articles that the answer needs; empty: not known."""

    @property
    def doc_id(self) -> str:
        """The document, where there is exactly one.

        Raises:
            InvalidOptionError: There is none or are several.
        """
        if len(self.doc_ids) != 1:
            message = (
                f"Question {self.question_id!r} belongs to {len(self.doc_ids)} "
                "documents (0 stands for the whole set), not to one: use doc_ids."
            )
            raise InvalidOptionError(message, option="doc_id", value=self.doc_ids)
        return self.doc_ids[0]

    @property
    def gold_letter(self) -> str | None:
        """Letter of the right option, `A` = first; None for open questions."""
        return (
            None
            if self.gold_option is None
            else string.ascii_uppercase[self.gold_option]
        )

    @property
    def gold_text(self) -> str | None:
        """Text of the right option; None for open questions."""
        return None if self.gold_option is None else self.options[self.gold_option]


@dataclass(frozen=True, eq=False)
class Dataset:
    """Questions and the documents they are asked of."""

    name: str
    """As `load` takes it; of one's own data, the name of the folder or file."""
    questions: tuple[Question, ...]
    """In the order of the file."""
    documents: Mapping[str, Document]
    """By id, in the order of the file."""
    metrics: tuple[str, ...] = ()
    """Names in `oprag_eval.metrics` that fit, the papers' own first."""
    notes: tuple[str, ...] = ()
    """Differences from the papers: counts, and questions that were left out."""

    def documents_of(self, question: Question) -> Iterator[Document]:
        """Return the documents that a question is asked of, in order.

        Raises:
            DocumentNotFoundError: The set does not have one of them.
        """
        return map(self.document, question.doc_ids or self.documents)

    def count_documents(self, questions: Sequence[Question]) -> int:
        """Count the documents that some questions are asked of together."""
        if any(not question.doc_ids for question in questions):
            return len(self.documents)
        return len({name for question in questions for name in question.doc_ids})

    def document(self, doc_id: str) -> Document:
        """Return one document.

        Raises:
            DocumentNotFoundError: The set has no document of this id.
        """
        try:
            return self.documents[doc_id]
        except KeyError as error:
            message = f"{self.name} has no document {doc_id!r}."
            raise DocumentNotFoundError(message, document=doc_id) from error
