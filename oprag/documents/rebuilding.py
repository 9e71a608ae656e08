"""The full document out of a store's chunks, whole and proved, or an error.

Stores truncate, ignore filters, keep old versions, and return chunks in any order. So
everything is checked: chunks of other documents are dropped, repeated ones counted
once, every `chunk_index` must be there, the texts are joined by their offsets, and what
comes out must have the length and the hash that were written when the document was
split (`oprag.metadata.text_stamp`).
"""

from __future__ import annotations

import copy
import warnings
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby, pairwise
from operator import attrgetter, itemgetter
from typing import Any

from oprag.chunk import FullText
from oprag.documents.refusing import inconsistent, missing_chunks, no_chunks, unproved
from oprag.documents.rejoining import join_part
from oprag.documents.search_filters import SearchFilter, filtered, unseen_filter
from oprag.documents.searched_chunks import admitted
from oprag.documents.sources import PART_SEPARATOR, DocumentSource
from oprag.documents.stored_chunks import ChunkStore, Piece, StoredChunk
from oprag.documents.stored_pieces import read_pieces, read_stamps
from oprag.errors import (
    AmbiguousPositionError,
    IncompleteDocumentError,
    InconsistentChunksError,
    MixedVersionsWarning,
    PositionError,
)
from oprag.metadata import (
    CHUNK_INDEX,
    DOC_KEY,
    DOC_VERSION,
    N_CHUNKS,
    PART_INDEX,
    document_key,
    version_of_hashes,
    version_text,
)
from oprag.positions import as_number


def rebuild(
    name: str,
    chunks: Iterable[StoredChunk],
    *,
    exact: bool = True,
    part_separator: str = PART_SEPARATOR,
    where: str = "the store",
) -> FullText:
    """Put a document back together from its chunks.

    Overlaps are resolved by arithmetic on `char_start` and `char_end`. Of chunks of
    several versions only those of one are taken, of which all are there.

    Args:
        name: The document's name, its `doc_uri`.
        chunks: All its chunks, in any order. Repeated chunks and those of other
            documents do no harm. Integers may have become floats.
        exact: Whether only the exact text will do. If not, two others are given as
            well, with `FullText.exact` False. Of chunks of another splitter, which
            drops white space: the text of which all but white space is proved; in each
            gap stands white space as long as it. Of chunks without the length and the
            hash of their text, as written by earlier versions: what they are, where
            they leave no gap.
        part_separator: Between parts (`part_index`), whose offsets begin anew. What
            stood between them is in no chunk.
        where: What the chunks come from, for messages.

    Returns:
        The whole document.

    Raises:
        DocumentNotFoundError: No chunk is of this document.
        IncompleteDocumentError: Chunks are missing, or characters that no chunk holds,
            or what would show that none are.
        InconsistentChunksError: The chunks cannot all be of one text, or are not of the
            text that was split.
        AmbiguousPositionError: Different texts have the same `chunk_index`.
        ConflictingTextError: Overlapping texts differ.
        MissingPositionError: A chunk lacks `chunk_index`, `n_chunks`, `char_start` or
            `char_end`, or one is no number.
        InvalidSpanError: A chunk ends before it begins.

    Warns:
        MixedVersionsWarning: Two versions with different texts are there, both whole,
            as they are left by an interrupted indexing, or by one of only one size.
            Which one is given is the same every time; it need not be the newer.
    """
    text, several = read_versions(
        name, chunks, exact=exact, part_separator=part_separator, where=where
    )
    if several > 1:
        message = (
            f"Document {name!r}: the store holds {several} versions of it with "
            "different texts, each of them whole, as an interrupted indexing leaves "
            "them, or one that was not repeated for every size. One is read, which "
            "need not be the newer. Index the document again, in every size."
        )
        warnings.warn(message, MixedVersionsWarning, stacklevel=2)
    return text


def read_versions(
    name: str,
    chunks: Iterable[StoredChunk],
    *,
    exact: bool = True,
    part_separator: str = PART_SEPARATOR,
    where: str = "the store",
) -> tuple[FullText, int]:
    """Do what `rebuild` does, and return what it warns of instead.

    Returns:
        The whole document, and of how many versions with different texts it is one:
        1 where all that are read have the same text.
    """
    key = document_key(name)
    own = [chunk for chunk in chunks if chunk.metadata.get(DOC_KEY) == key]
    if not own:
        raise no_chunks(name, where)
    versions = {
        version: [own[i] for i in members]
        for version, members in by_version(chunk.metadata for chunk in own).items()
    }
    if len(versions) > 1:
        where += f", with chunks of {len(versions)} versions of it (doc_version),"
    found: dict[str, FullText] = {}
    failures: dict[str, Exception] = {}
    for version in _whole_versions(name, versions):
        try:
            joined = _joined(name, versions[version], where, exact=exact)
        except (IncompleteDocumentError, PositionError) as error:
            failures[version] = error
        else:
            text = part_separator.join(joined.parts)
            found[version] = joined._replace(text=text)
    several = _count_texts(found, failures)
    return max(found.values(), key=attrgetter("exact")), several  # the first of equals


def by_version(metadatas: Iterable[Mapping[str, Any]]) -> dict[str, list[int]]:
    """Return the numbers of the chunks of each version, by its `doc_version`."""
    versions: dict[str, list[int]] = {}
    for number, metadata in enumerate(metadatas):
        version = str(metadata.get(DOC_VERSION) or "")
        versions.setdefault(version, []).append(number)
    return versions


def _whole_versions(
    name: str, versions: Mapping[str, Sequence[StoredChunk]]
) -> list[str]:
    """The versions of which all chunks are there, those of fewest chunks first.

    Chunks of two sizes live side by side; an interrupted run may leave those of two
    texts. If there is none, the one of most chunks, whose error says what is missing.
    Pages that were indexed one by one are versions as well, and none is the document.
    """
    if len(versions) == 1:
        return [*versions]
    ordered = sorted(versions, key=lambda version: (len(versions[version]), version))
    whole = [version for version in ordered if are_all_there(versions[version])]
    parts = {v: {c.metadata.get(PART_INDEX) for c in versions[v]} for v in versions}
    # A version that replaces another one may have more pages, or fewer.
    eligible = [v for v in whole if all(parts[v] & other for other in parts.values())]
    if whole and not eligible:
        what = "its chunks are of several versions (doc_version), each of other parts"
        found = [as_number(c.metadata.get(CHUNK_INDEX)) for c in versions[whole[0]]]
        raise inconsistent(name, what, [n for n in found if n is not None])
    return eligible or ordered[-1:]


def are_all_there(chunks: Sequence[StoredChunk]) -> bool:
    """Whether they are as many as `n_chunks` says, with all the numbers of these."""
    totals = {as_number(chunk.metadata.get(N_CHUNKS)) for chunk in chunks}
    indexes = {as_number(chunk.metadata.get(CHUNK_INDEX)) for chunk in chunks}
    return totals == {len(indexes)} and indexes == set(range(len(indexes)))


def _joined(
    name: str, chunks: Sequence[StoredChunk], where: str, *, exact: bool
) -> FullText:
    """The parts of one version; see `rebuild`."""
    pieces = read_pieces(name, chunks)
    _require_all(name, pieces, where)
    stamps = read_stamps(name, chunks)
    rows = [(stamps.get(row[0][0]), row) for row in _in_parts(name, pieces)]
    joined = [join_part(name, row, stamp, exact=exact) for stamp, row in rows]
    recorded = version_text(chunks[0].metadata.get(DOC_VERSION))
    hashes = [stamp.text_hash for stamp, _ in rows if stamp]
    known = recorded and len(hashes) == len(rows)
    if known and version_of_hashes(hashes) != recorded:
        what = (
            f"its {len(rows):,} parts are not those that were indexed, or not in their "
            "order (doc_version)"
        )
        raise inconsistent(name, what, [row[0][0] for _, row in rows])
    proved = all(proved for _, proved in joined)
    if not recorded and pieces[0][4] is not None:
        if exact:
            raise unproved(name, pieces[0], parts=True)
        proved = False
    return FullText("", proved, tuple(text for text, _ in joined))


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


def _count_texts(
    found: Mapping[str, FullText], failures: Mapping[str, Exception]
) -> int:
    """Refuse unless one text is all that the versions can be of, or all are whole."""
    versions = [*found, *failures]
    known = len({text.text for text in found.values()}) == 1 and not failures
    if known or len({version_text(version) for version in versions}) == 1:
        if not found:
            raise next(iter(failures.values()))
        return 1
    for error in failures.values():
        raise error
    return len(versions)


class StoreSource(DocumentSource):
    """Puts each document together from the chunks that a store holds of it.

    Nothing is kept: every call reads the chunks anew, as the store has them then.

    Args:
        store: The store.
        exact: See `oprag.documents.rebuild`. If not, `read` says of each text whether
            it is exact.
        part_separator: See `oprag.documents.rebuild`.
    """

    def __init__(
        self,
        store: ChunkStore,
        *,
        exact: bool = True,
        part_separator: str = PART_SEPARATOR,
    ) -> None:
        self._store = store
        self._exact = exact
        self._part_separator = part_separator
        self._ids: frozenset[str] | None = None

    def get(self, document_id: str) -> str:
        """Return the full text of one document.

        Args:
            document_id: The document's name, its `doc_uri`.

        Raises:
            DocumentNotFoundError: No chunk in the store is of this document.
            FilteredDocumentError: A filter of the search hides chunks of it.
            IncompleteDocumentError: The store does not give all of it, or nothing
                shows that it does.
            PositionError: Its chunks contradict each other or the text that was split,
                or lack positions; see `oprag.documents.rebuild`.
        """
        return self.read(document_id).text

    async def aget(self, document_id: str) -> str:
        """Async version of `get`, the way the store does it without blocking."""
        return (await self.aread(document_id)).text

    def read(self, document_id: str) -> FullText:
        """Return the text, whether it is exact, and its parts; else as `get`."""
        chunks = self._store.fetch(document_key(document_id))
        return self._rebuilt(document_id, chunks)

    async def aread(self, document_id: str) -> FullText:
        """Async version of `read`, the way the store does it without blocking."""
        from asyncio import to_thread  # here, because its import takes long

        chunks = await self._store.afetch(document_key(document_id))
        return await to_thread(self._rebuilt, document_id, chunks)

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

    def _rebuilt(self, document_id: str, chunks: list[StoredChunk]) -> FullText:
        filters, ids = self._store.filters, self._ids
        where = self._store.name
        if restricted := bool(filters) or ids is not None:
            where += " within the search's filter"
            chunks = [*admitted(chunks, filters, ids)]
        try:
            return rebuild(
                document_id,
                chunks,
                exact=self._exact,
                part_separator=self._part_separator,
                where=where,
            )
        except (
            AmbiguousPositionError,
            IncompleteDocumentError,
            InconsistentChunksError,
        ) as error:
            # So do chunks look of which a filter hides some. It cannot open a gap, nor
            # take a stamp away, where all of them are there.
            if not restricted or not getattr(error, "missing", True):
                raise
            raise filtered(document_id) from error
