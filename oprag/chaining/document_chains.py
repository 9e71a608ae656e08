"""The pages of one document, and the order of their chunks if overlaps prove it."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple, TypeAlias

from oprag.chunk import ChainedPlace, Hit, Span
from oprag.errors import (
    ConflictingPositionsError,
    MissingPositionError,
    OpragError,
    PositionError,
)
from oprag.locating import Chain, chain_pages
from oprag.metadata import as_number
from oprag.positions import PageNumbers, Unplaced

_Page: TypeAlias = tuple[int | None, tuple[Hashable, ...]]
"""The number of a page, and the known facts of its file."""
_NOWHERE: _Page = (None, ("nowhere",))
_BY_LINKS = -1
"""Stands for a chain's number if links give the order."""
_FACTS = ("kind", "document", "rank", "ranks", "keys", "position")
"""The attributes that an error takes over from the one that it replaces."""


class Counts(NamedTuple):
    """Pages of a document that were looked at."""

    pages: int
    ordered: int
    """Those whose chunks are in order: by their overlaps, or as there is only one."""


@dataclass(frozen=True, slots=True)
class _PageOrder:
    """The known order of the chunks of a page; texts are hashes."""

    text_hashes: frozenset[int]
    """Of the texts that are more than white space."""
    starts: Mapping[int, int]
    """The first character of each text; empty unless overlaps prove the order."""
    chain_places: Mapping[int, tuple[int, int]]
    """If no one chain joins all texts: the number of a text's chain, and its place
    there."""
    link_numbers: Mapping[str | None, int]
    """If overlaps prove nothing: the numbers that links or a count give, by the ids of
    the chunks."""
    is_linked: bool
    """Whether each chunk has such a number."""

    @property
    def is_ordered(self) -> bool:
        """Whether all chunks are in order."""
        return len(self.text_hashes) <= 1 or self.is_linked or bool(self.starts)

    def proves_order_of(self, hits: Sequence[Hit]) -> bool:
        """Return whether the order of these chunks is known, or not needed."""
        if self.starts or all(hit.id in self.link_numbers for hit in hits):
            return True
        return len({hit.text for hit in hits}) <= 1

    def find_chain_place(self, hit: Hit) -> tuple[int | None, int]:
        """Return the number of a hit's chain, None for none, and its place there."""
        number = self.link_numbers.get(hit.id)
        if number is not None:
            return _BY_LINKS, number
        return self.chain_places.get(hash(hit.text), (None, 0))


_UNKNOWN_ORDER = _PageOrder(frozenset(), {}, {}, {}, is_linked=False)


class DocumentChains:
    """The order of the chunks of one document, page by page.

    Texts are kept as their hashes.

    Args:
        chunks: All that can be read of the document.
        wanted: Hits whose pages are to be chained, if `chunks` is complete for these
            pages alone; None if it is complete for all.
        scoped: Whether nothing hides chunks, so that a page begins with the first.
    """

    def __init__(
        self,
        chunks: Sequence[Hit],
        wanted: Collection[Hit] | None = None,
        *,
        scoped: bool = True,
    ) -> None:
        pages, has_others = _group_by_page(chunks)
        are_numbered = {number is not None for number, _ in pages}
        self.is_known = not has_others and len(are_numbered) <= 1
        """Whether each chunk is on a page that is numbered, or none is."""
        self._scoped = scoped
        self._orders: dict[_Page, _PageOrder] = {}
        if not self.is_known:
            return
        asked = None
        if wanted is not None:
            wanted_pages = {Unplaced.page_of(hit) for hit in wanted}
            asked = [page for page in pages if page in wanted_pages]
        texts = {page: [each.text for each in of] for page, of in pages.items()}
        numbering = PageNumbers(chunks)
        for page, chain in chain_pages(texts, asked, hidden=not scoped).items():
            self._orders[page] = _read_page(pages[page], chain, numbering)

    def __len__(self) -> int:
        """Return the number of chunks that are remembered."""
        return sum(len(order.text_hashes) for order in self._orders.values())

    @property
    def counts(self) -> Counts:
        """The pages that were looked at."""
        ordered = sum(order.is_ordered for order in self._orders.values())
        return Counts(len(self._orders), ordered)

    def holds(self, hits: Sequence[Hit]) -> bool:
        """Return whether these hits were among the chunks, unchanged."""
        return all(
            hash(hit.text) in self._find_order(_find_page(hit)).text_hashes
            for hit in hits
            if hit.text.strip()
        )

    def places(self, hits: Sequence[Hit]) -> list[ChainedPlace]:
        """Return the places of the document's hits; for unproved ones, their pages.

        Args:
            hits: All that were retrieved of it; `holds` is true for them.
        """
        unproved = self._find_unproved(hits)
        places = list[ChainedPlace]()
        best_rank_of_chain: dict[tuple[_Page, int], int] = {}
        for rank, hit in enumerate(hits):
            page = _find_page(hit)
            if page not in unproved:
                places.append(self._place(page, hit))
                continue
            # On an unproved page, chains are ordered by their best hit, and hits by
            # their place in the chain.
            chain, at = self._find_order(page).find_chain_place(hit)
            best_rank = rank
            if chain is not None:
                best_rank = best_rank_of_chain.setdefault((page, chain), rank)
            places.append(ChainedPlace(page[0], among=(best_rank, at)))
        return places

    def _place(self, page: _Page, hit: Hit) -> ChainedPlace:
        part, order = page[0], self._find_order(page)
        number = order.link_numbers.get(hit.id)
        if number is not None:
            return ChainedPlace(part, number=number)
        start = order.starts.get(hash(hit.text))
        if start is None:
            return ChainedPlace(part)
        return ChainedPlace(part, Span(start, start + len(hit.text)), self._scoped)

    def is_ordered(self, hit: Hit) -> bool:
        """Return whether the chunks of a hit's page are in order."""
        order = self._orders.get(_find_page(hit))
        return order is not None and order.is_ordered

    def has_unproved_page(self, hits: Sequence[Hit]) -> bool:
        """Return whether two of these are on one page whose order is not known."""
        return bool(self._find_unproved(hits))

    def _find_unproved(self, hits: Sequence[Hit]) -> set[_Page]:
        pages: dict[_Page, list[Hit]] = {}
        for hit in hits:
            pages.setdefault(_find_page(hit), []).append(hit)
        return {
            page
            for page, members in pages.items()
            if not self._find_order(page).proves_order_of(members)
        }

    def _find_order(self, page: _Page) -> _PageOrder:
        return self._orders.get(page, _UNKNOWN_ORDER)


def _find_page(hit: Hit) -> _Page:
    return Unplaced.page_of(hit) or _NOWHERE


def _group_by_page(chunks: Sequence[Hit]) -> tuple[dict[_Page, list[Hit]], bool]:
    """Return the chunks of each page, and whether there are chunks of no known page."""
    pages: dict[_Page, list[Hit]] = {}
    has_others = False
    for chunk in chunks:
        page = Unplaced.page_of(chunk)
        if page is None:
            has_others = True
        else:
            pages.setdefault(page, []).append(chunk)
    return pages, has_others


def _read_page(
    chunks: Sequence[Hit], chain: Chain, numbering: PageNumbers
) -> _PageOrder:
    """Return the order of a page's chunks as proved by their overlaps, or by links."""
    starts = chain.starts if _agrees(chain, chunks) else {}
    link_numbers: dict[str | None, int] = {}
    is_linked = False
    if not starts:
        for chunk, number in zip(chunks, numbering.find(chunks), strict=True):
            if number is not None:
                link_numbers[chunk.id] = number
        is_linked = len(link_numbers) == len({chunk.id for chunk in chunks})
    return _PageOrder(
        text_hashes=frozenset(
            hash(chunk.text) for chunk in chunks if chunk.text.strip()
        ),
        starts={hash(text): at for text, at in starts.items()},
        chain_places={
            hash(text): (number, at)
            for number, piece in enumerate(chain.pieces)
            for at, text in enumerate(piece)
        },
        link_numbers=link_numbers,
        is_linked=is_linked,
    )


def _agrees(chain: Chain, chunks: Sequence[Hit]) -> bool:
    """Return whether the places that some chunks record do not contradict a chain."""
    recorded = sorted(
        (chain.starts[chunk.text], at)
        for chunk in chunks
        if chunk.text in chain.starts
        and (at := as_number(chunk.metadata.get("start_index"))) is not None
    )
    return all(first[1] <= second[1] for first, second in pairwise(recorded))


def report_unproved(
    error: OpragError, name: str, counts: Counts | None, *, is_kept: bool = False
) -> PositionError:
    """Return an error about the document as indexed, not about hits of one question.

    Args:
        error: The error that the question failed with.
        name: The name of the document.
        counts: Its pages; None if nobody asks the store for their order.
        is_kept: Whether it is a warning, by `on_problem="warn"`.
    """
    what = ""
    if counts is not None and counts.pages == 1:
        what = ", and the overlaps of its chunks do not prove their order"
    elif counts is not None:
        what = (
            f", and of {counts.pages:,} pages {counts.ordered:,} are ordered by the "
            f"overlaps of their chunks, and {counts.pages - counts.ordered:,} cannot be"
        )
    message = (
        f"Document {name!r}: its chunks have no positions that can be used{what}. "
        "Give the documents as they were loaded, documents=loader.load() "
        "(LlamaIndex: load_data()), and each chunk is found in its text"
    )
    message += "." if is_kept else '; or set on_problem="warn".'
    kept = {key: value for key, value in vars(error).items() if key in _FACTS}
    for kind in (ConflictingPositionsError, MissingPositionError):
        if isinstance(error, kind):
            return kind(message, **kept)
    return PositionError(message, **kept)
