"""`oprag index`: files into a vector store, and kept in step with it."""

from __future__ import annotations

import json
from dataclasses import replace
from enum import StrEnum
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
    from oprag.files import FilesRead
    from oprag.indexing import IndexingReport, RemoveMissing


class Missing(StrEnum):
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
    ray: Annotated[
        str,
        typer.Option(
            metavar="ADDRESS",
            help="The Ray cluster whose workers index: HOST:PORT, or `auto` on one of "
            "its machines. With --store.",
            show_default=False,
        ),
    ] = "",
    store: Annotated[
        str,
        typer.Option(
            metavar="URL",
            help="With --ray: the server to index into, that all workers reach: "
            "postgresql://USER@HOST:PORT/DATABASE (with pgvector), or http://HOST:PORT "
            "of a Chroma server.",
            show_default=False,
        ),
    ] = "",
    collection: Annotated[
        str, typer.Option(help="The collection or table in --chroma or --store.")
    ] = "",
    remove_missing: Annotated[
        Missing,
        typer.Option(
            help="With --chroma or --store: also delete what an earlier run put there "
            "of the same folders and is gone now; `all`, if that is more than half. "
            "An empty file counts as gone; while one cannot be read, none is deleted."
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
      oprag index notes/ --ray 10.0.0.1:6379 --store postgresql://ann@10.0.0.2/notes
      oprag doctor chroma/

    Exit codes: 0; 1, some files could not be indexed, or the index cannot be written;
    2, the command is wrong; 130 after Ctrl-C.
    """  # noqa: D301 -- Click leaves paragraphs alone that begin with this character
    _check_places(chroma=chroma, directory=directory, ray=ray, store=store)
    if not (chroma or store) and (collection or remove_missing != Missing.NO):
        message = (
            "--collection and --remove-missing belong to --chroma and --store: the "
            "index of `oprag context` and `oprag ask` is always as the files are."
        )
        raise told(message, 2)

    from oprag.cli.clustered import index_together, server_store
    from oprag.cli.display import make_console
    from oprag.cli.embedding_models import load_model
    from oprag.cli.index import index_into, index_texts
    from oprag.cli.index_telling import failed_line
    from oprag.cli.options import cache_folder
    from oprag.cli.searching import index_label, read_told

    place = server_store(store, collection) if store else None
    notes = make_console(stderr=True)
    read = read_told(files, notes, may_be_empty=remove_missing != Missing.NO)
    embeddings = load_model(embedding_model, notes)
    how: dict[str, Any] = {
        "scope": index_label(files),
        "remove_missing": _MEANS[remove_missing],
        "console": notes,
    }
    try:
        if place is not None:
            report = index_together(ray, place, read, embeddings, **how)
            where: dict[str, Any] = {"collection": place.collection}
        else:
            if chroma is not None:
                made = index_into(chroma, collection, read, embeddings, **how)
                report = made.report
            else:
                made = index_texts(
                    read.texts,
                    embeddings,
                    label=index_label(files, embedding_model),
                    folder=directory or cache_folder(),
                    console=notes,
                )
                # Of those it keeps nothing, so that it does not tell them.
                report = replace(made.report, empty=tuple(read.empty))
            where = _where(made)
    except IndexingError as error:
        for failed in [] if error.report is None else error.report.failed:
            note(f"Not indexed: {failed_line(failed)}")
        raise
    if as_json:
        typer.echo(json.dumps(where | _values(report, read), indent=2))
    else:
        said = summary(report, read.skipped)
        make_console().print(said, soft_wrap=True, markup=False)
    if report.failed:
        raise typer.Exit(1)


def _check_places(
    *, chroma: Path | None, directory: Path | None, ray: str, store: str
) -> None:
    """Refuse two places to index into, and a cluster without a server."""
    if chroma is not None and directory is not None:
        raise told("--chroma and --directory are two places; give one.", 2)
    if ray and chroma is not None:
        message = (
            f"The Chroma directory {chroma} is written by one process, and --ray by "
            "many: give a server with --store, or leave out --ray."
        )
        raise told(message, 2)
    if bool(ray) != bool(store):
        raise told("--ray and --store belong together; give both.", 2)
    if store and directory is not None:
        raise told("--store and --directory are two places; give one.", 2)


def summary(report: IndexingReport, skipped: Sequence[UnreadableFileError]) -> str:
    """Say what was done in one sentence; what failed was told before."""
    left = tuple(error for error in skipped if error.path not in report.empty)
    said = str(replace(report, failed=(), skipped=left))
    failed = len(report.failed)
    return f"{said[:-1]}, {failed:,} failed." if failed else said


def _where(made: Index) -> dict[str, Any]:
    return {
        "directory": str(made.path),
        "collection": made.collection,
        "chunks": made.chunks,
    }


def _values(report: IndexingReport, read: FilesRead) -> dict[str, Any]:
    from oprag.cli.index_telling import failure_of

    lists = ("added", "updated", "unchanged", "removed", "empty", "foreign")
    counts = ("chunks_added", "chunks_deleted", "chunks_unchanged", "chunks_foreign")
    return {
        **{name: list(getattr(report, name)) for name in lists},
        "failed": [
            {"file": each.name, "reason": failure_of(each)} for each in report.failed
        ],
        "skipped": [
            {"file": error.path, "reason": error.reason} for error in read.skipped
        ],
        **{name: getattr(report, name) for name in counts},
    }
