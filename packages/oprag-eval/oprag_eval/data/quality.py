"""QuALITY (arXiv:2112.08608): multiple choice over articles and stories."""

from __future__ import annotations

import re
from collections.abc import Iterator

from oprag_eval.data.building import Counts, finish
from oprag_eval.data.records import Dataset, Document, LazyDocuments, Question
from oprag_eval.data.rows import Row, Rows

_PUBLISHED = {"dev": (Counts("the DOS RAG paper", 2_086, 115),)}
_EXTRA = ("difficult",)
_HTML = re.compile(r"<(?:p|br|html|body|div)\b[^>]*>", re.IGNORECASE)


def read_quality(rows: Rows, *, split: str = "dev") -> Dataset:
    """Read a file of QuALITY, such as `QuALITY.v1.0.1.htmlstripped.dev`.

    Every line is the questions of one writer on one article; two lines share an
    article. Fields: `article_id`, `set_unique_id`, `title`, `article`, and
    `questions`, each with `question`, four `options` and `gold_label` (from 1).
    `Question.metadata` has `difficult`: whether it is of the hard subset.

    Args:
        rows: The rows of the file.
        split: `"train"`, `"dev"` or `"test"`: which count to compare with.

    Raises:
        UnreadableFileError: A line lacks a field; a label is missing (the test set
            has none); two lines give one article different texts.
    """
    places: dict[str, int] = {}
    texts: dict[str, int] = {}
    questions: list[Question] = []
    notes: list[str] = []
    for row in rows:
        doc_id = row.label("article_id")
        text = row.text("article")
        if texts.setdefault(doc_id, hash(text)) != hash(text):
            raise row.error(f"article {doc_id!r} has another text than before")
        if doc_id not in places and _HTML.search(text) and not notes:
            notes.append(
                "the articles are HTML: their tags count as text; the papers read the "
                "authors' htmlstripped file"
            )
        places.setdefault(doc_id, row.place)
        questions += _questions(row, doc_id)

    def read(doc_id: str, place: int) -> Document:
        row = rows.again(place)
        title = row.values.get("title")
        return Document(
            doc_id, title if isinstance(title, str) else "", row.text("article")
        )

    return finish(
        f"quality/{split}",
        questions,
        LazyDocuments(places, read),
        path=rows.path,
        metrics=("bracketed_match", "choice_match"),
        published=_PUBLISHED.get(split, ()),
        notes=notes,
    )


def _questions(row: Row, doc_id: str) -> Iterator[Question]:
    for number, inner in enumerate(row.objects("questions"), 1):
        options = inner.texts("options")
        gold = _gold(inner, len(options), number)
        named = "question_unique_id" in inner.values
        yield Question(
            inner.label("question_unique_id")
            if named
            else f"{row.label('set_unique_id')}_{number}",
            (doc_id,),
            inner.text("question"),
            (options[gold],),
            options,
            gold,
            metadata={k: bool(inner.values[k]) for k in _EXTRA if k in inner.values},
        )


def _gold(row: Row, options: int, number: int) -> int:
    if "gold_label" not in row.values:
        raise row.error(
            f"question {number} has no 'gold_label' (the test set's are not public)"
        )
    label = row.values["gold_label"]
    if not isinstance(label, int) or not 1 <= label <= options:
        raise row.error(
            f"question {number} has the label {label!r} of {options} options"
        )
    return label - 1
