"""A Chroma collection on disk, written by anybody: read, changed, backed up, restored.

Only metadata are ever written. Texts and embeddings stay unchanged.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import chromadb
from chromadb.config import Settings
from chromadb.errors import ChromaError

from oprag.diagnosing import Change
from oprag.files import write_whole
from oprag.stores import ChromaChunks, StoredChunk
from oprag_cli.messages import stop
from oprag_cli.options import OF_CHROMA

DATABASE = "chroma.sqlite3"
"""The database file of a Chroma directory."""

_PAGE = 2_000
"""Chunks written per call."""

_WRITTEN = (
    "SELECT id, seq_id FROM segments JOIN max_seq_id ON segment_id = id "
    "WHERE scope = 'METADATA' AND collection = ?"
)
"""The number of the last write to a collection."""

_BACKUPS = "oprag-backups"
"""Folder inside the directory that backups are kept in."""


class ChromaDirectory:
    """One collection in a Chroma directory.

    Args:
        directory: The folder that holds `chroma.sqlite3`.
        collection: The collection, opened.
    """

    def __init__(self, directory: Path, collection: Any) -> None:
        self.directory = directory
        self.name = str(collection.name)
        self._collection = collection
        self._seen: object = None

    @property
    def space(self) -> str:
        """Its measure of distance: `cosine`, `l2` or `ip`."""
        kinds = self._collection.configuration_json
        return str((kinds.get("hnsw") or kinds.get("spann") or {}).get("space"))

    def sign(self) -> object:
        """Return a value that every write to it changes, and no reader.

        Chroma numbers its writes. The time of its file also changes when another
        process opens the directory.
        """
        try:
            with closing(_read_only(self.directory, "mode=ro")) as database:
                asked = database.execute(_WRITTEN, [str(self._collection.id)])
                self._seen = sorted(asked.fetchall())
        except sqlite3.Error:
            pass  # somebody is writing: the write is seen the next time
        return self._seen

    def count(self) -> int:
        """Return the number of chunks in it."""
        return int(self._collection.count())

    def read(self) -> Iterator[StoredChunk]:
        """Yield all chunks, page by page, in the order in which they were added."""
        return ChromaChunks(self._collection).read()

    def back_up(self, changes: Sequence[Change]) -> Path:
        """Write the present ids and metadata of the chunks to be changed.

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
        """Write changes, page by page.

        Args:
            changes: The changes.
            on_progress: Called with the number of chunks written so far.
        """
        for start in range(0, len(changes), _PAGE):
            batch = changes[start : start + _PAGE]
            self._collection.update(
                ids=[change.id for change in batch],
                metadatas=[dict(change.update) for change in batch],
            )
            on_progress(start + len(batch))

    def restore(self, backup: Path) -> int:
        """Give chunks the metadata that a backup holds of them.

        Chunks that are no longer there are passed over.

        Returns:
            The number of chunks that were restored.

        Raises:
            typer.Exit: The file is no backup.
            OSError: It cannot be read.
        """
        kept: dict[str, Mapping[str, Any]] = {}
        with backup.open("rb") as file:
            for number, line in enumerate(file, start=1):
                try:
                    entry = json.loads(line)
                    kept[entry["id"]] = entry["metadata"]
                except (ValueError, KeyError, TypeError) as error:
                    told = f"{backup} is not a backup of oprag doctor (line {number})."
                    raise stop(told, 2) from error
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


def open_directory(directory: Path, name: str = "") -> ChromaDirectory:
    """Open a collection that is there; nothing is created.

    Args:
        directory: The folder that was given to Chroma.
        name: The collection; empty for the only one.

    Raises:
        typer.Exit: With code 2: there is no such directory or collection, or there
            are several and none was named; with code 1: Chroma cannot open it.
    """
    name = chosen_collection(directory, name)
    try:
        client = chromadb.PersistentClient(
            str(directory), settings=Settings(anonymized_telemetry=False)
        )
        # No embedding function: nothing is embedded here, and none is loaded.
        collection = client.get_collection(name, embedding_function=None)
    except ChromaError as error:
        raise stop(f"Chroma cannot open {directory}: {error}") from error
    return ChromaDirectory(directory, collection)


def chosen_collection(
    directory: Path, name: str = "", *, may_be_empty: bool = False
) -> str:
    """Return the name of a collection that is there.

    Chroma itself makes an index out of an empty file, or out of another database. So
    its file is read without Chroma, and stays unchanged, byte for byte.

    Args:
        directory: The folder that was given to Chroma.
        name: The collection; empty for the only one.
        may_be_empty: Whether there may be none; then its name is empty.

    Raises:
        typer.Exit: With code 2: there is no such directory or collection, or there
            are several and none was named.
    """
    if not (directory / DATABASE).is_file():
        message = (
            f"{directory} is not a Chroma directory: it has no {DATABASE}. {OF_CHROMA}"
        )
        raise stop(message, 2)
    # Without a lock, which would itself be a file, unless a writer has left one.
    is_written = (directory / f"{DATABASE}-wal").exists()
    how = "mode=ro" if is_written else "mode=ro&immutable=1"
    try:
        with closing(_read_only(directory, how)) as database:
            asked = database.execute("SELECT name FROM collections ORDER BY name")
            names = [str(found) for (found,) in asked]
    except sqlite3.Error as error:
        message = f"{directory / DATABASE} is not an index of Chroma: {error}."
        raise stop(message, 2) from error
    if may_be_empty and not names:
        return ""
    if not name and len(names) == 1:
        return names[0]
    if name not in names:
        there = ", ".join(map(repr, names)) or "none"
        asked_for = f"has no collection {name!r}" if name else "needs a --collection"
        raise stop(f"{directory} {asked_for}. Collections: {there}.", 2)
    return name


def _read_only(directory: Path, how: str) -> sqlite3.Connection:
    path = (directory / DATABASE).resolve()
    return sqlite3.connect(f"{path.as_uri()}?{how}", uri=True, timeout=0)
