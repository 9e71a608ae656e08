"""The questions and documents of an evaluation, and their measures."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from oprag.files import read_files, unreadable
from oprag.tokens import TokenCounter
from oprag_cli.messages import note
from oprag_eval.data import Dataset, Document
from oprag_eval.running.run_directory import RunDirectory


def restrict(dataset: Dataset, most: int | None) -> Dataset:
    """Keep the first questions."""
    return dataclasses.replace(dataset, questions=dataset.questions[:most])


def data_facts(dataset: Dataset) -> dict[str, Any]:
    """Return the facts that identify a set, so that no run is resumed with another.

    Every text is read for it.
    """
    return {
        "name": dataset.name,
        "questions": len(dataset.questions),
        "documents": len(dataset.documents),
        "questions_sha256": _digest(dataset.questions),
        "documents_sha256": _digest(dataset.documents.values()),
    }


def _digest(held: Iterable[Any]) -> str:
    digest = hashlib.sha256()
    for each in held:
        digest.update(json.dumps(dataclasses.astuple(each)).encode("ascii"))
    return digest.hexdigest()


def own_documents(
    paths: Sequence[Path], questions: Path, out: Path | None = None
) -> dict[str, Document]:
    """Read the documents, without the questions and without the files of runs.

    The questions' file holds the answers too. Files that are skipped are noted.

    Returns:
        Each by its path in the folder that was given, or by its file's name; if
        two would have one name, all by the paths that were given. In reading order.
    """
    roots = {_real(path) for path in paths}
    apart = {_real(path) for path in (questions, out) if path is not None}
    read = read_files(paths)
    for error in read.skipped:
        if _is_document(error.path, roots, apart):
            note(f"Skipped: {error.message}")
    files = {
        name: text
        for name, text in read.whole.items()
        if _is_document(name, roots, apart)
    }
    if not files:
        what = "holds no documents beside the questions and the files of runs"
        raise unreadable(paths[0], what)
    names = {name: _short(name, paths) for name in files}
    if len(set(names.values())) < len(names):
        names = {name: name for name in files}
    return {
        names[each]: Document(names[each], names[each], text)
        for each, text in files.items()
    }


def _is_document(name: str, roots: set[Path], apart: set[Path]) -> bool:
    """Return whether neither it nor a folder around it is set apart or holds a run."""
    file = _real(Path(name))
    for folder in (file, *file.parents):
        if folder in apart or RunDirectory(folder).is_begun:
            return False
        if folder in roots:
            break
    return True


def _real(path: Path) -> Path:
    """Return the resolved path; a loop of links is kept (`resolve` raises for it)."""
    return Path(os.path.realpath(path))


def _short(source: str, paths: Sequence[Path]) -> str:
    path = Path(source)
    for folder in paths:
        if folder.is_dir() and path.is_relative_to(folder):
            return path.relative_to(folder).as_posix()
    return path.name


_LADDER = (250, 500, 1000, 2000, 4000, 8000, 16000, 32000, 64000)


def budgets_for(dataset: Dataset, token_counter: TokenCounter) -> list[int]:
    """Choose budgets that make a difference: those that the documents exceed.

    Returns:
        Of 250, 500, 1,000 and so on, doubling up to 64,000, those that are less than
        the tokens that some question is asked of; at least the first.
    """
    tokens: dict[str, int] = {}
    largest = 0
    for doc_ids in dict.fromkeys(question.doc_ids for question in dataset.questions):
        total = 0
        for name in doc_ids or tuple(dataset.documents):
            if name not in tokens:
                tokens[name] = token_counter(dataset.documents[name].text)
            total += tokens[name]
        largest = max(largest, total)
    return [budget for budget in _LADDER if budget < largest] or [_LADDER[0]]


def with_answer_recall(dataset: Dataset) -> Dataset:
    """Add the measure of whether contexts hold an answer, if no evidence is known.

    It comes with LongRAG's match, whose rule it is. Only for open questions: the text
    of an option need not stand in the document.
    """
    questions = dataset.questions
    wanted = all(q.answers and not q.options and not q.evidence for q in questions)
    if not wanted or "longrag_match" in dataset.metrics:
        return dataset
    return dataclasses.replace(dataset, metrics=(*dataset.metrics, "longrag_match"))


def sweep_measure(dataset: Dataset, *, offline: bool) -> str:
    """Name the measure that systems and budgets are compared by.

    Offline answers say little, so contexts are measured: by the evidence, else by the
    answer's text.

    Returns:
        Empty for the set's own, by which a model's answers are measured.
    """
    if not offline:
        return ""
    if any(question.evidence for question in dataset.questions):
        return "evidence_recall"
    return "answer_recall" if "longrag_match" in dataset.metrics else ""
