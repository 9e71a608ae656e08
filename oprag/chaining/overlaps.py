"""Order hits without positions by the other chunks of the store.

The other chunks of a document are read once, through the search's own filter, and the
order that they prove is kept until the store or the document changes.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, TypeAlias, TypeVar

from oprag.chaining.document_chains import DocumentChains, PageCounts
from oprag.chunk import ChainedPlace, Hit
from oprag.effects import Effect, Effects, describe_work
from oprag.errors import OpragError, PositionError
from oprag.positions import DocumentKey, Unplaced
from oprag.stores import SearchedChunks, StoredChunk, make_hit

MOST_CHUNKS = 350
"""The most chunks of a document that is read to order them."""
_OF_PAGES = 150
"""The most chunks of the hits' pages, if the document has more."""
_SCANNED = 20_000
"""The most chunks of a store that is read as a whole."""
_KEPT = 50_000
"""Chunks whose places are remembered."""

Places = Mapping[int, ChainedPlace]
"""By the rank of a hit."""
_Reports: TypeAlias = dict[str, tuple[str, PageCounts]]
"""The name and the pages of each document that an error of a question reports."""
_ErrorT = TypeVar("_ErrorT", bound=OpragError)
ArrangeAt = Callable[[Places], Effect]
"""Puts the hits in order, with these places."""


class _Key(NamedTuple):
    """A document, as one filter shows it."""

    search: str
    key: str
    selected_by: tuple[str, Any]


class _Contents(NamedTuple):
    """The chunks read, to see whether the store was written to since then."""

    rows: int | None
    """Rows of the store."""
    chunks: frozenset[int]
    """Hashes of the ids and texts of the chunks read."""

    @staticmethod
    def record(
        rows: int | None, chunks: Sequence[StoredChunk], hits: Sequence[Hit]
    ) -> _Contents:
        """Record the chunks read beside hits, with ids only if the hits have theirs."""
        ids = {chunk.id for chunk in chunks}
        has_ids = all(hit.id in ids for hit in hits)
        pairs = [(chunk.id if has_ids else None, chunk.text) for chunk in chunks]
        return _Contents(rows, frozenset(map(hash, pairs)))

    def is_current(self, rows: int | None, hits: Sequence[Hit]) -> bool:
        """Return whether the store has as many rows, and hits are among those read.

        A page may be written anew with the same texts in another order: their ids
        differ then.
        """
        return self.rows == rows and all(
            hash((hit.id, hit.text)) in self.chunks
            or hash((None, hit.text)) in self.chunks
            for hit in hits
            if hit.text.strip()
        )


class _Known(NamedTuple):
    contents: _Contents
    chains: DocumentChains

    def is_current(self, rows: int | None, hits: Sequence[Hit]) -> bool:
        """Return whether nothing shows that the document was changed since then."""
        return self.contents.is_current(rows, hits) and self.chains.knows_texts(hits)


class Overlaps:
    """Puts hits without positions in order, by the store's other chunks.

    One for a component and its store; threads share it.
    """

    def __init__(self) -> None:
        self._known: OrderedDict[_Key, _Known] = OrderedDict()
        self._rows: dict[str, tuple[_Contents, list[StoredChunk]]] = {}
        self._changing = threading.Lock()

    def __reduce__(self) -> tuple[Any, ...]:
        """Make a copy that reads the chunks itself."""
        return Overlaps, ()

    def __deepcopy__(self, _: Any) -> Overlaps:
        return Overlaps()

    def forget(self) -> None:
        """Forget all chunks: the store was written to."""
        with self._changing:
            self._known.clear()
            self._rows = {}

    def arrange_again(
        self,
        arrange_at: ArrangeAt,
        first: Any,
        hits: Sequence[Hit],
        chunks: SearchedChunks,
        document_key: DocumentKey | None = None,
    ) -> Effects[Any]:
        """Put hits without positions in order, by the store's other chunks.

        Args:
            arrange_at: Puts the hits in order.
            first: Its result without places, or the `PositionError` that it raised.
            hits: The hits, best first.
            chunks: The store, as far as the search may read it.
            document_key: As retrieval takes it.

        Returns:
            The result of `arrange_at` with the places; `first` if the store shows none.
        """
        unplaced = Unplaced.find_all(hits, document_key)
        reports: _Reports = {}
        ordered: Any = first
        if unplaced:
            places, reports = yield from self._find_places(unplaced, hits, chunks)
            if places:
                try:
                    ordered = yield arrange_at(places)
                except PositionError as error:
                    raise _report(error, reports) from None
        if isinstance(ordered, PositionError):
            raise _report(ordered, reports)
        problems = [_report(each, reports, is_kept=True) for each in ordered.problems]
        return replace(ordered, problems=tuple(problems)) if reports else ordered

    def _find_places(
        self, unplaced: Sequence[Unplaced], hits: Sequence[Hit], chunks: SearchedChunks
    ) -> Effects[tuple[dict[int, ChainedPlace], _Reports]]:
        places: dict[int, ChainedPlace] = {}
        reports: _Reports = {}
        count = yield describe_work(chunks.store.count)
        for document in unplaced:
            members = [hits[rank] for rank in document.ranks]
            chains = yield from self._find_chains(document, members, chunks, count)
            if chains is None or not chains.knows_texts(members):
                continue
            is_ordered = not chains.has_unordered(members)
            if is_ordered or document.has_pages_alone:
                placed = chains.place_hits(members)
                places.update(zip(document.ranks, placed, strict=True))
            if not is_ordered:
                reports[document.key] = document.name, chains.counts
        return places, reports

    def _find_chains(
        self,
        document: Unplaced,
        hits: Sequence[Hit],
        chunks: SearchedChunks,
        count: int | None,
    ) -> Effects[DocumentChains | None]:
        if document.selected_by is None:
            return None
        search = _describe(chunks)
        key = _Key(search or "", document.key, document.selected_by)
        known = self._known.get(key)
        if known is not None and known.is_current(count, hits):
            return known.chains
        read = yield from self._read_document(document, hits, chunks, count, search)
        if read is None:
            return None
        wanted, found = read
        chains = DocumentChains(
            [make_hit(chunk) for chunk in found], wanted, hidden=chunks.filtered
        )
        if search is not None:
            self._remember(key, _Known(_Contents.record(count, found, hits), chains))
        return chains

    def _remember(self, key: _Key, known: _Known) -> None:
        with self._changing:
            self._known[key] = known
            self._known.move_to_end(key)
            kept = sum(each.chains.text_count for each in self._known.values())
            while kept > _KEPT and len(self._known) > 1:
                _, dropped = self._known.popitem(last=False)
                kept -= dropped.chains.text_count

    def _read_document(
        self,
        document: Unplaced,
        hits: Sequence[Hit],
        chunks: SearchedChunks,
        count: int | None,
        search: str | None,
    ) -> Effects[tuple[Sequence[Hit] | None, Sequence[StoredChunk]] | None]:
        """Read a document, or the chunks of a long one that order some of its pages.

        Returns:
            The hits whose pages were read whole (None for all) and the chunks; None if
            they cannot be read.
        """
        name, value = document.selected_by or ("", None)
        found = yield from chunks.select({name: [value]}, MOST_CHUNKS + 1)
        if found is None:
            rows = yield from self._read_everything(hits, chunks, count, search)
            if rows is None:
                return None
            found = [row for row in rows if row.metadata.get(name) == value]
            return None, found
        if len(found) <= MOST_CHUNKS:
            return None, found
        part = document.part_key
        if part is None:
            return None
        parts = [*{hit.metadata.get(part): None for hit in hits}]
        own = yield from chunks.select({name: [value], part: parts}, _OF_PAGES + 1)
        if own is None or len(own) > _OF_PAGES:
            return None
        return hits, [*found[:MOST_CHUNKS], *own]

    def _read_everything(
        self,
        hits: Sequence[Hit],
        chunks: SearchedChunks,
        count: int | None,
        search: str | None,
    ) -> Effects[list[StoredChunk] | None]:
        """Read a store that does not select by metadata, once."""
        if count is not None and count > _SCANNED:
            return None
        kept = None if search is None else self._rows.get(search)
        if kept is not None and count is not None and kept[0].is_current(count, hits):
            return kept[1]
        rows = yield from chunks.first(_SCANNED + 1)
        if len(rows) > _SCANNED:
            return None
        if search is not None and count is not None:
            with self._changing:
                self._rows = {search: (_Contents.record(count, rows, hits), rows)}
        return rows


def _report(error: _ErrorT, reports: _Reports, *, is_kept: bool = False) -> _ErrorT:
    """Return the error as a report on the index, if there is one; else unchanged."""
    if not isinstance(error, PositionError) or error.document not in reports:
        return error
    name, counts = reports[error.document]
    return report_unproved(error, name, counts, is_kept=is_kept)


def report_unproved(
    error: _ErrorT, name: str, counts: PageCounts | None, *, is_kept: bool = False
) -> _ErrorT:
    """Return an error about the document as indexed, not about hits of one question.

    Args:
        error: The error that the question failed with.
        name: The name of the document.
        counts: Its pages; None if nobody asks the store for their order.
        is_kept: Whether it is a warning, by `on_problem="warn"`.
    """
    reason = ""
    if counts is not None and counts.pages == 1:
        reason = ", and the overlaps of its chunks do not prove their order"
    elif counts is not None:
        reason = (
            f", and of {counts.pages:,} pages {counts.ordered:,} are ordered by the "
            f"overlaps of their chunks, and {counts.pages - counts.ordered:,} cannot be"
        )
    message = (
        f"Document {name!r}: its chunks have no positions that can be used{reason}. "
        "Give the documents as they were loaded, documents=loader.load() "
        "(LlamaIndex: load_data()), and each chunk is looked for in its text"
    )
    message += "." if is_kept else '; or set on_problem="warn".'
    return error.reword(message)


def _describe(chunks: SearchedChunks) -> str | None:
    """Return words that tell a search's filter from all others; None if none do."""
    filters = chunks.filters
    if any(map(callable, filters)):
        return None  # it may say something else each time
    return repr((chunks.store.name, chunks.store.place, filters))
