"""NQ and HotpotQA as LongRAG (arXiv:2406.15319) gives them."""

from __future__ import annotations

from oprag_eval.data.building import Contexts, Counts, finish, row_documents
from oprag_eval.data.records import Dataset, LazyDocuments, Question
from oprag_eval.data.rows import Rows
from oprag_eval.errors import check_one_of

TASKS = ("nq", "hotpot_qa")
"""The sets, by the authors' names."""

_FULL = {"nq": 3_610, "hotpot_qa": 7_405}
_SUBSETS = {"subset_1000": 1_000, "subset_100": 100}
_EXTRA = ("context_titles", "sp", "type")


def read_longrag(
    task: str, rows: Rows, *, split: str = "full", corpus: Rows | None = None
) -> Dataset:
    """Read the questions of a LongRAG set.

    Fields: `query_id`, `query`, `answer` (a list), `context` (the units that the
    authors' retriever found, joined), `context_titles`; in HotpotQA also `sp` (titles
    of the two supporting documents) and `type`, which go into `Question.metadata`.

    Args:
        task: `"nq"` or `"hotpot_qa"`.
        rows: Its questions.
        split: `"full"`, `"subset_1000"` or `"subset_100"`: the count to compare with.
        corpus: Its units, see `read_longrag_corpus`. None: every question's document
            is its own `context`, which repeats the authors' reading without their
            retrieval. With a corpus, questions are asked of all of it (`doc_ids` is
            empty).

    Raises:
        InvalidOptionError: There is no such set or split here.
        UnreadableFileError: A row lacks a field.
    """
    check_one_of("task", task, TASKS)
    sizes = {"full": _FULL[task], **_SUBSETS}
    check_one_of("split", split, sizes)
    contexts = Contexts(rows, "context", prefix="units", title="context_titles")
    questions = []
    for row in rows:
        answers = row.texts("answer")
        if not answers:
            raise row.error("'answer' is empty")
        questions.append(
            Question(
                row.label("query_id"),
                () if corpus is not None else (contexts.add(row),),
                row.text("query"),
                answers,
                metadata={k: row.values[k] for k in _EXTRA if k in row.values},
            )
        )
    return finish(
        f"longrag/{task}",
        questions,
        contexts.documents() if corpus is None else read_longrag_corpus(task, corpus),
        path=rows.path,
        metrics=("longrag_match", "exact_match"),
        published=(Counts(f"LongRAG's split {split}", sizes[split]),),
    )


def read_longrag_corpus(task: str, rows: Rows) -> LazyDocuments[int]:
    """Read the long units of a LongRAG set, one document each.

    Fields: `corpus_id`, `titles` (of the documents that were grouped), `text`. Units
    are read from disk when they are asked for. The authors made about 604,000 of NQ
    and 509,000 of HotpotQA.

    Args:
        task: `"nq"` or `"hotpot_qa"`.
        rows: The rows of the corpus.

    Raises:
        InvalidOptionError: There is no such set here.
        UnreadableFileError: A row lacks a field or repeats an id.
    """
    check_one_of("task", task, TASKS)
    return row_documents(rows, "corpus_id", lambda row: row.texts("titles"))
