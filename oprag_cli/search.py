"""A search in files: from a question to passages."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, cast

from langchain_core.documents import Document
from langchain_core.vectorstores import VectorStore
from rich.console import Console
from rich.text import Text

from langchain_oprag import OrderPreservingRetriever
from oprag.chunk import Chunk, Passage
from oprag.context import Order, Widen, order_context, render
from oprag.errors import count_nouns
from oprag.files import FilesRead, read_files
from oprag.tokens import resolve_token_counter
from oprag_cli.display import make_console, progress_bar
from oprag_cli.embedding_models import load_model
from oprag_cli.index import Index, own_index
from oprag_cli.messages import note
from oprag_cli.options import SearchOptions, cache_folder


class Retrieved(NamedTuple):
    """The passages that were found for a question."""

    question: str
    passages: tuple[Passage, ...]
    """In the order in which they are to be read."""
    passage_tokens: tuple[int, ...]
    """Tokens of each passage's text."""
    tokens: int
    """Tokens of `context`, separators and citations included."""
    context: str
    """The passages as they are sent."""

    @property
    def chunks(self) -> list[Chunk]:
        """The chunks in the order in which they are to be read."""
        return [chunk for passage in self.passages for chunk in passage.chunks]

    @property
    def by_rank(self) -> list[Chunk]:
        """The chunks best first, as a retriever returns them."""
        return sorted(self.chunks, key=lambda chunk: chunk.rank)


@dataclass(frozen=True, slots=True)
class Search:
    """A question put to files."""

    files: FilesRead
    index: Index
    retrieved: Retrieved


def search(
    paths: Sequence[Path],
    question: str,
    options: SearchOptions,
    *,
    citations: bool = False,
) -> Search:
    """Read files, bring their index up to date, and retrieve passages.

    Each step is reported on stderr. With `citations`, each passage is sent with its
    number and place.

    Raises:
        UnreadableFileError: See `read_files`.
        ModelCallError: See `load_embedding_model`.
        BudgetTooSmallError: Not even the best chunk fits.
        OSError: The folder cannot be written to.
    """
    notes = make_console(stderr=True)
    said: list[str] = []
    files = read_told(paths, notes, said.append)
    embeddings = load_model(options.embedding_model, notes, said.append)
    folder = options.directory or cache_folder()
    with progress_bar(notes, "Indexing files", files.names) as progress:
        index = own_index(
            real_names(paths), files, embeddings, folder=folder, show_progress=progress
        )
    tell_index(index, notes, said)
    retrieved = retrieve(index.vectorstore, question, options, citations=citations)
    return Search(files, index, retrieved)


def real_names(paths: Sequence[Path]) -> list[str]:
    """Return the names of paths on this machine, for `index_label`."""
    return [os.fsencode(os.path.realpath(path)).hex() for path in paths]


def read_told(
    paths: Sequence[Path],
    notes: Console,
    say: Callable[[str], object] | None = None,
    **how: Any,
) -> FilesRead:
    """Read files (`read_files`) and report their number, and those that were skipped.

    `say` is told the number. Without it, the number is printed on `notes`.
    """
    with notes.status("Reading the files …") as status:
        how["on_file"] = lambda file: status.update(Text(f"Reading {file.name} …"))
        files = read_files(paths, **how)
    for error in files.skipped:
        note(f"Skipped: {error}")
    for name, notice in files.notices.items():
        note(f"About {name!r}: {notice}.")
    say = partial(notes.print, soft_wrap=True) if say is None else say
    say(f"Read: {count_nouns(len(files.names), 'file')}")
    return files


def tell_index(index: Index, notes: Console, said: Sequence[str] = ()) -> None:
    """Report the size of an index, and its path.

    Print one line if it is used again, else first the lines of `said`.
    """
    how = "used again from" if index.reused else "now kept in"
    lines = [] if index.reused else [*said]
    lines.append(f"Index: {count_nouns(index.chunks, 'chunk')}, {how} {index.path}")
    for line in lines:
        notes.print(line, soft_wrap=True)


def retrieve(
    vectorstore: VectorStore,
    question: str,
    options: SearchOptions,
    *,
    citations: bool = False,
) -> Retrieved:
    """Retrieve as many of the best chunks as fit a budget, and put them in order.

    Raises:
        BudgetTooSmallError: Not even the best chunk fits.
    """
    retriever = OrderPreservingRetriever(
        vectorstore=vectorstore,
        token_budget=options.token_budget,
        k=options.k,
        selection=options.selection,
        order="rank",
        merge=False,
        widen=cast("Widen | None", options.widen),
    )
    passages = order_passages(
        retriever.invoke(question),
        order=options.order,
        merge=options.merge,
        token_budget=options.token_budget,
        citations=citations,
    )
    counter = resolve_token_counter()
    context = render(passages, citations=citations)
    each = tuple(counter(passage.text) for passage in passages)
    return Retrieved(question, tuple(passages), each, counter(context), context)


def order_passages(
    documents: Sequence[Document],
    *,
    order: Order,
    merge: bool,
    token_budget: int | None = None,
    citations: bool = False,
) -> list[Passage]:
    """Put retrieved documents, best first, in the order they are to be read in."""
    return order_context(
        [document.page_content for document in documents],
        [document.metadata for document in documents],
        order=order,
        merge=merge,
        token_budget=token_budget,
        citations=citations,
    )


def search_values(found: Search) -> dict[str, Any]:
    """Return a search as plain JSON values.

    Spans are `[start, end]` in characters of the document or, if there are pages, of
    the page, end exclusive. Ranks count from 0, the best.
    """
    retrieved = found.retrieved
    return {
        "files": found.files.names,
        "skipped": [
            {"file": error.path, "reason": error.reason}
            for error in found.files.skipped
        ],
        "notices": found.files.notices,
        "index": {"chunks": found.index.chunks, "reused": found.index.reused},
        "question": retrieved.question,
        "tokens": retrieved.tokens,
        "by_rank": [
            {
                "rank": chunk.rank,
                "document": chunk.document_name,
                "page": chunk.metadata.get("page_label"),
                "span": list(chunk.span or ()),
                "text": chunk.text,
            }
            for chunk in retrieved.by_rank
        ],
        "passages": [
            {
                "text": passage.text,
                "document": passage.document_name,
                "page": passage.chunks[0].metadata.get("page_label"),
                "spans": [list(span) for span in passage.spans],
                "citation": passage.citation,
                "tokens": tokens,
                "ranks": [chunk.rank for chunk in passage.chunks],
            }
            for passage, tokens in zip(
                retrieved.passages, retrieved.passage_tokens, strict=True
            )
        ],
        "context": retrieved.context,
    }
