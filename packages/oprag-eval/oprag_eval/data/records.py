"""Documents and questions, the one form that every data set is read into."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from oprag.chunk import Span
from oprag.errors import DocumentNotFoundError, InvalidOptionError
from oprag.files import PagePlace
from oprag_eval.metrics.evidence import EvidenceKind

_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"

Key = TypeVar("Key")


@dataclass(frozen=True, slots=True)
class Document:
    """One source text, whole."""

    doc_id: str
    """Unique in its set."""
    title: str
    """For people; empty where the set has none."""
    text: str
    """What spans count in, in characters (Python `str` offsets)."""
    titles: tuple[str, ...] = ()
    """Of what is in it, where that was told as a list; empty otherwise."""
    pages: tuple[PagePlace, ...] = ()
    """Where its pages begin, if it is a PDF of one's own; empty otherwise."""


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
    """Where the answer stands in the one document of `doc_ids`; empty: not known."""
    evidence_kind: EvidenceKind = "all"
    """`"any"`: each span suffices; `"all"`: every span is needed."""
    metadata: Mapping[str, Any] = field(default_factory=dict)
    """What else the set says, under the set's own names."""

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
        return None if self.gold_option is None else _LETTERS[self.gold_option]

    @property
    def gold_text(self) -> str | None:
        """Text of the right option; None for open questions."""
        return None if self.gold_option is None else self.options[self.gold_option]


class LazyDocuments(Mapping[str, Document], Generic[Key]):
    """Documents that are read when they are asked for; only the last one is kept.

    Args:
        keys: For each id, in the set's order, where its text lies.
        read: Makes the document from its id and that place.
    """

    def __init__(
        self, keys: Mapping[str, Key], read: Callable[[str, Key], Document]
    ) -> None:
        self._keys = dict(keys)
        self._read = read
        self._last: Document | None = None

    def __getitem__(self, doc_id: str) -> Document:
        last = self._last
        if last is None or last.doc_id != doc_id:
            self._last = last = self._read(doc_id, self._keys[doc_id])
        return last

    def __iter__(self) -> Iterator[str]:
        return iter(self._keys)

    def __len__(self) -> int:
        return len(self._keys)

    def __contains__(self, doc_id: object) -> bool:
        return doc_id in self._keys


@dataclass(frozen=True, eq=False)
class Dataset:
    """Questions and the documents they are asked of."""

    name: str
    """As `load` takes it; of one's own data, the name of the folder or file."""
    questions: tuple[Question, ...]
    """In the order of the file."""
    documents: Mapping[str, Document]
    """By id, in the order of the file. Large sets read a text when it is asked for:
    go through `documents.values()` and keep no list."""
    metrics: tuple[str, ...] = ()
    """Names in `oprag_eval.metrics` that fit, the papers' own first."""
    notes: tuple[str, ...] = ()
    """What differs from the papers: counts, and questions that were left out."""

    def documents_of(self, question: Question) -> Iterator[Document]:
        """Return the documents that a question is asked of, in order, one at a time.

        Raises:
            DocumentNotFoundError: The set does not have one of them.
        """
        if not question.doc_ids:
            yield from self.documents.values()
        for doc_id in question.doc_ids:
            yield self.document(doc_id)

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
