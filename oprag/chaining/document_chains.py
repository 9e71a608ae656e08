"""The order of the chunks of one document, page by page, if other chunks prove it.

The chunks of a page may be ordered

- by overlaps: one chain of texts, each beginning as the one before it ends;
- by numbers, which links or an application's count give to all of them, or some;
- in pieces: several such chains, whose order among one another is not known.

Texts are not kept, only their hashes.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, NamedTuple, TypeAlias

from oprag.chunk import ChainedPlace, Hit, Span
from oprag.locating import Chain, chain_pages
from oprag.metadata import as_number
from oprag.positions import PageNumbers, Unplaced

_TextHash: TypeAlias = int
"""Stands for the text of a chunk."""
_PageKey: TypeAlias = Hashable
"""The page (row, section) that a chunk names, with facts of its file if it has some:
texts of one page may overlap. None if it is not known. `Unplaced.page_of` reads it."""


class PageCounts(NamedTuple):
    """Pages of a document that were looked at."""

    pages: int
    ordered: int
    """Those whose chunks are in order: by overlaps or numbers, or as there is one."""


class _ChainPlace(NamedTuple):
    """The place of a chunk in a chain of its page, which may have several."""

    joined_by: Literal["numbers", "overlaps"]
    chain: int
    """The number of the chain, of those that are joined in this way."""
    at: int
    """The place of the chunk, counted from the chain's beginning."""


@dataclass(frozen=True)
class _Page:
    """A page whose chunks are in no known order, unless its subclass says one."""

    texts: frozenset[_TextHash]
    """Those that are more than white space."""

    @property
    def is_ordered(self) -> bool:
        """Whether all chunks are in order."""
        return len(self.texts) <= 1

    def proves_order_of(self, hits: Sequence[Hit]) -> bool:
        """Return whether the order of these chunks is known, or not needed."""
        return len({hit.text for hit in hits}) <= 1

    def place(self, hit: Hit, part: int | None, *, scoped: bool) -> ChainedPlace:  # noqa: ARG002 -- for subclasses
        """Return the place of a chunk among those that are proved to be in order.

        Args:
            hit: The chunk.
            part: The number of the page.
            scoped: Whether the first known chunk is known to be the page's first.
        """
        return ChainedPlace(part)

    def find_in_chain(self, hit: Hit) -> _ChainPlace | None:  # noqa: ARG002 -- as above
        """Return the place of a chunk in a chain; None if it is in none."""
        return None


@dataclass(frozen=True)
class _PageByOverlaps(_Page):
    """A page that one chain of overlapping texts joins."""

    starts: Mapping[_TextHash, int]
    """The first character of each text in the text that they give together."""

    @property
    def is_ordered(self) -> bool:
        return True

    def proves_order_of(self, hits: Sequence[Hit]) -> bool:  # noqa: ARG002 -- any are
        return True

    def place(self, hit: Hit, part: int | None, *, scoped: bool) -> ChainedPlace:
        start = self.starts.get(hash(hit.text))
        if start is None:
            return ChainedPlace(part)
        return ChainedPlace(part, Span(start, start + len(hit.text)), scoped)


@dataclass(frozen=True)
class _PageInPieces(_Page):
    """A page whose overlaps join not all texts, or contradict places on its chunks."""

    chain_places: Mapping[_TextHash, _ChainPlace]

    def find_in_chain(self, hit: Hit) -> _ChainPlace | None:
        return self.chain_places.get(hash(hit.text))


@dataclass(frozen=True)
class _PageByNumbers(_PageInPieces):
    """A page with chunks that links or a count number; the others are in pieces."""

    numbers: Mapping[str | None, int]
    """By the ids of the chunks."""
    numbers_all: bool
    """Whether each chunk has a number."""

    @property
    def is_ordered(self) -> bool:
        return self.numbers_all or super().is_ordered

    def proves_order_of(self, hits: Sequence[Hit]) -> bool:
        are_numbered = all(hit.id in self.numbers for hit in hits)
        return are_numbered or super().proves_order_of(hits)

    def place(self, hit: Hit, part: int | None, *, scoped: bool) -> ChainedPlace:  # noqa: ARG002 -- a number is no character
        return ChainedPlace(part, number=self.numbers.get(hit.id))

    def find_in_chain(self, hit: Hit) -> _ChainPlace | None:
        number = self.numbers.get(hit.id)
        if number is None:
            return super().find_in_chain(hit)
        return _ChainPlace("numbers", 0, number)


_UNKNOWN_PAGE = _Page(frozenset())


class DocumentChains:
    """The order of the chunks of one document, page by page.

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
        chunks_of = _group_by_page(chunks)
        firsts = [hits[0] for hits in chunks_of.values()]
        are_numbered = {_find_part(first) is not None for first in firsts}
        self.is_known = None not in chunks_of and len(are_numbered) <= 1
        """Whether each chunk is on a page that is numbered, or none is."""
        self._scoped = scoped
        self._pages: dict[_PageKey, _Page] = {}
        if not self.is_known:
            return
        asked = None
        if wanted is not None:
            wanted_pages = _group_by_page(wanted)
            asked = [key for key in chunks_of if key in wanted_pages]
        texts = {key: [hit.text for hit in of] for key, of in chunks_of.items()}
        numbering = PageNumbers(chunks)
        for key, chain in chain_pages(texts, asked, hidden=not scoped).items():
            self._pages[key] = _read_page(chunks_of[key], chain, numbering)

    def __len__(self) -> int:
        """Return the number of texts that are remembered."""
        return sum(len(page.texts) for page in self._pages.values())

    @property
    def counts(self) -> PageCounts:
        """The pages that were looked at."""
        ordered = sum(page.is_ordered for page in self._pages.values())
        return PageCounts(len(self._pages), ordered)

    def holds(self, hits: Sequence[Hit]) -> bool:
        """Return whether the texts of these hits were among the chunks of their pages.

        White space is not looked for.
        """
        return all(
            hash(hit.text) in self._find_page(Unplaced.page_of(hit)).texts
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
        best_rank_of_chain: dict[tuple[_PageKey, str, int], int] = {}
        for rank, hit in enumerate(hits):
            key = Unplaced.page_of(hit)
            page, part = self._find_page(key), _find_part(hit)
            if key not in unproved:
                places.append(page.place(hit, part, scoped=self._scoped))
                continue
            # On an unproved page, chains are ordered by their best hit, and hits by
            # their place in the chain: `among` is what such hits are sorted by.
            among = rank, 0
            found = page.find_in_chain(hit)
            if found is not None:
                chain = key, found.joined_by, found.chain
                among = best_rank_of_chain.setdefault(chain, rank), found.at
            places.append(ChainedPlace(part, among=among))
        return places

    def is_ordered(self, hit: Hit) -> bool:
        """Return whether the chunks of a hit's page are in order."""
        page = self._pages.get(Unplaced.page_of(hit))
        return page is not None and page.is_ordered

    def has_unproved_page(self, hits: Sequence[Hit]) -> bool:
        """Return whether two of these are on one page whose order is not known."""
        return bool(self._find_unproved(hits))

    def _find_unproved(self, hits: Sequence[Hit]) -> set[_PageKey]:
        return {
            key
            for key, members in _group_by_page(hits).items()
            if not self._find_page(key).proves_order_of(members)
        }

    def _find_page(self, key: _PageKey) -> _Page:
        return self._pages.get(key, _UNKNOWN_PAGE)


def _find_part(hit: Hit) -> int | None:
    """Return the number of a hit's page; None for a document of one text."""
    key = Unplaced.page_of(hit)
    return None if key is None else key.part


def _group_by_page(hits: Iterable[Hit]) -> dict[_PageKey, list[Hit]]:
    """Return the hits of each page; under None those of no known page."""
    groups: dict[_PageKey, list[Hit]] = {}
    for hit in hits:
        groups.setdefault(Unplaced.page_of(hit), []).append(hit)
    return groups


def _read_page(chunks: Sequence[Hit], chain: Chain, numbering: PageNumbers) -> _Page:
    """Order a page's chunks by their overlaps, else by numbers, else in pieces."""
    texts = frozenset(hash(chunk.text) for chunk in chunks if chunk.text.strip())
    if chain.starts and _agrees(chain, chunks):
        starts = {hash(text): at for text, at in chain.starts.items()}
        return _PageByOverlaps(texts, starts)
    chain_places: dict[_TextHash, _ChainPlace] = {}
    for number, piece in enumerate(chain.pieces):
        for at, text in enumerate(piece):
            chain_places[hash(text)] = _ChainPlace("overlaps", number, at)
    numbers: dict[str | None, int] = {}
    for chunk, found in zip(chunks, numbering.find(chunks), strict=True):
        if found is not None:
            numbers[chunk.id] = found
    if not numbers:
        return _PageInPieces(texts, chain_places)
    numbers_all = len(numbers) == len({chunk.id for chunk in chunks})
    return _PageByNumbers(texts, chain_places, numbers, numbers_all)


def _agrees(chain: Chain, chunks: Sequence[Hit]) -> bool:
    """Return whether the places that some chunks record do not contradict a chain."""
    recorded = sorted(
        (chain.starts[chunk.text], at)
        for chunk in chunks
        if chunk.text in chain.starts
        and (at := as_number(chunk.metadata.get("start_index"))) is not None
    )
    return all(first[1] <= second[1] for first, second in pairwise(recorded))
