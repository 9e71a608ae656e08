"""`oprag demo`: a long text that is already here, indexed, asked, put in order."""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Sequence
from textwrap import fill
from typing import TYPE_CHECKING

import typer

from oprag.cli.options import (
    DEFAULT_EMBEDDING_MODEL,
    AsJson,
    Directory,
    EmbeddingModel,
    MostChunks,
    TokenBudget,
)

if TYPE_CHECKING:
    from oprag.cli.index import Index
    from oprag.cli.retrieving import Retrieved


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

One line per chunk: its number by score (1 is the best), its turn in document order,
and how it begins. An arrow marks where the reader must go back in the text.
"""

_IN_YOUR_CODE = """\
In your own code one line changes:

  before   retriever = vectorstore.as_retriever()
  after    retriever = OrderPreservingRetriever(vectorstore=vectorstore, k=40)
"""


def demo(
    *,
    token_budget: TokenBudget = 600,
    k: MostChunks = None,
    embedding_model: EmbeddingModel = DEFAULT_EMBEDDING_MODEL,
    directory: Directory = None,
    as_json: AsJson = False,
) -> None:
    """Show what document order changes, on Python's reference.

    Indexes the reference that ships with Python (the first time, which takes a
    minute or so), asks it three questions, and shows the chunks by score and in
    document order. No text leaves this machine.

    \b
      oprag demo
      oprag demo --token-budget 300
    """  # noqa: D301 -- Click leaves paragraphs alone that begin with this character
    from oprag.cli.display import make_console
    from oprag.cli.embedding_models import load_model
    from oprag.cli.index import index_texts
    from oprag.cli.options import cache_folder
    from oprag.cli.retrieving import retrieve
    from oprag.files import FileText

    text = language_reference()
    notes = make_console(stderr=True)
    index = index_texts(
        [FileText(REFERENCE_NAME, text)],
        load_model(embedding_model, notes),
        label="language-reference",
        folder=directory or cache_folder(),
        console=notes,
    )
    found = [
        retrieve(index.vectorstore, question, token_budget=token_budget, k=k)
        for question in QUESTIONS
    ]
    if as_json:
        typer.echo(to_json(REFERENCE_NAME, text, index, found))
    else:
        show(REFERENCE_NAME, text, found, token_budget=token_budget)


def show(
    name: str, text: str, found: Sequence[Retrieved], *, token_budget: int
) -> None:
    """Print what was found, for people."""
    from rich.text import Text

    from oprag.cli.display import make_console, question_lines

    console = make_console()
    ascii_only = console.options.ascii_only
    said = _INTRODUCTION.format(name=name, length=len(text), tokens=token_budget)
    for paragraph in said.split("\n\n"):
        console.print(f"\n{fill(paragraph.strip(), console.width)}")
    console.print()
    for number, retrieved in enumerate(found, start=1):
        console.rule(characters="-" if ascii_only else "─")
        console.print(Text(f"{number} of {len(found)}: {retrieved.question}", "bold"))
        for line in question_lines(retrieved, length=len(text), ascii_only=ascii_only):
            console.print(
                line, no_wrap=True, overflow="crop" if ascii_only else "ellipsis"
            )
        console.print()
    console.print(_IN_YOUR_CODE)


def to_json(name: str, text: str, index: Index, found: Sequence[Retrieved]) -> str:
    """The same as one JSON object, in ASCII."""
    from oprag.cli.retrieving import retrieved_values

    values = {
        "document": {
            "name": name,
            "characters": len(text),
            "sha256": hashlib.sha256(text.encode()).hexdigest(),
        },
        "index": {"chunks": index.chunks, "reused": index.reused},
        "questions": [retrieved_values(retrieved) for retrieved in found],
    }
    return json.dumps(values, indent=2)


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
    """The language reference as one long text.

    Python's `help()` keeps it as topics; `help("with")` shows one. Here they stand
    in the order of the book they were cut from, each with its heading, with two line
    breaks between them.

    Returns:
        Some 370,000 to 415,000 characters, depending on the version of Python.
    """
    from pydoc_data.topics import topics

    return "\n\n".join(topics[topic].strip() for topic in _TOPICS if topic in topics)
