"""`oprag index`: files into a vector store, and kept in step with it."""

from __future__ import annotations

import json
from dataclasses import replace
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from oprag.cli.options import (
    DEFAULT_EMBEDDING_MODEL,
    AsJson,
    Directory,
    EmbeddingModel,
    Files,
)
from oprag.cli.telling import note, told
from oprag.errors import IndexingError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from oprag.cli.index import Index
    from oprag.errors import UnreadableFileError
    from oprag.evaluation.files import FilesRead
    from oprag.indexing import IndexingReport, RemoveMissing


class Missing(str, Enum):
    """What `--remove-missing` takes."""

    NO = "no"
    YES = "yes"
    ALL = "all"


_MEANS: dict[Missing, RemoveMissing] = {
    Missing.NO: False,
    Missing.YES: True,
    Missing.ALL: "all",
}


def index(
    files: Files,
    *,
    chroma: Annotated[
        Path | None,
        typer.Option(
            help="A Chroma directory to index into; without it, the index that "
            "`oprag context` and `oprag ask` use for the same files.",
            file_okay=False,
            show_default=False,
        ),
    ] = None,
    collection: Annotated[
        str, typer.Option(help="The collection in that directory.")
    ] = "",
    remove_missing: Annotated[
        Missing,
        typer.Option(
            help="With --chroma: also delete what an earlier run put there of the "
            "same folders and is gone now; `all`, if that is more than half. Files "
            "that cannot be read stay; of one that is empty now nothing does."
        ),
    ] = Missing.NO,
    embedding_model: EmbeddingModel = DEFAULT_EMBEDDING_MODEL,
    directory: Directory = None,
    as_json: AsJson = False,
) -> None:
    """Index files, so that they can be asked at once.

    A file that is indexed as it is is left alone, one that changed is indexed anew.
    If this is stopped, the next run does the rest. No text leaves this machine.

    \b
      oprag index notes/
      oprag index notes/ --chroma chroma/ --collection notes --remove-missing yes
      oprag doctor chroma/

    Exit codes: 0; 1, some files could not be indexed, or the index cannot be written;
    2, the command is wrong; 130 after Ctrl-C.
    """  # noqa: D301 -- Click leaves paragraphs alone that begin with this character
    if chroma is None and (collection or remove_missing != Missing.NO):
        message = (
            "--collection and --remove-missing belong to --chroma: the index of "
            "`oprag context` and `oprag ask` is always as the files are."
        )
        raise told(message, 2)
    if chroma is not None and directory is not None:
        raise told("--chroma and --directory are two places; give one.", 2)

    from oprag.cli.display import make_console
    from oprag.cli.embedding_models import load_model
    from oprag.cli.index import failed_line, index_into, index_texts
    from oprag.cli.options import cache_folder
    from oprag.cli.searching import index_label, read_told

    notes = make_console(stderr=True)
    read = read_told(files, notes, may_be_empty=remove_missing != Missing.NO)
    embeddings = load_model(embedding_model, notes)
    try:
        if chroma is None:
            made = index_texts(
                read.texts,
                embeddings,
                label=index_label(files, embedding_model),
                folder=directory or cache_folder(),
                console=notes,
            )
            # Of those it keeps nothing, so that it does not tell them.
            report = replace(made.report, empty=tuple(read.empty))
            made = made._replace(report=report)
        else:
            made = index_into(
                chroma,
                collection,
                read,
                embeddings,
                scope=index_label(files),
                remove_missing=_MEANS[remove_missing],
                console=notes,
            )
    except IndexingError as error:
        for failed in [] if error.report is None else error.report.failed:
            note(f"Not indexed: {failed_line(failed)}")
        raise
    if as_json:
        typer.echo(json.dumps(_values(made, read), indent=2))
    else:
        said = summary(made.report, read.skipped)
        make_console().print(said, soft_wrap=True, markup=False)
    if made.report.failed:
        raise typer.Exit(1)


def summary(report: IndexingReport, skipped: Sequence[UnreadableFileError]) -> str:
    """Say what was done in one sentence; what failed was told before."""
    left = tuple(error for error in skipped if error.path not in report.empty)
    said = str(replace(report, failed=(), skipped=left))
    failed = len(report.failed)
    return f"{said[:-1]}, {failed:,} failed." if failed else said


def _values(made: Index, read: FilesRead) -> dict[str, Any]:
    from oprag.cli.index import failure_of

    report = made.report
    lists = ("added", "updated", "unchanged", "removed", "empty", "foreign")
    counts = ("chunks_added", "chunks_deleted", "chunks_unchanged", "chunks_foreign")
    return {
        "directory": str(made.path),
        "collection": made.collection,
        "chunks": made.chunks,
        **{name: list(getattr(report, name)) for name in lists},
        "failed": [
            {"file": each.name, "reason": failure_of(each)} for each in report.failed
        ],
        "skipped": [
            {"file": error.path, "reason": error.reason} for error in read.skipped
        ],
        **{name: getattr(report, name) for name in counts},
    }
