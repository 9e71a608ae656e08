"""From files and a question to passages: what `context` and `ask` have in common."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import typer
from langchain_core.vectorstores import VectorStore
from rich.console import Console

from oprag.cli.candidates import candidates_of
from oprag.cli.display import make_console
from oprag.cli.embedding_models import load_model
from oprag.cli.index import Index, index_texts
from oprag.cli.options import SearchOptions, cache_folder
from oprag.cli.retrieving import Retrieved, retrieve, retrieved_values
from oprag.cli.telling import note
from oprag.files import FilesRead, read_files

if TYPE_CHECKING:
    from oprag.chunk import Passage
    from oprag.context import Widen


@dataclass(frozen=True, slots=True)
class Search:
    """A question put to files."""

    files: FilesRead
    index: Index
    retrieved: Retrieved

    def source_text(self, passage: Passage) -> str | None:
        """Return the text that the spans of a passage are of: a file, or a page.

        None where the passage does not stand in it: what a file that changed could
        not be indexed for is found as it was before.
        """
        page = passage.chunks[0].metadata.get("page")
        for each in self.files.texts:
            if (each.source, each.page) == (passage.uri, page):
                spans = [(chunk.span, chunk.text) for chunk in passage.chunks]
                stands = all(s and each.text[slice(*s)] == text for s, text in spans)
                return each.text if stands else None
        return None


def check_question(question: str) -> None:
    """Make sure that there is a question, and that it is none of the files.

    Raises:
        typer.BadParameter: It is blank, or names a file.
    """
    if not question.strip():
        raise typer.BadParameter("it is empty.", param_hint="QUESTION")
    if Path(question).exists():
        message = f"{question!r} is a file. Put the question last, in quotes."
        raise typer.BadParameter(message, param_hint="QUESTION")


def search(
    paths: Sequence[Path],
    question: str,
    options: SearchOptions,
    *,
    citations: bool = False,
    check: Callable[[FilesRead], object] | None = None,
) -> Search:
    """Read files, index them or use their index again, and retrieve passages.

    What it does is told on stderr. Files are read before anything else is done.

    Args:
        paths: Files and folders; see `read_files`.
        question: See `check_question`.
        options: How, and where the index is kept.
        citations: Whether each passage is sent with its number and place.
        check: Is given the files, and may raise before anything is indexed.

    Raises:
        UnreadableFileError: See `read_files`.
        ModelCallError: See `load_embedding_model`.
        BudgetTooSmallError: Not even the best chunk fits.
        OSError: The folder cannot be written to.
    """
    notes = make_console(stderr=True)
    files = read_told(
        paths, notes, "if it belongs to the question, put that in quotes, last", check
    )
    embeddings = load_model(options.embedding_model, notes)
    index = index_texts(
        files.texts,
        embeddings,
        label=index_label(paths, options.embedding_model),
        folder=options.directory or cache_folder(),
        console=notes,
    )
    candidates = candidates_of(index, embeddings)
    retrieved = retrieve_with(candidates, question, options, citations=citations)
    return Search(files, index, retrieved)


def retrieve_with(
    vectorstore: VectorStore,
    question: str,
    options: SearchOptions,
    *,
    citations: bool = False,
) -> Retrieved:
    """Retrieve passages (`retrieve`) as the options of a search say."""
    return retrieve(
        vectorstore,
        question,
        token_budget=options.token_budget,
        k=options.k,
        widen=cast("Widen | None", options.widen),
        selection=options.selection.value,
        order=options.order.value,
        merge=options.merge,
        citations=citations,
    )


def read_told(
    paths: Sequence[Path],
    notes: Console,
    if_missing: str = "",
    check: Callable[[FilesRead], object] | None = None,
    **how: bool,
) -> FilesRead:
    """Read files (`read_files`) and tell how many they are, and what was skipped."""
    with notes.status("Reading the files …"):
        files = read_files(paths, if_missing=if_missing, **how)
    for error in files.skipped:
        note(f"Skipped: {error}")
    count = len(files.names)
    notes.print(f"Read: {count:,} file{'' if count == 1 else 's'}", soft_wrap=True)
    if check is not None:
        check(files)
    return files


def search_values(found: Search) -> dict[str, Any]:
    """The same as plain JSON values.

    Spans are also given as other languages count; none where they cannot be told.
    """
    values = retrieved_values(found.retrieved)
    for value, passage in zip(
        values["passages"], found.retrieved.passages, strict=True
    ):
        text = found.source_text(passage)
        spans = () if text is None else passage.spans
        value["utf16_spans"] = [list(span.in_utf16(text or "")) for span in spans]
        value["utf8_spans"] = [list(span.in_utf8(text or "")) for span in spans]
    return {
        "files": found.files.names,
        "skipped": [
            {"file": error.path, "reason": error.reason}
            for error in found.files.skipped
        ],
        "index": {"chunks": found.index.chunks, "reused": found.index.reused},
        **values,
        "context": found.retrieved.context,
    }


def index_label(paths: Sequence[Path], embedding_model: str = "") -> str:
    """Name an index: the same for the same files and model, whatever they hold."""
    named = [embedding_model, *sorted(map(os.path.realpath, paths))]
    joined = "\0".join(named).encode("utf-8", "surrogateescape")
    return f"files-{hashlib.sha256(joined).hexdigest()[:16]}"
