"""NQ and HotpotQA as LongRAG (arXiv:2406.15319) gives them."""

from __future__ import annotations

from pydantic import Field

from oprag_eval.data.records import Dataset, Document, Question
from oprag_eval.data.rows import Fields, Rows, Text, add_text, finish

_FULL = {"nq": 3_610, "hotpot_qa": 7_405}

SETS = tuple(f"{task}{of}" for task in _FULL for of in ("", "/documents"))
"""The sets, by the authors' names for the questions; with all documents, or without."""


class _Asked(Fields):
    query_id: str
    query: Text
    answer: tuple[str, ...] = Field(min_length=1)
    context: Text
    """The units that the authors' retriever found, joined."""
    context_titles: tuple[str, ...] = ()
    sp: tuple[str, ...] = ()
    """In HotpotQA, the titles of the two supporting documents."""


class _Article(Fields):
    title: Text
    doc_dict: str
    """The text; the authors keep no article without."""
    abs_adj: tuple[str, ...] = ()
    """Titles of linked articles; the authors group by these."""


def read_longrag(name: str, rows: Rows, corpus: Rows | None = None) -> Dataset:
    """Read the questions of a LongRAG set: `nq`, or of all `nq/documents`.

    Without a corpus every question's document is its own `context`, which repeats the
    authors' reading without their retrieval.
    """
    task = name.partition("/")[0]
    documents, notes = ({}, []) if corpus is None else _articles(corpus)
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
        published=_FULL[task],
        notes=notes,
    )


def _articles(corpus: Rows) -> tuple[dict[str, Document], list[str]]:
    """Return one document per article: 3 million of NQ, 5 million of HotpotQA."""
    rows = [row for _, row in corpus.of(_Article) if row.doc_dict.strip()]
    documents = {
        (name := each.title): Document(name, name, each.doc_dict, (name,), each.abs_adj)
        for each in rows
    }
    lost = len(rows) - len(documents)
    left = f"articles left out, because a later one has the same title: {lost:,}"
    return documents, [left] if lost else []
