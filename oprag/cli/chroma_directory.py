"""A Chroma collection on disk, written by anybody: read, changed, backed up, restored.

Only metadata are ever written. Texts and embeddings stay as they are.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import chromadb
from chromadb.config import Settings
from chromadb.errors import ChromaError

from oprag.cli.telling import told
from oprag.diagnosing import Change
from oprag.documents import StoredChunk, chroma_rows
from oprag.files import write_whole

_PAGE = 2_000
"""Chunks written per call."""

_DATABASE = "chroma.sqlite3"
_TABLES = frozenset({"collections", "segments", "embeddings"})
"""What every version of Chroma that has this file keeps in it, among others."""

_WRITTEN = (
    "SELECT id, seq_id FROM segments JOIN max_seq_id ON segment_id = id "
    "WHERE scope = 'METADATA' AND collection = ?"
)
"""The number of the last write to a collection."""

_SHOWN = 3
"""Names of what a folder holds that a message tells."""

_BACKUPS = "oprag-backups"
"""Folder inside the directory that backups are kept in."""


class ChromaDirectory:
    """One collection in a Chroma directory.

    Args:
        directory: The folder that holds `chroma.sqlite3`.
        collection: The collection, opened.
        others: The names of all other collections there.
    """

    def __init__(
        self, directory: Path, collection: Any, others: Sequence[str] = ()
    ) -> None:
        self.directory = directory
        self.others = tuple(others)
        self.name = str(collection.name)
        self._collection = collection
        self._seen: object = None

    @property
    def space(self) -> str:
        """How it measures distance: `cosine`, `l2` or `ip`."""
        kinds = self._collection.configuration_json
        return str((kinds.get("hnsw") or kinds.get("spann") or {}).get("space"))

    def sign(self) -> object:
        """Return something that every write to it changes, and no reader.

        Chroma numbers what is written. The time of its file also changes when another
        process opens the directory.
        """
        path = (self.directory / _DATABASE).resolve()
        try:
            opened = sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True, timeout=0)
            with closing(opened) as database:
                asked = database.execute(_WRITTEN, [str(self._collection.id)])
                self._seen = sorted(asked.fetchall())
        except sqlite3.Error:
            pass  # somebody is writing: what is written is seen the next time
        return self._seen

    def count(self) -> int:
        """How many chunks it holds."""
        return int(self._collection.count())

    def read(self) -> Iterator[StoredChunk]:
        """All chunks, page by page, in the order in which they were added."""
        for text, metadata, chunk_id in chroma_rows(self._collection.get, ()):
            yield StoredChunk(text or "", metadata or {}, chunk_id)

    def back_up(self, changes: Sequence[Change]) -> Path:
        """Write the ids and metadata of the chunks to be changed, as they are now.

        Returns:
            The file: one JSON object a line. It is on the disk, whole, before this
            returns.

        Raises:
            OSError: It cannot be written.
        """
        folder = self.directory / _BACKUPS
        folder.mkdir(exist_ok=True)
        stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%S.%fZ")
        path = folder / f"{self.name}-{stamp}.jsonl"
        kept = ({"id": each.id, "metadata": dict(each.metadata)} for each in changes)
        lines = "".join(f"{json.dumps(line)}\n" for line in kept)
        write_whole(path, lines.encode("ascii"), shared=True)
        return path

    def write(
        self, changes: Sequence[Change], on_progress: Callable[[int], None]
    ) -> None:
        """Write changes; a document's chunks in one call where they are few enough.

        Args:
            changes: Those of a document together.
            on_progress: Called with the number of chunks written so far.
        """
        done = 0
        for batch in _batches(changes):
            self._collection.update(
                ids=[change.id for change in batch],
                metadatas=[dict(change.update) for change in batch],
            )
            done += len(batch)
            on_progress(done)

    def restore(self, backup: Path) -> int:
        """Give chunks the metadata that a backup holds of them.

        Chunks that are no longer there are passed over.

        Returns:
            How many chunks were restored.

        Raises:
            typer.Exit: The file is no backup.
            OSError: It cannot be read.
        """
        kept = dict(_backed_up(backup))
        changes = []
        for chunk in self.read():
            metadata = kept.get(chunk.id)
            if metadata is None or metadata == chunk.metadata:
                continue
            removed = [key for key in chunk.metadata if key not in metadata]
            update = {**metadata, **dict.fromkeys(removed)}
            changes.append(Change(chunk.id, "", chunk.metadata, update))
        self.write(changes, lambda _: None)
        return len(changes)


def _batches(changes: Sequence[Change]) -> Iterator[list[Change]]:
    """Runs of at most a page that do not cut a document that fits one."""
    batch: list[Change] = []
    document: list[Change] = []
    for change in changes:
        if document and document[0].document != change.document:
            batch, document = [*batch, *document], []
        document.append(change)
        if len(batch) + len(document) > _PAGE:
            if batch:
                yield batch
                batch = []
            else:
                yield document[:_PAGE]
                document = document[_PAGE:]
    if batch or document:
        yield [*batch, *document]


def _backed_up(backup: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    with backup.open(encoding="utf-8") as file:
        for number, line in enumerate(file, start=1):
            try:
                kept = json.loads(line)
                yield kept["id"], kept["metadata"]
            except (ValueError, KeyError, TypeError) as error:
                message = f"{backup} is no backup of oprag doctor (line {number})."
                raise told(message, 2) from error


def open_directory(directory: Path, name: str | None) -> ChromaDirectory:
    """Open a collection that is there; nothing is created.

    Chroma itself makes an index out of an empty file, or out of another database. So
    what is no index is told without it, and stays as it is, byte for byte.

    Args:
        directory: The folder that was given to Chroma.
        name: The collection; None for the only one.

    Raises:
        typer.Exit: With code 2: there is no such directory or collection, or there
            are several and none was named; with code 1: Chroma cannot open it.
    """
    _require_index(directory)
    with _opened(directory) as (client, names):
        if name is None and len(names) == 1:
            name = names[0]
        if name is None or name not in names:
            raise _which_collection(directory, name, names)
        # No embedding function: nothing is embedded here, and none is loaded.
        collection = client.get_collection(name, embedding_function=None)
        return ChromaDirectory(directory, collection, [n for n in names if n != name])


@contextmanager
def _opened(directory: Path) -> Iterator[tuple[Any, list[str]]]:
    """Yield Chroma's client of a directory and the names of the collections."""
    try:
        client = chromadb.PersistentClient(
            str(directory), settings=Settings(anonymized_telemetry=False)
        )
        yield client, sorted(each.name for each in client.list_collections())
    except ChromaError as error:
        raise told(f"Chroma cannot open {directory}: {error}") from error


def _require_index(directory: Path) -> None:
    path = directory / _DATABASE
    if not path.is_file():
        message = (
            f"{directory} is no Chroma directory: it {_contents(directory)}. Give the "
            "folder that was passed as persist_directory= or to PersistentClient."
        )
        raise told(message, 2)
    if not path.stat().st_size:
        message = (
            f"{directory} holds no index: its {_DATABASE} is empty (0 bytes). Index "
            "the documents, or give the folder of another index."
        )
        raise told(message, 2)
    # Without a lock, which would itself be a file, unless a writer has left one.
    how = "mode=ro" if Path(f"{path}-wal").exists() else "mode=ro&immutable=1"
    try:
        opened = sqlite3.connect(f"{path.resolve().as_uri()}?{how}", uri=True)
        with closing(opened) as database:
            tables = [
                str(name)
                for (name,) in database.execute(
                    "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name"
                )
            ]
    except sqlite3.Error as error:
        raise told(f"Chroma cannot open {directory}: {_DATABASE}: {error}") from error
    if not {*tables} >= _TABLES:
        what = f"the tables {_listed(tables)}" if tables else "no table"
        message = (
            f"{directory} holds no index: its {_DATABASE} is not Chroma's, as it has "
            f"{what}. Give the folder that was passed as persist_directory= or to "
            "PersistentClient."
        )
        raise told(message, 2)


def _contents(directory: Path) -> str:
    """What is there in the place of an index."""
    if directory.is_file():
        return "is a file"
    if not directory.is_dir():
        return "does not exist"
    names = sorted(path.name for path in directory.iterdir())
    if not names:
        return "is empty"
    inside = [name for name in names if (directory / name / _DATABASE).is_file()]
    found = f"holds no {_DATABASE}, but {_listed(names)}"
    return found + (f"; one is in {_listed(inside)}" if inside else "")


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - _SHOWN:,} more" if len(names) > _SHOWN else ""
    return ", ".join(map(repr, names[:_SHOWN])) + more


def only_collection(directory: Path) -> str | None:
    """Name the collection of a directory; None if it has none.

    Raises:
        typer.Exit: With code 2: there are several; with code 1: Chroma cannot open it.
    """
    with _opened(directory) as (_, names):
        if len(names) > 1:
            raise _which_collection(directory, None, names)
        return names[0] if names else None


def _which_collection(directory: Path, name: str | None, names: list[str]) -> Exception:
    if not names:
        message = (
            f"The Chroma index in {directory} holds no collection. Index the "
            "documents, or give the folder of another index."
        )
        return told(message, 2)
    there = ", ".join(map(repr, names))
    asked = "has several collections" if name is None else f"has no {name!r}"
    message = f"{directory} {asked}. Collections: {there}. Name one with --collection."
    return told(message, 2)
