"""NQ and HotpotQA as LongRAG (arXiv:2406.15319) gives them."""

from __future__ import annotations

from pydantic import Field

from oprag_eval.data.builder import Counts, add_text, finish
from oprag_eval.data.records import Dataset, Document, Question
from oprag_eval.data.rows import Fields, Rows, Text, malformed
from oprag_eval.errors import check_one_of

CORPORA = {"units": "corpus", "documents": "wiki"}
"""Corpora for all questions of a set, and the ends of the authors' names for them."""

_FULL = {"nq": 3_610, "hotpot_qa": 7_405}
_SUBSETS = {"subset_1000": 1_000, "subset_100": 100}

SETS = tuple(
    f"{task}{of}" for task in _FULL for of in ("", *(f"/{c}" for c in CORPORA))
)
"""The sets, by the authors' names for the questions."""


class _Asked(Fields):
    query_id: str
    query: Text
    answer: tuple[str, ...] = Field(min_length=1)
    context: Text
    """The units that the authors' retriever found, joined."""
    context_titles: tuple[str, ...] = ()
    sp: tuple[str, ...] = ()
    """In HotpotQA, the titles of the two supporting documents."""


class _Unit(Fields):
    corpus_id: str
    titles: tuple[str, ...]
    """Of the documents that were grouped."""
    text: Text


class _Article(Fields):
    title: Text
    doc_dict: str
    """The text; the authors keep no article without."""


def read_longrag(
    name: str, rows: Rows, *, split: str = "full", corpus: Rows | None = None
) -> Dataset:
    """Read the questions of a LongRAG set: `nq`, or of its corpus `nq/units`.

    Without a corpus every question's document is its own `context`, which repeats the
    authors' reading without their retrieval.
    """
    task, _, asked_of = name.partition("/")
    sizes = {"full": _FULL[task], **_SUBSETS}
    check_one_of("split", split, sizes)
    documents: dict[str, Document] = {}
    if corpus is not None:
        documents = _units(corpus) if asked_of == "units" else _articles(corpus)
    questions = []
    for _, row in rows.of(_Asked):
        doc_ids: tuple[str, ...] = ()
        if corpus is None:
            doc_ids = (add_text(documents, "units", row.context, row.context_titles),)
        questions.append(
            Question(row.query_id, doc_ids, row.query, row.answer, supporting=row.sp)
        )
    return finish(
        f"longrag/{name}",
        questions,
        documents,
        path=rows.path,
        metrics=("longrag_match", "exact_match"),
        published=(Counts(f"LongRAG's split {split}", sizes[split]),),
    )


def _units(rows: Rows) -> dict[str, Document]:
    """One document per unit; the authors made 604,000 of NQ, 509,000 of HotpotQA."""
    documents: dict[str, Document] = {}
    for line, row in rows.of(_Unit):
        name = row.corpus_id
        if name in documents:
            raise malformed(rows.path, line, f"the unit id {name!r} occurs twice")
        documents[name] = Document(name, ", ".join(row.titles), row.text, row.titles)
    return documents


def _articles(corpus: Rows) -> dict[str, Document]:
    """One document per article: 3 million of NQ, 5 million of HotpotQA."""
    rows = [row for _, row in corpus.of(_Article) if row.doc_dict.strip()]
    return {
        each.title: Document(each.title, each.title, each.doc_dict, (each.title,))
        for each in rows
    }
