"""`oprag questions` and `oprag check-questions`: questions on your own documents."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Annotated

import typer

from oprag_cli.messages import note, stop
from oprag_cli.options import ChatModelName, Files, check_paths

_MISSING = 3
"""Exit code if gold is not in the documents."""
_SHOWN = 80

_QuestionFile = Annotated[
    Path,
    typer.Option(
        help="The file of questions, as `oprag sweep` takes it.", show_default=False
    ),
]


def questions(
    files: Files,
    *,
    model: ChatModelName = "",
    n: Annotated[int, typer.Option("--n", min=1, help="Questions to draft.")] = 50,
    out: Annotated[
        Path, typer.Option(help="File to write, in JSON Lines. It must not exist.")
    ] = Path("questions.jsonl"),
    seed: Annotated[int, typer.Option(min=0, help="Of the choice of parts.")] = 42,
    concurrency: Annotated[int, typer.Option(min=1, help="Calls at a time.")] = 4,
) -> None:
    """Have a chat model draft questions on your files.

    Each question is on a part of a file, and comes with its answer and the passage that
    proves it. Read them: throw out what nobody would ask, and write others as people
    ask them. Then `oprag check-questions`.

    \b
      oprag questions notes/ --model openai:gpt-4o-mini --n 50

    Exit codes: 0, or 1 when nothing could be drafted.
    """  # noqa: D301 -- Click leaves paragraphs alone that begin with this character
    check_paths(*files)

    from oprag.files import write_whole
    from oprag_cli.chat_models import load_chat_model
    from oprag_cli.display import make_console, progress_bar
    from oprag_eval.cli.data import own_documents
    from oprag_eval.drafting import count_reasons, draft_questions
    from oprag_eval.readers.chat import ChatModel
    from oprag_eval.reports.tables import number_of
    from oprag_eval.running.run_directory import json_line

    if not model:
        raise stop("Name a chat model: --model openai:gpt-4o-mini.", code=2)
    if out.exists():
        raise stop(f"{out} is there already: it may be edited. Give another --out.")
    documents = own_documents(files, out)
    asked = ChatModel(load_chat_model(model), model)
    with progress_bar(make_console(stderr=True), "Questions") as bar:
        drafting = draft_questions(
            documents, asked, n, seed=seed, at_once=concurrency, advanced=bar
        )
        drafts = asyncio.run(drafting)
    for reason in count_reasons(drafts.dropped):
        note(f"Left out, {reason}.")
    if not drafts.rows:
        raise stop("Nothing was drafted: try another model.")
    write_whole(out, b"".join(map(json_line, drafts.rows)))
    spent = drafts.usage.input_tokens + drafts.usage.output_tokens
    typer.echo(
        f"{number_of(len(drafts.rows), 'question')} in {out}, for {spent:,} tokens. "
        "Read and edit them before you measure by them."
    )


def check_questions(
    files: Files,
    *,
    questions: _QuestionFile,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print what is found as JSON Lines.")
    ] = False,
) -> None:
    """Find gold passages that are not in your documents.

    A passage that stands in none, or not in the document that its question names, can
    never be retrieved. An answer that stands nowhere word for word can be given by a
    model, but passages are never found to hold it.

    \b
      oprag check-questions notes/ --questions questions.jsonl

    Exit codes: 0 when all gold passages are there, 3 when not, 1 when a file cannot be
    read.
    """  # noqa: D301 -- Click leaves paragraphs alone that begin with this character
    check_paths(*files)

    from oprag_eval.cli.data import own_documents
    from oprag_eval.data import check_gold, read_own
    from oprag_eval.reports.tables import number_of

    documents = own_documents(files, questions)
    asked = len(read_own(questions, documents).questions)
    found = [*check_gold(questions, documents)]
    for name, problem, text in found:
        if as_json:
            line = {"question_id": name, "problem": problem, "text": text}
            typer.echo(json.dumps(line, ensure_ascii=False))
        else:
            shown = " ".join(text.split())
            cut = f"{shown[:_SHOWN]}…" if len(shown) > _SHOWN else shown
            typer.echo(f"Question {name}: {problem}: {cut}")
    missing = sum(problem.startswith("gold") for _, problem, _ in found)
    if not as_json:
        passages = number_of(missing, "gold passage")
        typer.echo(f"{number_of(asked, 'question')}; {passages} not found.")
    if missing:
        raise typer.Exit(_MISSING)
