"""A repair that needs no second one, takes no document away, and hides no damage."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from typing import NamedTuple

from oprag.diagnosing.planning import Change, difference
from oprag.diagnosing.wholeness import own_documents, readability
from oprag.documents import StoredChunk, is_own, read_versions, stored_hit
from oprag.errors import OpragError
from oprag.locating import squeeze
from oprag.metadata import DOC_KEY, STAMP_KEYS, document_key

_ROUNDS = 5
"""Plans that are made for one repair; the second one is usually empty."""


class Planned(NamedTuple):
    """What is to be written on one document, or on one version of it."""

    name: str
    ids: list[str]
    """All its chunks, in the order of the store."""
    changes: list[Change]
    source: str
    """The text that the changes are proved by."""


class Settled(NamedTuple):
    """What a repair writes, and what it does not."""

    changes: list[Change]
    """One per chunk to write, the chunks of a document together."""
    hiding: list[Change]
    """Held back, as damage would not be seen after it."""
    taking: list[Change]
    """Held back, as a document could not be read after it, or only less exactly."""


Plan = Callable[[Sequence[StoredChunk]], list[Planned]]
Judge = Callable[[Sequence[StoredChunk]], bool]


def settle(chunks: Sequence[StoredChunk], plan: Plan, is_damaged: Judge) -> Settled:
    """Plan until nothing is left to plan, and hold back what would do harm.

    What a plan writes may prove more, or show more to be false: a chunk that no longer
    counts from the start of a page is compared with the whole text. Where a document
    could be read, with `exact=False` at least, and could not be after it, or only less
    exactly, nothing is written on its chunks. Nor is it where a document is damaged,
    or would lose a stamp, unless its chunks give its source after it: places that fit
    a text that was cut are no places of the text that was indexed.

    Args:
        chunks: All chunks, each with its id.
        plan: Plans the repair of all documents that some chunks are of.
        is_damaged: Whether the chunks of a document show that it is.
    """
    before = {chunk.id: chunk for chunk in chunks}
    after = dict(before)
    documents: dict[str, str] = {}
    first = planned = plan(chunks)
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
        Change(id_, name, old, update)
        for id_, name in documents.items()
        if (update := difference(old := before[id_].metadata, after[id_].metadata))
    ]
    settled.sort(key=lambda change: ranks[change.document])
    names = {change.document for change in settled}
    hiding = {
        name
        for name, documents_ in _by_name(first, names).items()
        if _hides(name, documents_, before, after, is_damaged)
    }
    left = [change for change in settled if change.document not in hiding]
    taking = _harmful(before, after, left)
    return Settled(
        [change for change in left if change.document not in taking],
        [change for change in settled if change.document in hiding],
        [change for change in left if change.document in taking],
    )


def _written(chunk: StoredChunk, change: Change) -> StoredChunk:
    removed = {key for key, value in change.update.items() if value is None}
    metadata = {**chunk.metadata, **change.update}
    kept = {key: value for key, value in metadata.items() if key not in removed}
    return chunk._replace(metadata=kept)


def _by_name(
    planned: Sequence[Planned], names: Container[str]
) -> dict[str, list[Planned]]:
    """The versions of each document of these names."""
    versions: dict[str, list[Planned]] = {}
    for document in planned:
        if document.name in names:
            versions.setdefault(document.name, []).append(document)
    return versions


def _hides(
    name: str,
    versions: Sequence[Planned],
    before: Mapping[str, StoredChunk],
    after: Mapping[str, StoredChunk],
    is_damaged: Judge,
) -> bool:
    """Whether a document is not whole, and less would say so after its repair."""
    ids = [id_ for version in versions for id_ in version.ids]
    old, new = [before[id_] for id_ in ids], [after[id_] for id_ in ids]
    if _stamps(old) <= _stamps(new) and not is_damaged(old):
        return False
    try:
        text, _ = read_versions(name, new, exact=False)
    except OpragError:
        return True
    return squeeze(text.text) not in {squeeze(version.source) for version in versions}


def _stamps(chunks: Sequence[StoredChunk]) -> set[tuple[str, str]]:
    metadatas = [stored_hit(chunk).metadata for chunk in chunks]
    return {(k, str(m[k])) for m in metadatas for k in STAMP_KEYS if k in m}


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
