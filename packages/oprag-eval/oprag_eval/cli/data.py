"""The questions and documents of an evaluation: a set of the papers, or one's own."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from oprag.cli.telling import note
from oprag.errors import InvalidOptionError
from oprag.files import joined, page_places, read_files, unreadable
from oprag_eval.data import Dataset, Document, Question, load, read_own
from oprag_eval.running.run_directory import RunDirectory


def load_data(spec: str, split: str, corpus: str = "") -> Dataset:
    """Read a set of the papers.

    Args:
        spec: `NAME=PATH`, or `NAME` alone: from the hub, or generated.
        split: Where there are several; empty: the papers'.
        corpus: Path of LongRAG's units, or `hub`; empty: none.
    """
    name, _, path = spec.partition("=")
    where = path.strip() or None
    return load(name.strip(), where, split=split, corpus=corpus or None)


def load_own(
    paths: Sequence[Path], questions: Path, out: Path | None = None
) -> Dataset:
    """Read one's own questions on text, Markdown, HTML and PDF files.

    Args:
        paths: Files and folders; see `own_documents` for their names.
        questions: A CSV or JSON Lines file. It is no document, wherever it lies.
        out: The folder of the run, which holds no documents either; None: none.
    """
    check_out(paths, out)
    return read_own(questions, own_documents(paths, questions, out))


def restrict(dataset: Dataset, most: int | None) -> Dataset:
    """Keep the first questions."""
    if most is None or most >= len(dataset.questions):
        return dataset
    return dataclasses.replace(dataset, questions=dataset.questions[:most])


def data_facts(dataset: Dataset) -> dict[str, Any]:
    """Return which set it is, so that no run is resumed with another.

    Every text is read for it.
    """
    asked, read = hashlib.sha256(), hashlib.sha256()
    facts = [field.name for field in dataclasses.fields(Question)]
    for question in dataset.questions:
        values = [getattr(question, name) for name in facts]
        asked.update(json.dumps(values).encode("ascii"))
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


def check_out(paths: Sequence[Path], out: Path | None) -> None:
    """See that the files of a run do not come among the documents.

    Raises:
        InvalidOptionError: `out` is one of the folders, or one holds a run.
    """
    for path in paths:
        if out is not None and _real(out) == _real(path):
            message = (
                f"--out {str(out)!r} is where the documents are: the files of the run "
                "would come among them. Give a folder of its own."
            )
            raise InvalidOptionError(message, option="out", value=str(out))
        if RunDirectory(path).is_begun:
            message = (
                f"{str(path)!r} holds the files of a run (run.json) among its own: "
                "move them elsewhere, they are no documents."
            )
            raise InvalidOptionError(message, option="documents", value=str(path))


def _real(path: Path) -> Path:
    """Where it really is; a loop of links stays as it is (`resolve` raises for it)."""
    return Path(os.path.realpath(path))


def own_documents(
    paths: Sequence[Path], questions: Path, out: Path | None = None
) -> dict[str, Document]:
    """Read the documents, without the questions and without the files of runs.

    What is left out and what is skipped is noted.

    Args:
        paths: Files and folders.
        questions: The file of the questions, which holds the answers too.
        out: The folder of the run; None: none is written.

    Returns:
        Each by its path in the folder that was given, or by its file's name;
        where two would have one name, by the path that was given. In reading order.

    Raises:
        InvalidOptionError: Two have one name all the same.
        UnreadableFileError: See `read_files`; or nothing is left.
    """
    read = read_files(paths)
    why = {
        name: _why_left_out(name, paths, questions, out)
        for name in [*read.names, *(error.path for error in read.skipped)]
    }
    for reason in dict.fromkeys(filter(None, why.values())):
        note(f"Left out of the documents: {reason}.")
    for error in read.skipped:
        if not why[error.path]:
            note(f"Skipped: {error.message}")
    files = {name: texts for name, texts in read.by_file.items() if not why[name]}
    if not files:
        raise unreadable(paths[0], "holds no documents beside what is left out")
    short = {source: _short(source, paths) for source in files}
    times = Counter(short.values())
    found: dict[str, Document] = {}
    for source, texts in files.items():
        name = short[source] if times[short[source]] == 1 else source
        if name in found:
            message = (
                f"Two documents would be named {name!r}. Name their folders from one "
                "place above them."
            )
            raise InvalidOptionError(message, option="documents", value=name)
        found[name] = Document(name, name, joined(texts), pages=page_places(texts))
    return found


def _why_left_out(
    source: str, paths: Sequence[Path], questions: Path, out: Path | None
) -> str:
    """Say why a file is no document; empty: it is one."""
    file, roots = _real(Path(source)), {_real(path) for path in paths}
    if file == _real(questions):
        return f"{str(questions)!r}, the questions"
    for folder in (file, *file.parents):
        if folder in roots:
            break
        if (out and folder == _real(out)) or RunDirectory(folder).is_begun:
            return f"{str(folder)!r}, the folder of a run"
    return ""


def _short(source: str, paths: Sequence[Path]) -> str:
    path = Path(source)
    for folder in paths:
        if folder.is_dir() and path.is_relative_to(folder):
            return path.relative_to(folder).as_posix()
    return path.name
