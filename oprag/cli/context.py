"""`oprag context`: the passages of one's own files that answer a question."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from oprag.cli.options import Files, Question, SearchOptions, takes


@takes(SearchOptions)
def context(
    files: Files,
    question: Question,
    *,
    highlight: Annotated[
        Path | None,
        typer.Option(
            help="Write a copy of the PDF among the files, with the passages "
            "highlighted.",
            dir_okay=False,
            show_default=False,
        ),
    ] = None,
    options: SearchOptions,
) -> None:
    """Print the passages of your files that fit a question.

    The files are indexed the first time; the index is used again until one of them
    changes. Needs no chat model, and no text leaves this machine.

    The passages stand in document order. Only they go to standard output, so they
    can be kept or handed on:

    \b
      oprag context report.pdf "Who pays for repairs?"
      oprag context notes/ "What did we decide in May?" > passages.txt
      oprag context notes/ report.pdf "What is left to do?" --json
      oprag context report.pdf "Who pays for repairs?" --highlight marked.pdf
    """  # noqa: D301 -- Click leaves paragraphs alone that begin with this character
    from oprag.cli import highlighting
    from oprag.cli.searching import check_question, search, search_values

    check_question(question)
    if highlight is not None:
        highlighting.check_copy(highlight, files)
    check = highlighting.check_pdf if highlight is not None else None
    found = search(files, question, options, check=check)
    if options.as_json:
        typer.echo(json.dumps(search_values(found), indent=2))
    else:
        typer.echo(found.retrieved.context)
    if highlight is not None:
        highlighting.highlight(found, highlight)
