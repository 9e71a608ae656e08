"""QuALITY (arXiv:2112.08608): multiple choice over articles and stories."""

from __future__ import annotations

from oprag_eval.data.records import Dataset, Document, Question
from oprag_eval.data.rows import Fields, Rows, Text, finish, malformed

_PUBLISHED = 2_086


class _Question(Fields):
    question: Text
    question_unique_id: str = ""
    options: tuple[str, ...]
    gold_label: int
    """From 1; the test set has none."""


class _Article(Fields):
    article_id: str
    set_unique_id: str
    title: str = ""
    article: Text
    questions: tuple[_Question, ...]


def read_quality(rows: Rows) -> Dataset:
    """Read the dev file of QuALITY.

    Every line is the questions of one writer on one article; two lines share an
    article.
    """
    documents: dict[str, Document] = {}
    questions: list[Question] = []
    for line, row in rows.of(_Article):
        name = row.article_id
        document = Document(name, row.title, row.article)
        if documents.setdefault(name, document).text != row.article:
            reason = f"article {name!r} has another text than before"
            raise malformed(rows.path, line, reason)
        for number, asked in enumerate(row.questions, 1):
            gold, options = asked.gold_label - 1, asked.options
            if not 0 <= gold < len(options):
                reason = f"question {number} has the label {gold + 1} of {len(options)}"
                raise malformed(rows.path, line, f"{reason} options")
            named = asked.question_unique_id or f"{row.set_unique_id}_{number}"
            right = (options[gold],)
            questions.append(
                Question(named, (name,), asked.question, right, options, gold)
            )
    return finish(
        "quality",
        questions,
        documents,
        path=rows.path,
        metrics=("bracketed_match", "choice_match"),
        published=_PUBLISHED,
    )
