"""The questions and documents of an evaluation: a set of the papers, or one's own."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from oprag.cli.own_documents import check_out, own_documents
from oprag.evaluation.data import Dataset, load, read_own


def load_data(spec: str, split: str) -> Dataset:
    """Read a set of the papers.

    Args:
        spec: `NAME=PATH`, or `NAME` alone: from the hub, or generated.
        split: Where there are several; empty: the papers'.
    """
    name, _, path = spec.partition("=")
    return load(name.strip(), path.strip() or None, split=split)


def load_own(
    paths: Sequence[Path], questions: Path, out: Path | None = None
) -> Dataset:
    """Read one's own questions on text, Markdown, HTML and PDF files.

    Args:
        paths: Files and folders; see `own_documents` for their names.
        questions: A CSV or JSON Lines file. It is no document, wherever it lies.
        out: The folder of the run, which holds no documents either; None: none.

    Raises:
        InvalidOptionError: See `check_out`.
        UnreadableFileError: See `own_documents` and `read_own`.
        DuplicateDocumentError: See `own_documents`.
        MalformedDataError: See `read_own`.
    """
    check_out(paths, out)
    return read_own(questions, own_documents(paths, questions, out))


def restrict(dataset: Dataset, most: int | None) -> Dataset:
    """Keep the first questions."""
    if most is None or most >= len(dataset.questions):
        return dataset
    return dataclasses.replace(dataset, questions=dataset.questions[:most])


def data_facts(dataset: Dataset) -> dict[str, Any]:
    """Say which set it is, so that no run is resumed with another.

    Every text is read for it.
    """
    asked, read = hashlib.sha256(), hashlib.sha256()
    for question in dataset.questions:
        fields = (
            question.question_id,
            question.doc_ids,
            question.question,
            question.answers,
            question.options,
            question.gold_option,
            question.evidence,
            question.evidence_kind,
        )
        asked.update(json.dumps(fields).encode("ascii"))
    for document in dataset.documents.values():
        of_text = hashlib.sha256(document.text.encode("utf-8", "surrogatepass"))
        parts = (document.doc_id, document.title, of_text.hexdigest())
        read.update(json.dumps(parts).encode("ascii"))
    return {
        "name": dataset.name,
        "questions": len(dataset.questions),
        "documents": len(dataset.documents),
        "questions_sha256": asked.hexdigest(),
        "documents_sha256": read.hexdigest(),
    }
