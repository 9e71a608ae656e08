"""The pages of one document, and the order of their chunks where overlaps prove it."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Sequence
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
"""The number of a page, and what is known of its file."""
_NOWHERE: _Page = (None, ("nowhere",))
_FACTS = ("kind", "document", "rank", "ranks", "keys", "position")
"""What an error keeps of the one in whose place it stands."""


class Counts(NamedTuple):
    """Pages of a document that were looked at."""

    pages: int
    ordered: int
    """Those whose chunks are in order: by their overlaps, or as there is one alone."""


class DocumentChains:
    """The order of the chunks of one document, page by page.

    Texts are kept as their hashes.

    Args:
        chunks: All that can be read of the document.
        wanted: Hits whose pages are looked at, all of whose chunks are among `chunks`;
            None where that is true of all.
        scoped: Whether nothing hides chunks, so that the first is where a page begins.
    """

    def __init__(
        self,
        chunks: Sequence[Hit],
        wanted: Collection[Hit] | None = None,
        *,
        scoped: bool = True,
    ) -> None:
        pages: dict[_Page, list[Hit]] = {}
        self.is_known = True
        """Whether each chunk is on a page that is numbered, or none is."""
        for chunk in chunks:
            page: _Page | None = Unplaced.page_of(chunk)
            if page is None:
                self.is_known = False
            else:
                pages.setdefault(page, []).append(chunk)
        if len({page[0] is None for page in pages}) > 1:
            self.is_known = False
        texts = {page: [each.text for each in of] for page, of in pages.items()}
        chains: dict[_Page, Chain] = {}
        if self.is_known and wanted is not None:
            asked = {Unplaced.page_of(hit) for hit in wanted}
            chains = chain_pages(
                texts, [page for page in pages if page in asked], hidden=not scoped
            )
        elif self.is_known:
            chains = chain_pages(texts, hidden=not scoped)
        self._scoped = scoped
        self._starts: dict[_Page, dict[int, int]] = {}
        self._there: dict[_Page, frozenset[int]] = {}
        self._numbers: dict[_Page, dict[str | None, int]] = {}
        """By links, of pages whose overlaps prove nothing, by the ids of the chunks."""
        self._pieces: dict[_Page, dict[int, tuple[int, int]]] = {}
        """Of pages that no one chain joins: the number of a chain, and where in it."""
        numbering = PageNumbers(chunks)
        self._linked: set[_Page] = set()
        """Pages whose chunks all have a number."""
        for page, chain in chains.items():
            self._keep(page, chain, pages[page], numbering)

    def _keep(
        self, page: _Page, chain: Chain, chunks: Sequence[Hit], numbering: PageNumbers
    ) -> None:
        """Keep what is known of a page."""
        starts = chain.starts if _agrees(chain, chunks) else {}
        self._starts[page] = {hash(text): at for text, at in starts.items()}
        solid = [chunk.text for chunk in chunks if chunk.text.strip()]
        self._there[page] = frozenset(map(hash, solid))
        self._pieces[page] = {
            hash(text): (number, at)
            for number, piece in enumerate(chain.pieces)
            for at, text in enumerate(piece)
        }
        if not starts:
            self._keep_numbers(page, chunks, numbering)

    def _keep_numbers(
        self, page: _Page, chunks: Sequence[Hit], numbering: PageNumbers
    ) -> None:
        """Keep the numbers that links give to the chunks of a page, or a count."""
        numbers: dict[str | None, int] = {}
        for chunk, number in zip(chunks, numbering.find(chunks), strict=True):
            if number is not None:
                numbers[chunk.id] = number
        if numbers:
            self._numbers[page] = numbers
        if len(numbers) == len({chunk.id for chunk in chunks}):
            self._linked.add(page)

    def __len__(self) -> int:
        """Return the number of chunks that are remembered."""
        return sum(map(len, self._there.values()))

    @property
    def counts(self) -> Counts:
        """The pages that were looked at."""
        ordered = [
            page for page, there in self._there.items() if self._is_ordered(page)
        ]
        return Counts(len(self._there), len(ordered))

    def _is_ordered(self, page: _Page) -> bool:
        is_short = len(self._there[page]) <= 1
        return is_short or page in self._linked or bool(self._starts[page])

    def holds(self, hits: Sequence[Hit]) -> bool:
        """Return whether these were among the chunks, as they are."""
        return all(
            hash(hit.text) in self._there.get(Unplaced.page_of(hit) or _NOWHERE, ())
            for hit in hits
            if hit.text.strip()
        )

    def places(self, hits: Sequence[Hit]) -> list[ChainedPlace]:
        """Return the places of hits of the document; of the unproved their pages.

        Args:
            hits: All that were retrieved of it; they are held.
        """
        unproved = self._find_unproved(hits)
        places = list[ChainedPlace]()
        pieces: dict[tuple[_Page, int], int] = {}
        for rank, hit in enumerate(hits):
            page = Unplaced.page_of(hit) or _NOWHERE
            if page in unproved:
                piece, at = self._piece_of(page, hit)
                best = rank
                if piece is not None:
                    best = pieces.setdefault((page, piece), rank)
                places.append(ChainedPlace(page[0], among=(best, at)))
            else:
                places.append(self._place(page, hit))
        return places

    def _place(self, page: _Page, hit: Hit) -> ChainedPlace:
        number = self._numbers.get(page, {}).get(hit.id)
        if number is not None:
            return ChainedPlace(page[0], number=number)
        start = self._starts.get(page, {}).get(hash(hit.text))
        if start is None:
            return ChainedPlace(page[0])
        return ChainedPlace(page[0], Span(start, start + len(hit.text)), self._scoped)

    def _piece_of(self, page: _Page, hit: Hit) -> tuple[int | None, int]:
        """Return the number of the chain that a hit is in, and where; None for none."""
        number = self._numbers.get(page, {}).get(hit.id)
        if number is not None:
            return -1, number
        return self._pieces[page].get(hash(hit.text), (None, 0))

    def is_ordered(self, hit: Hit) -> bool:
        """Return whether the chunks of a hit's page are in order."""
        page = Unplaced.page_of(hit) or _NOWHERE
        return page in self._there and self._is_ordered(page)

    def unproved(self, hits: Sequence[Hit]) -> bool:
        """Return whether two of these are on one page, whose order is not known."""
        return bool(self._find_unproved(hits))

    def _find_unproved(self, hits: Sequence[Hit]) -> set[_Page]:
        unproved = set[_Page]()
        pages: dict[_Page, list[Hit]] = {}
        for hit in hits:
            pages.setdefault(Unplaced.page_of(hit) or _NOWHERE, []).append(hit)
        for page, members in pages.items():
            numbers = self._numbers.get(page, {})
            is_known = bool(self._starts.get(page)) or all(
                hit.id in numbers for hit in members
            )
            if not is_known and len({hit.text for hit in members}) > 1:
                unproved.add(page)
        return unproved


def _agrees(chain: Chain, chunks: Sequence[Hit]) -> bool:
    """Return whether what some of the chunks record does not contradict a chain."""
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
    """Return an error that says it of the index, not of the question.

    Args:
        error: What the question failed with.
        name: Of the document.
        counts: Its pages; None where nobody asks the store for their order.
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
