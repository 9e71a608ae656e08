"""`oprag doctor`: can this index be put in document order, and if not, repair it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from oprag.errors import count_nouns
from oprag_cli.messages import note, stop
from oprag_cli.options import OF_CHROMA, AsJson, Collection

if TYPE_CHECKING:
    from oprag.diagnosing import Diagnosis, RepairPlan
    from oprag.stores import StoredChunk
    from oprag_cli.chroma_directory import ChromaDirectory


def doctor(
    directory: Annotated[
        Path,
        typer.Argument(
            metavar="DIRECTORY", help="A Chroma directory.", show_default=False
        ),
    ],
    *,
    collection: Collection = "",
    documents: Annotated[
        Path | None,
        typer.Option(
            exists=True,
            file_okay=False,
            help="Folder of the files that were indexed, to prove every position.",
        ),
    ] = None,
    sample: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Look at this many chunks, and at whole documents where these say "
            "too little; by default at all.",
        ),
    ] = None,
    position_keys: Annotated[
        list[str] | None,
        typer.Option(
            "--position-key",
            help="The metadata key of the position. May be repeated: the part first.",
        ),
    ] = None,
    document_key: Annotated[
        str | None, typer.Option(help="The metadata key that names the document.")
    ] = None,
    repair: Annotated[
        bool,
        typer.Option(
            "--repair", help="Show the proved positions that a repair would write."
        ),
    ] = False,
    write: Annotated[
        bool, typer.Option("--write", help="With --repair: back up, then write.")
    ] = False,
    restore: Annotated[
        Path | None,
        typer.Option(
            exists=True, dir_okay=False, help="Restore what a backup file holds."
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Check whether an index has an order, and repair it.

    Reads any Chroma directory: written with LangChain, LlamaIndex or chromadb. Given
    the files, it proves every position; a repair writes only proved ones, and only
    metadata: texts and embeddings stay as they are.

    Exit codes: 0, the index is in order, or a backup was restored; 1, there are
    problems, or it cannot be read; 2, the command is wrong.

    \b
      oprag doctor chroma/
      oprag doctor chroma/ --documents texts/
      oprag doctor chroma/ --documents texts/ --repair
      oprag doctor chroma/ --documents texts/ --repair --write
      oprag doctor chroma/ --restore chroma/oprag-backups/FILE.jsonl
    """  # noqa: D301 -- Click leaves paragraphs alone that begin with this character
    _check_options(documents, sample, repair=repair, write=write)
    if not directory.exists():
        raise stop(f"{directory} does not exist. {OF_CHROMA}", 2)

    from oprag.diagnosing import diagnose, plan_repair
    from oprag_cli.chroma_directory import open_directory
    from oprag_cli.folder_texts import FolderTexts

    store = open_directory(directory, collection)
    if restore is not None:
        count = store.restore(restore)
        note(
            f"Restored from the backup: {count_nouns(count, 'chunk')} of "
            f"{store.name!r}."
        )
    options: dict[str, Any] = {
        "position_keys": position_keys or None,
        "document_key": document_key,
    }
    texts = None if documents is None else FolderTexts(documents)
    plan = None
    backup = None
    if repair and texts is not None:
        with _read(store) as chunks:
            plan = plan_repair(chunks, texts, **options)
        diagnosis = plan.diagnosis
        if write and plan.changes:
            backup = _write(store, plan)
            with _read(store) as chunks:
                diagnosis = diagnose(chunks, documents=texts, **options)
    else:
        with _read(store, sample) as chunks:
            diagnosis = diagnose(
                chunks, documents=texts, sample=sample, total=store.count, **options
            )
    if as_json:
        typer.echo(json.dumps(_values(store, diagnosis, plan, backup), indent=2))
    else:
        _show(store, diagnosis, plan, backup)
    # A restored index is as before, perhaps with the faults that the repair was for.
    if not diagnosis.healthy and (restore is None or repair):
        raise typer.Exit(1)


def _check_options(
    documents: Path | None, sample: int | None, *, repair: bool, write: bool
) -> None:
    if write and not repair:
        raise stop("--write belongs to --repair.", 2)
    if repair and documents is None:
        raise stop("--repair needs the files that were indexed: --documents.", 2)
    if repair and sample is not None:
        raise stop("--repair looks at all chunks; leave --sample out.", 2)


@contextmanager
def _read(
    store: ChromaDirectory, sample: int | None = None
) -> Iterator[Iterator[StoredChunk]]:
    """Give the chunks, with a bar on a terminal until they are examined."""
    from oprag_cli.display import make_console, progress_bar

    total = sample or store.count()
    with progress_bar(make_console(stderr=True), "Examining chunks") as report:

        def read() -> Iterator[StoredChunk]:
            for number, chunk in enumerate(store.read(), start=1):
                report(number, total)
                yield chunk

        yield read()


def _write(store: ChromaDirectory, plan: RepairPlan) -> Path:
    from oprag_cli.display import make_console, progress_bar

    backup = store.back_up(plan.changes)
    note(f"Backup of the metadata as they were: {backup}")
    console = make_console(stderr=True)
    with progress_bar(console, "Repairing chunks") as report:
        store.write(plan.changes, lambda done: report(done, len(plan.changes)))
    return backup


def _show(
    store: ChromaDirectory,
    diagnosis: Diagnosis,
    plan: RepairPlan | None,
    backup: Path | None,
) -> None:
    from rich.text import Text

    from oprag_cli.display import make_console
    from oprag_cli.doctor_display import diagnosis_lines, next_step, plan_lines

    lines = list(diagnosis_lines(diagnosis, f"Collection {store.name!r}"))
    repairing = plan is not None
    if step := next_step(diagnosis, repairing=repairing):
        lines.append(Text(f"\nWhat to do: {step}"))
    if plan is not None:
        lines += plan_lines(plan, written=backup is not None)
    console = make_console()
    for line in lines:
        console.print(line, soft_wrap=True)


def _values(
    store: ChromaDirectory,
    diagnosis: Diagnosis,
    plan: RepairPlan | None,
    backup: Path | None,
) -> dict[str, Any]:
    values: dict[str, Any] = {"collection": store.name, **diagnosis.to_dict()}
    if plan is not None:
        values["repair"] = {
            "written": backup is not None,
            "backup": None if backup is None else str(backup),
            "changes": [
                {
                    "id": change.id,
                    "document": change.document,
                    "update": dict(change.update),
                }
                for change in plan.changes
            ],
            "unproved": [
                {"id": chunk.chunk, "document": chunk.document, "why": chunk.detail}
                for chunk in plan.unproved
            ],
        }
    return values
