"""The questions and documents of an evaluation: a set of the papers, or one's own."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from oprag.cli.files import read_files
from oprag.cli.full_texts import full_texts
from oprag.cli.telling import note
from oprag.evaluation.data import Dataset, load, read_own

__all__ = ["data_facts", "load_data", "load_own", "restrict"]


def load_data(spec: str, split: str) -> Dataset:
    """Read a set of the papers.

    Args:
        spec: `NAME=PATH`, or `NAME` alone: from the hub, or generated.
        split: Where there are several; empty: the papers'.
    """
    name, _, path = spec.partition("=")
    return load(name.strip(), path.strip() or None, split=split)


def load_own(paths: Sequence[Path], questions: Path) -> Dataset:
    """Read one's own questions on text, Markdown, HTML and PDF files.

    A file is named by its path in the folder that was given, or by its name.
    """
    read = read_files(paths)
    for error in read.skipped:
        note(f"Skipped: {error.message}")
    texts = full_texts(read.documents)
    texts = {_name(name, paths): text for name, text in texts.items()}
    return read_own(questions, texts)


def restrict(dataset: Dataset, most: int | None) -> Dataset:
    """Keep the first questions."""
    if most is None or most >= len(dataset.questions):
        return dataset
    return dataclasses.replace(dataset, questions=dataset.questions[:most])


def data_facts(dataset: Dataset) -> dict[str, Any]:
    """Say which set it is, so that no run is resumed with another."""
    digest = hashlib.sha256()
    for question in dataset.questions:
        fields = (
            question.question_id,
            question.doc_ids,
            question.question,
            question.answers,
            question.options,
            question.gold_option,
            question.evidence,
        )
        digest.update(json.dumps(fields).encode("ascii"))
    digest.update(json.dumps(list(dataset.documents)).encode("ascii"))
    return {
        "name": dataset.name,
        "questions": len(dataset.questions),
        "documents": len(dataset.documents),
        "sha256": digest.hexdigest(),
    }


def _name(name: str, paths: Sequence[Path]) -> str:
    path = Path(name)
    for folder in paths:
        if folder.is_dir() and path.is_relative_to(folder):
            return path.relative_to(folder).as_posix()
    return path.name if sum(p.name == path.name for p in paths) == 1 else name
