"""Order the chunks of one document page by page, if their own positions do not.

The chunks of a page may be ordered

- by overlaps: each text begins as the one before it ends, in one chain of all texts;
- by numbers, which links or an application's count give to all of them, or some;
- in pieces: several chains of overlapping texts, whose order among one another is not
  known.

Texts are not kept, only their hashes.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

from oprag.chunk import ChainedPlace, Hit, Span
from oprag.locating import Chain, chain_pages
from oprag.metadata import as_number
from oprag.positions import PageKey, PageNumbers, Unplaced

_Page: TypeAlias = PageKey | None
"""The page (row, section) that a chunk names; None if it names one without a number."""
_TextHash: TypeAlias = int
"""Stands for the text of a chunk."""


class PageCounts(NamedTuple):
    """Pages of a document that were looked at."""

    pages: int
    ordered: int
    """Those whose chunks are in order: by overlaps or numbers, or as there is one."""


class DocumentChains:
    """The order of the chunks of one document, page by page.

    Args:
        chunks: All that can be read of the document.
        wanted: Hits whose pages are to be ordered, if `chunks` is complete for these
            pages alone; None if it is complete for all.
        hidden: Whether chunks may be hidden from the reader, so that the first one read
            need not be the first of its page.
    """

    def __init__(
        self,
        chunks: Sequence[Hit],
        wanted: Collection[Hit] | None = None,
        *,
        hidden: bool = False,
    ) -> None:
        chunks_of_page = _group_by_page(chunks)
        self.has_known_pages = _are_known(chunks_of_page)
        """Whether each chunk is on a page that is numbered, or none is. If not, no page
        is ordered."""
        self._hidden = hidden
        self._orders: dict[_Page, _PageOrder] = {}
        if not self.has_known_pages:
            return
        pages = list(chunks_of_page)
        if wanted is not None:
            wanted_pages = _group_by_page(wanted)
            pages = [page for page in pages if page in wanted_pages]
        texts_of_page: dict[_Page, list[str]] = {}
        for page, members in chunks_of_page.items():
            texts_of_page[page] = [chunk.text for chunk in members]
        numbering = PageNumbers(chunks)
        for page, chain in chain_pages(texts_of_page, pages, hidden=hidden).items():
            self._orders[page] = _order_page(chunks_of_page[page], chain, numbering)

    @property
    def counts(self) -> PageCounts:
        """The pages that were looked at."""
        ordered = sum(order.is_complete for order in self._orders.values())
        return PageCounts(len(self._orders), ordered)

    @property
    def text_count(self) -> int:
        """The number of texts that are remembered."""
        return sum(len(order.texts) for order in self._orders.values())

    def knows_texts(self, hits: Sequence[Hit]) -> bool:
        """Return whether the texts of these hits were among the chunks of their pages.

        White space is not looked for.
        """
        return all(
            hash(hit.text) in self._order_of(Unplaced.page_of(hit)).texts
            for hit in hits
            if hit.text.strip()
        )

    def is_page_ordered(self, hit: Hit) -> bool:
        """Return whether all chunks of a hit's page are in order."""
        order = self._orders.get(Unplaced.page_of(hit))
        return order is not None and order.is_complete

    def has_unordered(self, hits: Sequence[Hit]) -> bool:
        """Return whether two of these are on one page and their order is not known."""
        return bool(self._find_unordered_pages(hits))

    def place_hits(self, hits: Sequence[Hit]) -> list[ChainedPlace]:
        """Return the places of the document's hits.

        On a page that does not order its hits, a place says the page alone, and how to
        sort them in the meantime (`among`): chains by their best hit, and the hits of a
        chain as it has them. A hit in no chain is sorted by its own rank.

        Args:
            hits: All that were retrieved of it, best first; `knows_texts` is true for
                them.
        """
        unordered_pages = self._find_unordered_pages(hits)
        best_rank_of_chain: dict[tuple[_Page, int], int] = {}
        places = list[ChainedPlace]()
        for rank, hit in enumerate(hits):
            page = Unplaced.page_of(hit)
            order = self._order_of(page)
            if page not in unordered_pages:
                places.append(order.place(hit, _number_of(page), hidden=self._hidden))
                continue
            among = rank, 0
            in_chain = order.find_in_chain(hit)
            if in_chain is not None:
                chain = page, in_chain.chain
                best_rank = best_rank_of_chain.setdefault(chain, rank)
                among = best_rank, in_chain.at
            places.append(ChainedPlace(_number_of(page), among=among))
        return places

    def _find_unordered_pages(self, hits: Sequence[Hit]) -> set[_Page]:
        unordered = set[_Page]()
        for page, members in _group_by_page(hits).items():
            if not self._order_of(page).covers(members):
                unordered.add(page)
        return unordered

    def _order_of(self, page: _Page) -> _PageOrder:
        return self._orders.get(page, _UNKNOWN)


def _group_by_page(hits: Iterable[Hit]) -> dict[_Page, list[Hit]]:
    groups: dict[_Page, list[Hit]] = {}
    for hit in hits:
        groups.setdefault(Unplaced.page_of(hit), []).append(hit)
    return groups


def _are_known(pages: Collection[_Page]) -> bool:
    """Return whether all pages have numbers, or the document is one text without."""
    have_numbers = {_number_of(page) is not None for page in pages}
    return None not in pages and len(have_numbers) <= 1


def _number_of(page: _Page) -> int | None:
    """Return the number of a page; None if the document is one text, or it has none."""
    return None if page is None else page.part


class _PlaceInChain(NamedTuple):
    """The place of a chunk in one of the chains of its page."""

    chain: int
    """The number of the chain: `_NUMBERED`, or that of a piece, from 1."""
    at: int
    """The place of the chunk, counted from the chain's beginning."""


_NUMBERED = 0
"""The chain of the chunks that have numbers."""


@dataclass(frozen=True)
class _PageOrder:
    """The order of the chunks of a page: `starts`, or else `numbers` and `pieces`."""

    texts: frozenset[_TextHash] = frozenset()
    """Those that are more than white space."""
    starts: Mapping[_TextHash, int] = field(default_factory=dict)
    """The first character of each text in the text that all give together; empty if no
    one chain of overlaps joins them."""
    numbers: Mapping[str | None, int] = field(default_factory=dict)
    """The numbers of chunks, by their ids."""
    are_all_numbered: bool = False
    pieces: Mapping[_TextHash, _PlaceInChain] = field(default_factory=dict)
    """The places of the texts that overlap with others."""

    @property
    def is_complete(self) -> bool:
        """Whether all chunks of the page are in order."""
        return bool(self.starts) or self.are_all_numbered or len(self.texts) <= 1

    def covers(self, hits: Sequence[Hit]) -> bool:
        """Return whether the order of these hits is known, or not needed."""
        if self.starts or len({hit.text for hit in hits}) <= 1:
            return True
        return all(hit.id in self.numbers for hit in hits)

    def place(self, hit: Hit, part: int | None, *, hidden: bool) -> ChainedPlace:
        """Return the place of a hit that is covered.

        Args:
            hit: The hit.
            part: The number of the page.
            hidden: Whether chunks may be hidden, also before the first known one.
        """
        start = self.starts.get(hash(hit.text))
        if start is None:
            return ChainedPlace(part, number=self.numbers.get(hit.id))
        span = Span(start, start + len(hit.text))
        return ChainedPlace(part, span, scoped=not hidden)

    def find_in_chain(self, hit: Hit) -> _PlaceInChain | None:
        """Return the place of a hit in a chain; None if it is in none."""
        number = self.numbers.get(hit.id)
        if number is not None:
            return _PlaceInChain(_NUMBERED, number)
        return self.pieces.get(hash(hit.text))


_UNKNOWN = _PageOrder()


def _order_page(
    chunks: Sequence[Hit], chain: Chain, numbering: PageNumbers
) -> _PageOrder:
    """Order all chunks of a page by one chain, else by numbers and in pieces."""
    texts = frozenset(hash(chunk.text) for chunk in chunks if chunk.text.strip())
    if chain.starts and not _is_contradicted(chain, chunks):
        starts = {hash(text): start for text, start in chain.starts.items()}
        return _PageOrder(texts, starts)
    numbers: dict[str | None, int] = {}
    for chunk, number in zip(chunks, numbering.find(chunks), strict=True):
        if number is not None:
            numbers[chunk.id] = number
    are_all_numbered = all(chunk.id in numbers for chunk in chunks)
    pieces: dict[_TextHash, _PlaceInChain] = {}
    for piece_number, piece in enumerate(chain.pieces, start=1):
        for at, text in enumerate(piece):
            pieces[hash(text)] = _PlaceInChain(piece_number, at)
    return _PageOrder(
        texts, numbers=numbers, are_all_numbered=are_all_numbered, pieces=pieces
    )


def _is_contradicted(chain: Chain, chunks: Sequence[Hit]) -> bool:
    """Return whether the places that some chunks record are in another order."""
    pairs = []
    for chunk in chunks:
        recorded = as_number(chunk.metadata.get("start_index"))
        if recorded is not None and chunk.text in chain.starts:
            pairs.append((chain.starts[chunk.text], recorded))
    recorded_in_chain_order = [recorded for _, recorded in sorted(pairs)]
    return recorded_in_chain_order != sorted(recorded_in_chain_order)
