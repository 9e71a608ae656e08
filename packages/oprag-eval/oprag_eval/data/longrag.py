"""NQ and HotpotQA as LongRAG (arXiv:2406.15319) gives them."""

from __future__ import annotations

from pydantic import Field

from oprag_eval.data.builder import Counts, add_text, finish
from oprag_eval.data.records import Dataset, Document, Question
from oprag_eval.data.rows import Fields, Rows, Text, malformed
from oprag_eval.errors import check_one_of

TASKS = ("nq", "hotpot_qa")
"""The sets, by the authors' names."""

_FULL = {"nq": 3_610, "hotpot_qa": 7_405}
_SUBSETS = {"subset_1000": 1_000, "subset_100": 100}


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


def read_longrag(
    task: str, rows: Rows, *, split: str = "full", corpus: Rows | None = None
) -> Dataset:
    """Read the questions of a LongRAG set.

    Without a corpus every question's document is its own `context`, which repeats the
    authors' reading without their retrieval.
    """
    sizes = {"full": _FULL[task], **_SUBSETS}
    check_one_of("split", split, sizes)
    documents = {} if corpus is None else _units(corpus)
    questions = []
    for _, row in rows.of(_Asked):
        doc_ids: tuple[str, ...] = ()
        if corpus is None:
            doc_ids = (add_text(documents, "units", row.context, row.context_titles),)
        questions.append(
            Question(row.query_id, doc_ids, row.query, row.answer, supporting=row.sp)
        )
    return finish(
        f"longrag/{task}",
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
