"""What has to change in a store so that it holds a document as it is now.

The store itself is the record of what was indexed. There is no second list that
could say something else after a crash.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, TypeAlias, TypedDict

from oprag.documents import StoredChunk
from oprag.errors import InvalidOptionError, UnreadableFileError, invalid_option
from oprag.metadata import (
    CHAR_END,
    CHAR_START,
    DOC_KEY,
    DOC_SCOPE,
    DOC_URI,
    DOC_VERSION,
    N_CHUNKS,
    OWN_KEYS,
    PART_INDEX,
    version_settings,
)

Replace: TypeAlias = Literal["document", "same_settings", "all"]
"""What is replaced by a document that is indexed: all that oprag stored of it; only its
chunks of the same splitter and settings; or all, whoever stored it."""


RemoveMissing: TypeAlias = bool | Literal["all"]
"""Whether documents that are not given are deleted; all of them if need be."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOptions:
    """How a store is brought up to date.

    Raises:
        InvalidOptionError: One has no such value.
    """

    scope: str = ""
    """What `oprag.indexing.source_scope` returns: whose documents are given."""
    remove_missing: RemoveMissing = False
    """Also delete what the store holds of documents of this scope that are not given,
    or are empty. Only chunks with oprag's `doc_key` and `doc_uri` are taken to be of a
    document. More than half of them only with `"all"`; likewise any, while another
    document failed."""
    replace: Replace = "document"
    """What is replaced of a document that is given."""
    batch_size: int = 256
    """Chunks that are embedded and written at once, at least 1."""

    def __post_init__(self) -> None:
        if type(self.batch_size) is not int or self.batch_size < 1:
            takes = "It takes a whole number of chunks from 1 on."
            raise invalid_option("batch_size", self.batch_size, takes)
        if self.replace not in {"document", "same_settings", "all"}:
            takes = "It takes 'document', 'same_settings' or 'all'."
            raise invalid_option("replace", self.replace, takes)
        if self.remove_missing not in {True, False, "all"}:
            takes = "It takes True, False or 'all'."
            raise invalid_option("remove_missing", self.remove_missing, takes)


class RunKeywords(TypedDict, total=False):
    """The same for type checkers; see `RunOptions`."""

    scope: str
    remove_missing: RemoveMissing
    replace: Replace
    batch_size: int


class WantedChunk(NamedTuple):
    """One chunk as the store is to hold it."""

    id: str
    """Of its document, version, index and metadata; see `oprag.metadata.indexed_id`."""
    text: str
    """The chunk's text."""
    metadata: Mapping[str, str | int | float]
    """Flat; see `oprag.indexing.flat`. `doc_key` among it."""
    source: Any = None
    """The framework's object that is handed to the store; None where it can be
    made of the rest."""
    other_id: str = ""
    """With oprag's own metadata in it as well. The chunk gets it
    where a chunk of another cut stands under `id`, which stays until this one is there:
    a splitter may cut the same text otherwise, and not say so."""


class WantedDocument(NamedTuple):
    """All chunks of one document."""

    name: str
    """The document's own name."""
    chunks: Sequence[WantedChunk]
    """In reading order; empty for a document without any text."""


class IndexingPlan(NamedTuple):
    """What to do in a store for one document: first add, then delete."""

    add: tuple[WantedChunk, ...]
    """Chunks whose ids are not there; in reading order, new pages last."""
    rewrite: tuple[WantedChunk, ...]
    """Chunks whose ids are there, but altered or several times."""
    delete: tuple[str, ...]
    """Ids that go, each once; those of pages that are no more first."""
    unchanged: int
    """Chunks that stay as they are."""

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to do."""
        return not (self.add or self.rewrite or self.delete)

    @property
    def outcome(self) -> str:
        """Which list of the report the document belongs to."""
        if self.is_empty:
            return "unchanged"
        changes = self.delete or self.rewrite or self.unchanged
        return "updated" if changes else "added"


def plan(
    doc_key: str,
    wanted: Sequence[WantedChunk],
    present: Sequence[StoredChunk],
    options: RunOptions,
) -> IndexingPlan:
    """Compare the chunks that a store should hold of a document with those it does.

    A chunk stays when id, text and metadata agree. Numbers agree by value, because
    some stores make floats of integers. Keys that are present and not wanted count
    only if they are oprag's: what the document's metadata lost is in another id, so
    all others are a store's or an application's.

    Args:
        doc_key: `oprag.metadata.document_key` of the document's name.
        wanted: All chunks of the document as it is now, no id twice; none for one
            that is to be removed.
        present: What the store gave for it, in any order. Chunks of other documents
            among it are passed over: some stores ignore filters.
        options: Those of the run.

    Returns:
        The plan. Carried out, and made anew, it is empty.
    """
    own = [chunk for chunk in present if chunk.metadata.get(DOC_KEY) == doc_key]
    if options.replace != "all":
        _refuse_other_scope(options.scope, own)
    if wanted and options.replace == "same_settings":
        settings = version_settings(wanted[0].metadata.get(DOC_VERSION))
        own = [
            chunk
            for chunk in own
            if version_settings(chunk.metadata.get(DOC_VERSION)) == settings
        ]
    by_id: dict[str, list[StoredChunk]] = {}
    for chunk in own:
        by_id.setdefault(chunk.id, []).append(chunk)
    found = [_with_rows(chunk, by_id) for chunk in wanted]
    rewrite = tuple(
        chunk
        for chunk, rows in found
        if rows and not (len(rows) == 1 and _same(chunk, rows[0]))
    )
    add = [chunk for chunk, rows in found if not rows]
    if "" in by_id:
        message = (
            f"The store does not give back the ids of its chunks with {DOC_KEY} "
            f"{doc_key}, so they cannot be deleted. Take another store."
        )
        raise InvalidOptionError(message, option="store", value=doc_key)
    # Of two versions that are there in part, neither may be of pages that the other
    # lacks: they would look like pages that were indexed one by one.
    parts = {chunk.metadata.get(PART_INDEX) for chunk in wanted}
    present_parts = {chunk.metadata.get(PART_INDEX) for chunk in own}
    add.sort(key=lambda chunk: chunk.metadata.get(PART_INDEX) not in present_parts)
    # Without its scope, what an interrupted run leaves would be nobody's.
    going = {id_: rows[0].metadata for id_, rows in by_id.items()}
    last = {
        id_: (m.get(PART_INDEX) in parts, DOC_SCOPE in m) for id_, m in going.items()
    }
    delete = sorted(last, key=last.__getitem__)
    unchanged = len(wanted) - len(add) - len(rewrite)
    return IndexingPlan(tuple(add), rewrite, tuple(delete), unchanged)


def _with_rows(
    chunk: WantedChunk, by_id: dict[str, list[StoredChunk]]
) -> tuple[WantedChunk, list[StoredChunk]]:
    """The chunk by the id that it has or gets, with what it takes the place of."""
    other = chunk._replace(id=chunk.other_id) if chunk.other_id else chunk
    rows, others = by_id.get(chunk.id, []), by_id.get(other.id, [])
    if not any(_same(chunk, row) for row in rows):
        is_there = any(_same(chunk, row) for row in others)
        recut = not others and any(_cut(row) != _cut(chunk) for row in rows)
        chunk = other if is_there or recut else chunk
    return chunk, by_id.pop(chunk.id, [])


def _cut(chunk: WantedChunk | StoredChunk) -> list[Any]:
    """What tells chunks of one number apart, if a text was cut in two ways."""
    return [*map(chunk.metadata.get, (CHAR_START, CHAR_END, N_CHUNKS))]


def _refuse_other_scope(scope: str, own: Sequence[StoredChunk]) -> None:
    for chunk in own:
        other, name = map(chunk.metadata.get, (DOC_SCOPE, DOC_URI))
        if isinstance(other, str) and other != scope:
            here = f"{scope!r}" if scope else "a list without scope="
            message = (
                f"Document {name!r} is in the store already, indexed from {other!r}; "
                f"this run is of {here}, and does not replace it. Give each folder a "
                "name of its own (scope='handbook'), by which its documents are named; "
                "documents of a list, rename. If this is the same source, in another "
                'place, pass replace="all" once.'
            )
            raise UnreadableFileError(
                message, path=str(name), reason="is of another scope"
            )


def _same(wanted: WantedChunk, present: StoredChunk) -> bool:
    if wanted.text != present.text:
        return False
    new, old = wanted.metadata, present.metadata
    if not all(_agree(value, old.get(key)) for key, value in new.items()):
        return False
    return not any(key not in new and old.get(key) is not None for key in OWN_KEYS)


def _agree(wanted: str | float, present: Any) -> bool:
    numeric = isinstance(wanted, (int, float)) and isinstance(present, (int, float))
    if numeric and (isinstance(wanted, float) or isinstance(present, float)):
        # An integer over 2^53 loses its last digits where it is made a float.
        return float(wanted) == float(present)
    return bool(wanted == present)
