"""The full document out of a store's chunks, verified, or an error.

Stores truncate, ignore filters, keep old versions, and return chunks in any order. So
everything is checked: chunks of other documents are dropped, repeated ones counted
once, every `chunk_index` must be there, and the texts are joined by their offsets.
Text after the last chunk cannot be seen: oprag's splitters leave none, splitters that
strip white space leave some.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Sequence
from itertools import groupby, pairwise
from operator import itemgetter
from typing import NamedTuple

from oprag.documents.refusing import inconsistent, missing_chunks, no_chunks
from oprag.documents.rejoining import join_pieces
from oprag.documents.search_filters import (
    SearchFilter,
    contradicts,
    filtered,
    unseen_filter,
)
from oprag.documents.sources import PART_SEPARATOR, DocumentSource
from oprag.documents.stored_chunks import ChunkStore, StoredChunk
from oprag.documents.stored_pieces import Piece, read_pieces
from oprag.errors import (
    AmbiguousPositionError,
    IncompleteDocumentError,
    InconsistentChunksError,
)
from oprag.metadata import (
    CHUNK_INDEX,
    DOC_KEY,
    DOC_VERSION,
    N_CHUNKS,
    PART_INDEX,
    TOKEN_COUNTER,
    document_key,
    version_text,
)
from oprag.positions import as_number


class Rebuilt(NamedTuple):
    """A document put back together."""

    text: str
    """All of it: the parts with a separator between them."""
    exact: bool
    """Whether every character comes from a chunk, each at its place: then the text is
    the source, byte for byte. If not, white space between chunks was made up, and the
    text is the source up to white space."""
    parts: tuple[str, ...]
    """The texts of its parts (pages, rows, sections) in reading order, without those
    that have no chunk; one for a document that was one text."""


def rebuild(
    name: str,
    chunks: Iterable[StoredChunk],
    *,
    max_gap: int = 8,
    part_separator: str = PART_SEPARATOR,
    where: str = "the store",
) -> Rebuilt:
    """Put a document back together from its chunks.

    Overlaps are resolved by arithmetic on `char_start` and `char_end`. Between chunks
    that do not touch stands white space as long as the gap (one or two line breaks,
    then blanks), so that every offset still points to its chunk.

    Args:
        name: The document's name, its `doc_uri`.
        chunks: All its chunks, in any order. Repeated chunks and those of other
            documents do no harm. Integers may have become floats. Of chunks of
            several sizes those of one size are taken.
        max_gap: Characters that may be missing between two chunks, and before the
            first: splitters strip white space there. As many as the widest white
            space inside the two chunks may be missing in any case, as texts that are
            indented need it.
        part_separator: Between parts (`part_index`), whose offsets begin anew. What
            stood between them is in no chunk.
        where: What the chunks come from, for messages.

    Returns:
        The whole document.

    Raises:
        DocumentNotFoundError: No chunk is of this document.
        IncompleteDocumentError: Chunks are missing, or more than `max_gap`
            characters between two chunks.
        InconsistentChunksError: The chunks cannot all be of one text.
        AmbiguousPositionError: Different texts have the same `chunk_index`.
        ConflictingTextError: Overlapping texts differ.
        MissingPositionError: A chunk lacks `chunk_index`, `n_chunks`, `char_start` or
            `char_end`, or one is no number.
        InvalidSpanError: A chunk ends before it begins.
    """
    own = list(chunks)
    version: list[StoredChunk] | None = own
    key = document_key(name)
    if len({chunk.metadata.get(DOC_VERSION) for chunk in own}) > 1:
        own = [chunk for chunk in own if chunk.metadata.get(DOC_KEY) == key]
        version = _one_version(own)
    pieces = read_pieces(name, own if version is None else version)
    if not pieces:
        raise no_chunks(name, where)
    _require_all(name, pieces, where)
    if version is None:
        what = "its chunks are of several versions (doc_version)"
        raise inconsistent(name, what, [piece[0] for piece in pieces])
    rows = _in_parts(name, pieces)
    gap = None if any(_is_ours(chunk, key) for chunk in version) else max_gap
    joined = [join_pieces(name, row, max_gap=gap) for row in rows]
    texts = tuple(text for text, _ in joined)
    return Rebuilt(part_separator.join(texts), all(e for _, e in joined), texts)


def _is_ours(chunk: StoredChunk, key: str) -> bool:
    """Whether oprag's own splitters made it: they alone write `token_counter`."""
    return TOKEN_COUNTER in chunk.metadata and chunk.metadata.get(DOC_KEY) == key


def _one_version(chunks: Sequence[StoredChunk]) -> list[StoredChunk] | None:
    """Return the chunks of one version of a document, and never of two.

    Chunks of two sizes live side by side; an interrupted run may leave those of two
    texts.

    Args:
        chunks: All of one document.

    Returns:
        All of them if they are of one version. Else those of the version that is
        complete; of several complete ones of the same text one of oprag's own
        splitters, with the fewest chunks. None where that does not settle it: none is
        complete, two are of different texts, or another one has parts that it lacks.
    """
    versions: dict[str, list[StoredChunk]] = {}
    for chunk in chunks:
        version = str(chunk.metadata.get(DOC_VERSION) or "")
        versions.setdefault(version, []).append(chunk)
    if len(versions) <= 1:
        return list(chunks)
    complete = [version for version in versions if _is_complete(versions[version])]
    if len({version_text(version) for version in complete}) != 1:
        return None
    # Those of oprag's own splitters first: they leave nothing out.
    foreign = {v: TOKEN_COUNTER not in versions[v][0].metadata for v in complete}
    best = min(complete, key=lambda v: (foreign[v], len(versions[v]), v))
    parts = {chunk.metadata.get(PART_INDEX) for chunk in versions[best]}
    if any(chunk.metadata.get(PART_INDEX) not in parts for chunk in chunks):
        return None
    return versions[best]


def _is_complete(chunks: Sequence[StoredChunk]) -> bool:
    totals = {as_number(chunk.metadata.get(N_CHUNKS)) for chunk in chunks}
    indexes = {as_number(chunk.metadata.get(CHUNK_INDEX)) for chunk in chunks}
    return totals == {len(indexes)} and indexes == set(range(len(indexes)))


def _require_all(name: str, pieces: Sequence[Piece], where: str) -> None:
    """Every index from 0 to `n_chunks` - 1, and only these, must be there."""
    totals = sorted({piece[1] for piece in pieces})
    total, last = totals[0], pieces[-1][0]
    if len(totals) > 1:
        odd = [piece[0] for piece in pieces if piece[1] != pieces[0][1]]
        what = f"some of its chunks are of {total:,}, others of {totals[-1]:,}"
        raise inconsistent(name, what, odd)
    if last >= total:
        what = f"chunk {last:,} is there, and n_chunks says {total:,}"
        raise inconsistent(name, what, (last,))
    if len(pieces) < total:
        raise missing_chunks(name, [piece[0] for piece in pieces], total, where)


def _in_parts(name: str, pieces: Sequence[Piece]) -> list[list[Piece]]:
    """The pieces of each part. Either all have a part, ascending, or none has."""
    rows = [list(row) for _, row in groupby(pieces, key=itemgetter(4))]
    for before, row in pairwise(rows):
        left, right = before[-1][4], row[0][4]
        if left is None or right is None or left > right:
            numbers = before[-1][0], row[0][0]
            what = f"part_index of chunk {numbers[0]} is {left}, of the next {right}"
            raise inconsistent(name, what, numbers)
    return rows


class StoreSource(DocumentSource):
    """Puts each document together from the chunks that a store holds of it.

    Nothing is kept: every call reads the chunks anew, as the store has them then.

    Args:
        store: The store.
        max_gap: See `oprag.documents.rebuild`.
        part_separator: Likewise.
    """

    def __init__(
        self,
        store: ChunkStore,
        *,
        max_gap: int = 8,
        part_separator: str = PART_SEPARATOR,
    ) -> None:
        self._store = store
        self._max_gap = max_gap
        self._part_separator = part_separator
        self._ids: frozenset[str] | None = None

    def get(self, document_id: str) -> str:
        """Return the full text of one document.

        Args:
            document_id: The document's name, its `doc_uri`.

        Raises:
            DocumentNotFoundError: No chunk in the store is of this document.
            FilteredDocumentError: A filter of the search hides chunks of it.
            IncompleteDocumentError: The store does not give all of it.
            PositionError: Its chunks contradict each other, or lack positions; see
                `oprag.documents.rebuild`.
        """
        return self.rebuild(document_id).text

    async def aget(self, document_id: str) -> str:
        """Async version of `get`, the way the store does it without blocking."""
        return (await self.arebuild(document_id)).text

    def rebuild(self, document_id: str) -> Rebuilt:
        """Return the text, its parts, and whether it is exact; else as `get`."""
        chunks = self._store.fetch(document_key(document_id))
        return self._rebuilt(document_id, chunks)

    async def arebuild(self, document_id: str) -> Rebuilt:
        """Async version of `rebuild`, the way the store does it without blocking."""
        chunks = await self._store.afetch(document_key(document_id))
        return self._rebuilt(document_id, chunks)

    def within(self, search: SearchFilter) -> StoreSource:
        """Return a source that reads only the chunks that the search may find."""
        if search.unseen is not None:
            raise unseen_filter(search.unseen, self._store.name)
        restricted = copy.copy(self)
        if search.where is not None:
            restricted._store = self._store.within(search.where)  # noqa: SLF001 -- our own copy
        if search.ids is not None:
            restricted._ids = search.ids  # noqa: SLF001 -- as above
        return restricted

    def _rebuilt(self, document_id: str, chunks: list[StoredChunk]) -> Rebuilt:
        filters, ids = self._store.filters, self._ids
        where = self._store.name
        if restricted := bool(filters) or ids is not None:
            where += " within the search's filter"
            chunks = [
                chunk
                for chunk in chunks
                if not any(contradicts(each, chunk.metadata) for each in filters)
                and (ids is None or chunk.id in ids)
            ]
        try:
            return rebuild(
                document_id,
                chunks,
                max_gap=self._max_gap,
                part_separator=self._part_separator,
                where=where,
            )
        except (
            AmbiguousPositionError,
            IncompleteDocumentError,
            InconsistentChunksError,
        ) as error:
            # So do chunks look of which a filter hides some. It cannot open a gap
            # where all of them are there.
            if not restricted or getattr(error, "gap", None) is not None:
                raise
            raise filtered(document_id) from error
