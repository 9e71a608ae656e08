"""`oprag ask`: a question to a chat model about your files."""

from __future__ import annotations

import json
from typing import Annotated, Literal

import typer

from oprag_cli.messages import stop
from oprag_cli.options import (
    ChatModelName,
    DeclinedBy,
    Files,
    Question,
    SearchOptions,
    Window,
    check_paths,
    check_question,
    takes,
)

_NO_MODEL = (
    "No chat model is named. Name one as provider:model, with --model "
    "openai:gpt-4o-mini or once for all with OPRAG_MODEL=openai:gpt-4o-mini; a server "
    "of your own that speaks OpenAI's protocol is openai:NAME, with its address in "
    "OPENAI_BASE_URL. `oprag context` needs no chat model."
)


@takes(SearchOptions)
def ask(
    files: Files,
    question: Question,
    *,
    model: ChatModelName = "",
    route: Annotated[
        Literal["rag", "self"],
        typer.Option(
            "--route",
            help="Send only the passages, or, if the model then declines, the full "
            "documents.",
        ),
    ] = "rag",
    max_context_tokens: Window = None,
    decline: DeclinedBy = "word",
    options: SearchOptions,
) -> None:
    """Ask a chat model about your files.

    Sends the passages that `oprag context` finds, and no other text of your files,
    with the question to the model. Prints the answer as it is written, then the
    passages that the model was given and the tokens that this took.

    With --route self the model may say that the passages do not hold the answer.
    Then their full documents are sent. Prints the answer and what each step took.

    \b
      export OPENAI_API_KEY=...
      oprag ask report.pdf "Who pays for repairs?" --model openai:gpt-4o-mini

    A server on your machine that speaks OpenAI's protocol (llama.cpp, vLLM, LM
    Studio and others), with any text as its key:

    \b
      export OPENAI_BASE_URL=http://localhost:8080/v1 OPENAI_API_KEY=none
      oprag ask notes/ "What did we decide in May?" --model openai:local
    """  # noqa: D301 -- Click leaves paragraphs alone that begin with this character
    check_model(model)
    if route == "self" and not options.merge:
        raise stop("--route self joins passages that touch: leave out --no-merge.", 2)
    if route == "rag" and max_context_tokens is not None:
        raise stop("--max-context-tokens is for --route self alone.", 2)
    if route == "rag" and decline == "tool":
        raise stop("--decline is for --route self alone.", 2)
    check_question(question)
    check_paths(*files)

    from oprag.calls import hide_secrets
    from oprag_cli.answers import answer_by_self_route, answer_from_passages
    from oprag_cli.chat_models import load_chat_model
    from oprag_cli.search import search, search_values

    client = load_chat_model(model)
    found = search(files, question, options, citations=route == "rag")
    pen = _Pen(silent=options.as_json)
    try:
        if route == "self":
            answer = answer_by_self_route(
                client,
                model,
                found,
                pen.write,
                token_budget=options.token_budget,
                order=options.order,
                max_context_tokens=max_context_tokens,
                decline=decline,
            )
        else:
            answer = answer_from_passages(client, model, found, pen.write)
    finally:
        pen.end_line()
    if not options.as_json:
        typer.echo(f"\n{answer.report()}")
        return
    values = {
        "model": model,
        "answer": hide_secrets(answer.text, by_form=False),
        "read": answer.read,
        "unknown_citations": answer.unknown,
        "route": answer.route,
        "usage": answer.usage,
    }
    typer.echo(json.dumps({**values, **search_values(found)}, indent=2))


def check_model(model: str) -> None:
    """Make sure that a text names a chat model.

    Raises:
        typer.Exit: With code 2, after a hint was printed: it does not.
    """
    provider, _, name = model.partition(":")
    if not model.strip():
        raise stop(_NO_MODEL, 2)
    if not provider.strip() or not name.strip():
        lacks = "does not name a provider and a model, such as openai:gpt-4o-mini"
        raise stop(f"{model!r} {lacks}.", 2)


_UNSEEN = dict.fromkeys({*range(32), *range(127, 160)} - {9, 10, 13}, "\ufffd")
"""Control characters except tabs and line breaks: a terminal would obey them."""


class _Pen:
    """Writes an answer to stdout piece by piece, unless it is silent."""

    def __init__(self, *, silent: bool) -> None:
        self._silent = silent
        self._last = "\n"

    def write(self, piece: str) -> None:
        if not self._silent:
            typer.echo(piece.translate(_UNSEEN), nl=False)
            self._last = piece[-1]

    def end_line(self) -> None:
        if self._last != "\n":
            typer.echo()
