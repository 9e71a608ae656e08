"""`oprag index`: files into a vector store, and kept in step with it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from oprag_cli.messages import stop
from oprag_cli.options import (
    DEFAULT_EMBEDDING_MODEL,
    AsJson,
    Directory,
    EmbeddingModel,
    Files,
    check_paths,
)

if TYPE_CHECKING:
    from oprag.indexing import IndexingReport, RemoveMissing


_MEANS: dict[str, RemoveMissing] = {"no": False, "yes": True, "all": "all"}


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
        Literal["no", "yes", "all"],
        typer.Option(
            help="With --chroma or --store: also delete documents of an earlier run "
            "with the same folders that are gone now; `all`, if they are more than "
            "half. An empty file counts as gone; an unreadable one keeps all."
        ),
    ] = "no",
    embedding_model: EmbeddingModel = DEFAULT_EMBEDDING_MODEL,
    directory: Directory = None,
    as_json: AsJson = False,
) -> None:
    """Index files in advance, for answers without a wait.

    Unchanged files are skipped. If it is stopped, the next run goes on. No text leaves
    this machine.

    \b
      oprag index notes/
      oprag index notes/ --chroma chroma/ --collection notes --remove-missing yes
      oprag index notes/ --ray 10.0.0.1:6379 --store postgresql://10.0.0.2/notes
      oprag doctor chroma/

    Exit codes: 0; 1, some texts could not be indexed, or the index cannot be written;
    2, the command is wrong; 130 after Ctrl-C.
    """  # noqa: D301 -- Click leaves paragraphs alone that begin with this character
    if sum(map(bool, (chroma, directory, store))) > 1:
        raise stop("--chroma, --directory and --store are places; give one.", 2)
    if bool(ray) != bool(store):
        raise stop("--ray and --store belong together; give both.", 2)
    if not (chroma or store) and (collection or remove_missing != "no"):
        message = "--collection and --remove-missing belong to --chroma and --store."
        raise stop(message, 2)
    check_paths(*files)

    from oprag_cli.clustered import index_together, server_store
    from oprag_cli.display import make_console, progress_bar
    from oprag_cli.embedding_models import load_model
    from oprag_cli.index import index_label, own_index, update
    from oprag_cli.options import cache_folder
    from oprag_cli.search import read_told, real_names

    place = server_store(store, collection) if store else None
    notes = make_console(stderr=True)
    read = read_told(files, notes, may_be_empty=remove_missing != "no")
    embeddings = load_model(embedding_model, notes)
    names = real_names(files)
    with progress_bar(notes, "Indexing files", read.names) as bar:
        how: dict[str, Any] = {
            "scope": index_label(names),
            "remove_missing": _MEANS[remove_missing],
            "show_progress": bar,
        }
        if place is not None:
            report = index_together(ray, place, read, embeddings, **how)
            where: dict[str, Any] = {"collection": place.collection}
        else:
            if chroma is not None:
                made = update(chroma, read, embeddings, collection=collection, **how)
            else:
                folder = directory or cache_folder()
                made = own_index(
                    names, read, embeddings, folder=folder, show_progress=bar
                )
            report = made.report
            where = {
                "directory": str(made.path),
                "collection": made.collection,
                "chunks": made.chunks,
            }
    if as_json:
        typer.echo(json.dumps(where | _values(report), indent=2))
    else:
        make_console().print(str(report), soft_wrap=True, markup=False)
    if report.failed:
        raise typer.Exit(1)


def _values(report: IndexingReport) -> dict[str, Any]:
    from oprag.calls import hide_secrets, read_error_message

    lists = ("added", "updated", "unchanged", "removed", "kept", "empty", "foreign")
    counts = ("chunks_added", "chunks_deleted", "chunks_unchanged", "chunks_foreign")
    return {
        **{name: list(getattr(report, name)) for name in lists},
        "failed": [
            {"file": each.name, "reason": hide_secrets(read_error_message(each.error))}
            for each in report.failed
        ],
        "skipped": [
            {"file": error.path, "reason": error.reason} for error in report.skipped
        ],
        **{name: getattr(report, name) for name in counts},
    }
