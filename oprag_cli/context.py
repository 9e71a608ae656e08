"""`oprag context`: the passages of your files that answer a question."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from oprag_cli.options import (
    Files,
    Question,
    SearchOptions,
    check_paths,
    check_question,
    takes,
)


@takes(SearchOptions)
def context(
    files: Files,
    question: Question,
    *,
    plain: Annotated[
        bool, typer.Option("--plain", help="Without numbers, places and gap marks.")
    ] = False,
    options: SearchOptions,
) -> None:
    """Print the passages of your files that fit a question.

    The files are indexed the first time; the index is used again until one of them
    changes. Needs no chat model, and no text leaves this machine.

    The passages are in document order, each after its number and place, with […]
    where text was left out. Only they go to standard output, so they can be saved
    or piped:

    \b
      oprag context report.pdf "Who pays for repairs?"
      oprag context notes/ "What did we decide in May?" > passages.txt
      oprag context notes/ report.pdf "What is left to do?" --json
    """  # noqa: D301 -- Click leaves paragraphs alone that begin with this character
    check_question(question)
    check_paths(*files)

    from oprag_cli.search import search, search_values

    found = search(files, question, options, citations=not plain)
    if options.as_json:
        typer.echo(json.dumps(search_values(found), indent=2))
    else:
        typer.echo(found.retrieved.context)
