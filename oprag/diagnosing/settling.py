"""A repair that needs no second one, and takes no document away that can be read."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from typing import NamedTuple

from oprag.diagnosing.planning import Change
from oprag.diagnosing.wholeness import own_documents, readability
from oprag.documents import StoredChunk, is_own
from oprag.metadata import DOC_KEY, document_key

_ROUNDS = 5
"""Plans that are made for one repair; the second one is usually empty."""


class Planned(NamedTuple):
    """What is to be written on one document, or on one version of it."""

    name: str
    ids: list[str]
    """All its chunks, in the order of the store."""
    changes: list[Change]


Plan = Callable[[Sequence[StoredChunk]], list[Planned]]


def settle(
    chunks: Sequence[StoredChunk], plan: Plan
) -> tuple[list[Change], list[Change]]:
    """Plan until nothing is left to plan, and hold back what would do harm.

    What a plan writes may prove more, or show more to be false: a chunk that no longer
    counts from the start of a page is compared with the whole text. Where a document
    could be read, with `exact=False` at least, and could not be after it, or only less
    exactly, nothing is written on its chunks.

    Args:
        chunks: All chunks, each with its id.
        plan: Plans the repair of all documents that some chunks are of.

    Returns:
        One change per chunk to write, the chunks of a document together; and those that
        are held back.
    """
    before = {chunk.id: chunk for chunk in chunks}
    after = dict(before)
    documents: dict[str, str] = {}
    planned = plan(chunks)
    for _ in range(_ROUNDS):
        changes = [change for document in planned for change in document.changes]
        if not changes:
            break
        for change in changes:
            after[change.id] = _written(after[change.id], change)
            documents[change.id] = change.document
        names = {change.document for change in changes}
        ids = {
            i for document in planned if document.name in names for i in document.ids
        }
        planned = plan([after[chunk.id] for chunk in chunks if chunk.id in ids])
    ranks = {name: rank for rank, name in enumerate(dict.fromkeys(documents.values()))}
    settled = [
        _change(before[id_], after[id_], name) for id_, name in documents.items()
    ]
    settled = [change for change in settled if change.update]
    settled.sort(key=lambda change: ranks[change.document])
    held = _harmful(before, after, settled)
    return (
        [change for change in settled if change.document not in held],
        [change for change in settled if change.document in held],
    )


def _written(chunk: StoredChunk, change: Change) -> StoredChunk:
    metadata = {**chunk.metadata, **change.update}
    removed = {key for key, value in change.update.items() if value is None}
    kept = {key: value for key, value in metadata.items() if key not in removed}
    return chunk._replace(metadata=kept)


def _change(before: StoredChunk, after: StoredChunk, document: str) -> Change:
    old, new = before.metadata, after.metadata
    changed = {k: v for k, v in new.items() if k not in old or old[k] != v}
    removed = dict.fromkeys(key for key in old if key not in new)
    return Change(before.id, document, old, {**changed, **removed})


def _harmful(
    before: Mapping[str, StoredChunk],
    after: Mapping[str, StoredChunk],
    changes: Sequence[Change],
) -> set[str]:
    """The documents whose repair would make one less readable.

    It may be another one, where the repair gives a chunk another document.
    """
    repairs: dict[str, set[str]] = {}  # by key of the document that is changed
    for change in changes:
        for metadata in (before[change.id].metadata, after[change.id].metadata):
            if is_own(metadata):
                repairs.setdefault(metadata[DOC_KEY], set()).add(change.document)
    was = _readable(before.values(), repairs)
    held: set[str] = set()
    while True:
        kept = [change for change in changes if change.document not in held]
        written = {**before, **{change.id: after[change.id] for change in kept}}
        now = _readable(written.values(), repairs)
        worse = [name for name, level in was.items() if now.get(name, 0) < level]
        found = {each for name in worse for each in repairs[document_key(name)]} - held
        if not found:
            return held
        held |= found


def _readable(chunks: Iterable[StoredChunk], keys: Container[str]) -> dict[str, int]:
    """How well each document of these keys can be read, by name; see `readability`."""
    own = [chunk for chunk in chunks if is_own(chunk.metadata)]
    own = [chunk for chunk in own if chunk.metadata[DOC_KEY] in keys]
    documents = own_documents(chunk.metadata for chunk in own)
    return {
        name: readability(name, [own[i] for i in members])
        for name, members in documents.items()
    }
