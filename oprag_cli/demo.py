"""`oprag demo`: a long text that is already here, indexed, asked, put in order."""

from __future__ import annotations

import colorsys
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from textwrap import fill
from typing import TYPE_CHECKING

from oprag_cli.options import (
    DEFAULT_EMBEDDING_MODEL,
    Directory,
    EmbeddingModel,
    TokenBudget,
)

if TYPE_CHECKING:
    from rich.text import Text

    from oprag.chunk import Chunk, Span
    from oprag_cli.search import Retrieved


_PREVIEW = 64
"""Characters shown of a text."""

_RULES = re.compile(r"([-=*~^\"])\1{3,}")
"""Lines drawn under headings: they say nothing in a preview."""

QUESTIONS = (
    "How does a try statement handle an exception, and what does finally do?",
    "How do I write a context manager, and what does the with statement do with it?",
    "What does the import statement do, step by step?",
)
"""Answered in several places of the language reference, whose order matters."""

_INTRODUCTION = """
{name}: {length:,} characters, more than a model should read for one question.
Retrieval picks the best chunks that fit {tokens:,} tokens. In which order should they
be read?

One line per chunk: its number by score (1 is the best), its characters in the text, and
how it begins. A ^ marks where the reader must go back in the text.
"""

_IN_YOUR_CODE = """\
In your own code one line changes:

  before   retriever = vectorstore.as_retriever()
  after    retriever = OrderPreservingRetriever(vectorstore=vectorstore, k=40)
"""


def demo(
    *,
    token_budget: TokenBudget = 600,
    embedding_model: EmbeddingModel = DEFAULT_EMBEDDING_MODEL,
    directory: Directory = None,
) -> None:
    """Show what document order changes, on Python's reference.

    Indexes the reference that ships with Python (the first time, which takes a
    minute or so), asks it three questions, and shows the chunks by score and in
    document order. No text leaves this machine.

    \b
      oprag demo
      oprag demo --token-budget 300
    """  # noqa: D301 -- Click leaves paragraphs alone that begin with this character
    from oprag.files import FilesRead, FileText
    from oprag_cli.display import make_console, progress_bar
    from oprag_cli.embedding_models import load_model
    from oprag_cli.index import own_index
    from oprag_cli.options import SearchOptions, cache_folder
    from oprag_cli.search import retrieve, tell_index

    text = language_reference()
    notes = make_console(stderr=True)
    embeddings = load_model(embedding_model, notes)
    with progress_bar(notes, "Indexing files", [REFERENCE_NAME]) as progress:
        index = own_index(
            [REFERENCE_NAME],
            FilesRead((FileText(REFERENCE_NAME, text),), ()),
            embeddings,
            folder=directory or cache_folder(),
            show_progress=progress,
        )
    tell_index(index, notes)
    options = SearchOptions(token_budget=token_budget)
    found = [retrieve(index.vectorstore, question, options) for question in QUESTIONS]
    show(text, found, token_budget=token_budget)


def show(text: str, found: Sequence[Retrieved], *, token_budget: int) -> None:
    """Print the passages that were found, for people."""
    from oprag_cli.display import make_console

    console = make_console()
    said = _INTRODUCTION.format(
        name=REFERENCE_NAME, length=len(text), tokens=token_budget
    )
    for paragraph in said.split("\n\n"):
        console.print(f"\n{fill(paragraph.strip(), console.width)}")
    for number, retrieved in enumerate(found, start=1):
        console.print()
        console.rule(characters="-")
        console.print(f"{number} of {len(found)}: {retrieved.question}", style="bold")
        for line in question_lines(retrieved):
            console.print(line, no_wrap=True, overflow="crop")
    console.print(f"\n{_IN_YOUR_CODE}")


def question_lines(retrieved: Retrieved) -> Iterator[Text]:
    """Yield the chunks by score and in document order, and the merged passages."""
    from rich.text import Text

    by_rank, in_order = retrieved.by_rank, retrieved.chunks
    colours = {
        chunk.rank: _colour(turn / len(in_order)) for turn, chunk in enumerate(in_order)
    }

    def lines(chunks: Sequence[Chunk]) -> Iterator[Text]:
        jumps = jumps_back(chunk.span.start for chunk in chunks if chunk.span)
        for chunk, jump in zip(chunks, jumps, strict=True):
            line = Text(f"  {chunk.rank + 1:3} ", colours[chunk.rank])
            line.append("^ " if jump else "  ", "bold red")
            yield line.append(f"{_characters(chunk.span)}  {_preview(chunk.text)}", "")

    times = sum(jumps_back(chunk.span.start for chunk in by_rank if chunk.span))
    yield Text(f"\nBy score, the reader goes back {times} times:")
    yield from lines(by_rank)
    yield Text("\nIn document order, the same chunks:")
    yield from lines(in_order)
    count, tokens = len(retrieved.passages), retrieved.tokens
    yield Text(f"\nMerged where they touch, {count} passages, {tokens:,} tokens:")
    for number, passage in enumerate(retrieved.passages, start=1):
        line = Text(f"  [{number}]".ljust(7), colours[passage.rank])
        spans = " and ".join(map(_characters, passage.spans))
        yield line.append(f"{spans}  {_preview(passage.text)}", "")


def jumps_back(starts: Iterable[int]) -> list[bool]:
    """Return for each start whether it is before the one that was read last."""
    read = [-1, *starts]
    return [start < before for before, start in pairwise(read)]


def _characters(span: Span | None) -> str:
    return f"{span.start:>9,}-{span.end:<9,}" if span else ""


def _preview(text: str) -> str:
    return " ".join(_RULES.sub(" ", text).split())[:_PREVIEW].rstrip()


def _colour(share: float) -> str:
    """Return a colour, from blue (0, the first read) over red to yellow (1, the last).

    Readable on dark and on light ground.
    """
    red, green, blue = colorsys.hls_to_rgb((0.6 + share * 0.55) % 1, 0.6, 0.8)
    return f"rgb({red * 255:.0f},{green * 255:.0f},{blue * 255:.0f})"


REFERENCE_NAME = "Python {}.{} language reference".format(*sys.version_info)
"""Name of the document, as citations show it."""

_TOPICS = """
    identifiers strings numbers integers floating imaginary
    objects types specialnames execmodel
    conversions atom-identifiers atom-literals lists dict attribute-references
    subscriptions slicings calls await power unary binary shifting bitwise
    comparisons booleans lambda exprlists operator-summary
    assignment assert pass del return yield raise break continue import global
    nonlocal compound
    truth typesseq string-methods formatstrings typesmapping typesmodules
    typesfunctions typesmethods bltin-code-objects bltin-type-objects
    bltin-null-object bltin-ellipsis-object specialattrs debugger
""".split()  # noqa: SIM905 -- reads as a table of contents
"""Topics of `pydoc_data` in the order of the reference's chapters, then those of the
library's. The topics that are not named repeat a part of one that is."""


def language_reference() -> str:
    """Return the language reference as one long text.

    Python's `help()` keeps it as topics; `help("with")` shows one. Here they stand
    in the order of the book from which they were cut. Each has its heading, and two
    line breaks separate them.

    Returns:
        Some 370,000 to 415,000 characters, depending on the version of Python.
    """
    from pydoc_data.topics import topics

    return "\n\n".join(topics[topic].strip() for topic in _TOPICS if topic in topics)
