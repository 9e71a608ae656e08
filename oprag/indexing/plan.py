"""The changes that bring a store up to date with a document.

The store itself is the record of what was indexed. There is no second list that
could disagree with it after a crash.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count, islice
from typing import Any, Literal, NamedTuple, TypeAlias

from oprag.errors import (
    InvalidOptionError,
    TokenizerError,
    UnreadableFileError,
    invalid_option,
)
from oprag.metadata import (
    CHUNK_INDEX,
    DOC_KEY,
    DOC_SCOPE,
    DOC_URI,
    DOC_VERSION,
    OWN_KEYS,
    PART_INDEX,
    TOKEN_COUNTER,
    as_number,
    make_named_id,
    version_settings,
)
from oprag.stores import StoredChunk
from oprag.tokens import DEFAULT_COUNTER

Replace: TypeAlias = Literal["document", "same_settings", "all"]
"""The chunks that an indexed document replaces: all that oprag stored of it; only those
of the same splitter and settings; or all, even other programs' (added by the run)."""


Outcome: TypeAlias = Literal[
    "added", "updated", "unchanged", "removed", "empty", "kept"
]
"""The field of the report that lists a document that did not fail."""


RemoveMissing: TypeAlias = bool | Literal["all"]
"""Whether documents that are not given are deleted; `"all"` sets no limit on them."""


_TRIED = 8
"""The most ids a chunk is looked for under: each interrupted run may have taken one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOptions:
    """The options of a run that brings a store up to date.

    Raises:
        InvalidOptionError: One has no such value.
    """

    scope: str = ""
    """The scope of the documents, as `oprag.indexing.source_scope` returns it."""
    remove_missing: RemoveMissing = False
    """Also delete the store's chunks of documents of this scope that are not given, or
    are empty. Only chunks with oprag's `doc_key` and `doc_uri` count as a document's.
    Only `"all"` deletes more than half of the documents, or deletes any after others
    failed or could not be opened."""
    replace: Replace = "document"
    """The chunks of a given document that are replaced."""
    batch_size: int = 256
    """Chunks that are embedded and written at once, at least 1."""

    def __post_init__(self) -> None:
        if type(self.batch_size) is not int or self.batch_size < 1:
            takes = "It takes a whole number of chunks from 1 on."
            raise invalid_option("batch_size", self.batch_size, takes)
        if self.replace not in ("document", "same_settings", "all"):
            takes = "It takes 'document', 'same_settings' or 'all'."
            raise invalid_option("replace", self.replace, takes)
        if self.remove_missing not in (True, False, "all"):
            takes = "It takes True, False or 'all'."
            raise invalid_option("remove_missing", self.remove_missing, takes)


class WantedChunk(NamedTuple):
    """One chunk that the store is to hold."""

    id: str
    """A hash of document, version, index, metadata; see
    `oprag.metadata.make_indexed_id`. Empty until it is indexed."""
    text: str
    """The chunk's text."""
    metadata: Mapping[str, str | int | float]
    """Flat, with `doc_key`; see `oprag.indexing.flat`."""
    source: Any = None
    """The framework's object that is handed to the store; None if it can be made of the
    other fields."""


class WantedDocument(NamedTuple):
    """All chunks of one document."""

    name: str
    """The document's name."""
    chunks: Sequence[WantedChunk]
    """In reading order; empty for a document without any text."""
    is_estimated: bool = False
    """Whether an estimate decided the cuts, because cl100k could not be loaded."""


class IndexingPlan(NamedTuple):
    """The changes to a store for one document: first add, then delete."""

    add: tuple[WantedChunk, ...]
    """Chunks to add, under free ids; in reading order, new pages last."""
    delete: tuple[str, ...]
    """Ids to delete, each once; those of removed pages first."""
    unchanged: int
    """Chunks that stay unchanged."""

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to do."""
        return not (self.add or self.delete)

    @property
    def outcome(self) -> Outcome:
        """The outcome of this document, unless it is removed."""
        if self.is_empty:
            return "unchanged"
        return "updated" if self.delete or self.unchanged else "added"


def plan(
    doc_key: str,
    wanted: Sequence[WantedChunk],
    present: Sequence[StoredChunk],
    options: RunOptions,
) -> IndexingPlan:
    """Compare the chunks that a store should hold of a document with those it holds.

    A chunk stays if its id (the chunk's, or one derived from it), text and metadata
    agree. Numbers agree by value, because some stores make floats of integers. A stored
    key that is not wanted counts only if it is oprag's; any other is the store's or the
    application's. Another chunk may have the id already, such as another cut of the
    text. Then the new one gets an id derived from it, and both exist until the old one
    is deleted.

    Args:
        doc_key: `oprag.metadata.document_key` of the document's name.
        wanted: All chunks of the document's present text, no id twice; none for a
            document that is to be removed.
        present: Chunks that the store gave for it, in any order. Those of other
            documents are passed over, because some stores ignore filters.
        options: Those of the run.

    Returns:
        The plan. Once it was carried out, the next one is empty.
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
    times = Counter(chunk.id for chunk in own)
    if "" in times:
        message = (
            f"The store does not give back the ids of its chunks with {DOC_KEY} "
            f"{doc_key}, so they cannot be deleted. Take another store."
        )
        raise InvalidOptionError(message, option="store", value=doc_key)
    rows: dict[Any, dict[str, StoredChunk]] = {}
    for row in own:
        if times[row.id] == 1:
            rows.setdefault(_version_and_index(row), {})[row.id] = row
    add, stay = [], set()
    for chunk in wanted:
        there = rows.get(_version_and_index(chunk), {})
        tried = filter(there.__contains__, islice(_ids(chunk.id), _TRIED))
        same = next((each for each in tried if _same(chunk, there[each])), None)
        if same:
            stay.add(same)
        else:
            free = next(id_ for id_ in _ids(chunk.id) if id_ not in times)
            add.append(chunk._replace(id=free))
    # If a run is interrupted, the two versions must not have different pages, or they
    # would look like pages that were indexed one by one.
    parts = {chunk.metadata.get(PART_INDEX) for chunk in wanted}
    present_parts = {row.metadata.get(PART_INDEX) for row in own}
    add.sort(key=lambda chunk: chunk.metadata.get(PART_INDEX) not in present_parts)
    # Chunks with a scope are deleted last, so that an interrupted run leaves some.
    delete_order = {
        row.id: (row.metadata.get(PART_INDEX) in parts, DOC_SCOPE in row.metadata)
        for row in own
        if row.id not in stay
    }
    delete = sorted(delete_order, key=delete_order.__getitem__)
    return IndexingPlan(tuple(add), tuple(delete), len(stay))


def refuse_cut_by_default(name: str, present: Sequence[StoredChunk]) -> None:
    """Refuse to replace chunks that cl100k cut by those that an estimate cuts.

    Otherwise one day without a network would embed a whole store anew, and the next day
    once more.

    Raises:
        TokenizerError: The store holds such chunks.
    """
    if any(chunk.metadata.get(TOKEN_COUNTER) == DEFAULT_COUNTER for chunk in present):
        message = (
            f"The chunks of {name!r} in the store were cut by {DEFAULT_COUNTER}, which "
            "cannot be loaded now, so an estimate would cut and embed them anew. "
            "Install tiktoken and llama-index-core (it carries the file), connect "
            "once, or, to have them cut by the estimate from now on, pass "
            "tokenizer='approximate'."
        )
        raise TokenizerError(message, tokenizer=DEFAULT_COUNTER)


def _ids(chunk_id: str) -> Iterator[str]:
    """Yield the id of a chunk, then those to use if another chunk has it."""
    yield chunk_id
    for number in count(1):
        yield make_named_id(f"{chunk_id}\n{number}")


def _version_and_index(chunk: WantedChunk | StoredChunk) -> tuple[str, int | None]:
    """Return a key that is the same for chunks that agree."""
    version, index = map(chunk.metadata.get, (DOC_VERSION, CHUNK_INDEX))
    return str(version or ""), as_number(index)


def _refuse_other_scope(scope: str, own: Sequence[StoredChunk]) -> None:
    for chunk in own:
        other, name = map(chunk.metadata.get, (DOC_SCOPE, DOC_URI))
        if isinstance(other, str) and other != scope:
            here = f"{scope!r}" if scope else "a list without scope="
            message = (
                f"Document {name!r} is in the store already, indexed from {other!r}; "
                f"this run is of {here}, and does not replace it. Give each folder a "
                "name of its own (scope='handbook'), by which its documents are named; "
                "rename documents given as a list. If this is the same source, in "
                'another place, pass replace="all" once.'
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
        # An integer over 2^53 loses its last digits as a float.
        return float(wanted) == float(present)
    return bool(wanted == present)
