"""One retrieval: how many hits are asked for, and the steps until a budget is full.

The frameworks fetch 4 (LangChain) or 2 (LlamaIndex) chunks by default, which would
starve any budget. An adapter says how its retriever is asked, what its objects hold,
and how they are arranged. The order of the steps is here. Calls of the retriever are
`Effect`s; BM25 reads its store itself.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from math import ceil
from typing import Generic, Literal, TypeVar

from oprag.chaining import Overlaps, Places
from oprag.chunk import Hit
from oprag.context import (
    NO_NEIGHBOURS,
    SHORT_CHUNK,
    CandidateTail,
    ContextOptions,
    NeighbourSearch,
    OrderedContext,
    Selection,
    Widen,
    count_seeds,
    load_texts_then,
    sort_by_rank,
)
from oprag.effects import Effect, Effects
from oprag.errors import InvalidOptionError, PositionError
from oprag.stores import Bm25, SearchedChunks, StoredChunk

_T = TypeVar("_T")
_CANDIDATES = 1200
"""Chunks to choose from; as many as `benchmarks/recall` was measured with."""
_MIN_HITS = 16
_FILLING_HITS = 20
"""Hits at first if their neighbours fill the budget."""
_FILLING_RECALL_HITS = 320
"""Fewest hits at first if neighbours fill the budget and `selection` is `"recall"`: if
two searches are fused, so many of each show the best of both."""
_GROWTH = 2


class FetchPlan:
    """Asks for as many chunks as would fill the budget, then for twice as many.

    Args:
        token_budget: Tokens to fill; at least 1.
        selection: `"recall"` asks for many, so that there is something to choose from.
        widen: Neighbours that are read beside each hit, see
            `oprag.context.NeighbourSearch`. Fewer hits fill the budget then.

    Example:
        >>> plan = FetchPlan(token_budget=8_192)
        >>> plan.k
        128
        >>> hits = [Hit(str(number), {"source": "a"}) for number in range(150)]
        >>> plan.wants_more(lambda: hits[:128], returned=128, used_all=True)
        True
        >>> plan.k
        256
        >>> plan.wants_more(lambda: hits, returned=150, used_all=True)  # no more there
        False
    """

    def __init__(
        self,
        token_budget: int,
        selection: Selection = "budget",
        widen: int | Literal["fill"] | None = None,
    ) -> None:
        selects_by_position = selection == "recall"
        self.k = _FILLING_HITS
        """Chunks to ask for next."""
        if widen != "fill":
            neighbours_per_hit = 2 * (widen or 0)
            filling = ceil(token_budget / (SHORT_CHUNK * (1 + neighbours_per_hit)))
            candidates = _CANDIDATES if selects_by_position and not widen else 0
            self.k = max(_MIN_HITS, filling, candidates)
        elif selects_by_position:
            self.k = max(_FILLING_RECALL_HITS, count_seeds(token_budget))
        self._distinct = 0

    @classmethod
    def start_with(cls, k: int) -> FetchPlan:
        """Return a plan that first asks for `k` chunks, whatever they are to fill."""
        plan = cls(token_budget=1)
        plan.k = k
        return plan

    def wants_more(
        self, hits: Callable[[], Iterable[Hit]], *, returned: int, used_all: bool
    ) -> bool:
        """Return whether to ask again, now for `k` chunks (which this doubles).

        Args:
            hits: Makes the hits that were found for the last `k`, with those of BM25;
                called only if they matter. Some stores give the same again, as often as
                they are asked.
            returned: How many these are.
            used_all: Whether all of them fitted the budget.
        """
        if returned < self.k or not used_all:
            return False
        distinct = len(
            {(h.text, h.document, repr(h.metadata), h.offsets) for h in hits()}
        )
        if distinct <= self._distinct:
            return False
        self._distinct = distinct
        self.k *= _GROWTH
        return True


class Fetch:
    """How many objects a wrapped retriever is asked for, in one retrieval.

    Args:
        own_k: The retriever's own `k`; 0 if it leaves that to the store, None if it
            takes no `k`.
        k_is_default: Whether nobody chose `own_k`.
        k: How many to return; None for as many as come.
        plan: How many to ask for if nobody chose a number, neither `own_k` nor `k`.
        at_least: How many to begin with at least, unless `own_k` is None.
    """

    def __init__(
        self,
        own_k: int | None,
        *,
        k_is_default: bool,
        k: int | None = None,
        plan: FetchPlan | None = None,
        at_least: int = 0,
    ) -> None:
        self.k = k
        self.own_k = own_k
        self._plan: FetchPlan | None = None
        if own_k is not None and at_least:
            self._plan = FetchPlan.start_with(max(at_least, own_k))
        elif own_k is not None and k_is_default and k is None:
            self._plan = plan

    @property
    def chooses_k(self) -> bool:
        """Whether oprag chooses how many are asked for."""
        return self._plan is not None

    @property
    def k_to_ask(self) -> int:
        """How many are asked for; 0 to leave that to the retriever."""
        if self.own_k is None:
            return 0
        wanted = self.k if self._plan is None else self._plan.k
        return max(wanted or 0, self.own_k)

    def wants_more(
        self, hits: Callable[[], Iterable[Hit]], *, returned: int, used_all: bool
    ) -> bool:
        """Say whether to ask once more, for more; see `FetchPlan.wants_more`."""
        return self._plan is not None and self._plan.wants_more(
            hits, returned=returned, used_all=used_all
        )

    def may_have_more(self, returned: int) -> bool:
        """Say whether more might come; not if `k` or a plan decides about the number.

        Args:
            returned: How many came.
        """
        if self.k is not None or self._plan is not None:
            return False
        return self.own_k is None or returned >= self.own_k


@dataclass(kw_only=True)
class Retrieval(ABC, Generic[_T]):
    """One question to a wrapped retriever; an adapter says what its framework does."""

    question: str
    """The question in words."""
    fetch: Fetch
    """How many objects the retriever is asked for."""
    options: ContextOptions
    overlaps: Overlaps
    """Puts chunks without positions in order, by the other chunks of their store."""
    widen: Widen | None
    """How far to read on beside the hits; None for hits alone."""
    bm25: tuple[Bm25, SearchedChunks] | None
    """The BM25 index of the store, and the chunks that the search's filter admits; None
    without BM25."""

    @abstractmethod
    def ask(self) -> Effect:
        """Return the call of the wrapped retriever, which gives objects best first."""

    @abstractmethod
    def make_hits(self, found: Sequence[_T]) -> list[Hit]:
        """Make hits of objects."""

    @abstractmethod
    def load_stored(self, chunks: Sequence[StoredChunk]) -> list[_T | None]:
        """Return the objects of chunks of the store; None for one that is gone."""

    @abstractmethod
    def find_neighbours(
        self, found: Sequence[_T], search: NeighbourSearch
    ) -> Effects[tuple[list[_T], CandidateTail]]:
        """Return hits and their neighbours as `NeighbourSearch.combine` does."""

    @abstractmethod
    def open_store(self) -> SearchedChunks | None:
        """Return the store that is searched; None if it is not known how it is read.

        Raises:
            InvalidOptionError: The search's filter cannot be carried over to it.
        """

    @abstractmethod
    def arrange(
        self, hits: Sequence[Hit], options: ContextOptions, neighbours: CandidateTail
    ) -> OrderedContext[_T]:
        """Select, order and join hits by `oprag.context.arrange`.

        Returns:
            The context, with an object for each passage.
        """

    def run(self) -> Effects[OrderedContext[_T]]:
        """Ask until the budget is full or there is no more; return the context."""
        wants_more = True
        while wants_more:
            found: list[_T] = yield self.ask()
            if self.bm25 is not None or self.widen is not None:
                found = sort_by_rank(found, self.make_hits(found), self.options)
            if self.bm25 is not None:
                found = self._fuse_with_bm25(found, *self.bm25)
            candidates, neighbours = found, NO_NEIGHBOURS
            if self.widen is not None:
                search = self._search_beside(found, self.widen)
                candidates, neighbours = yield from self.find_neighbours(found, search)
            ordered = yield from self._arrange_found(candidates, neighbours)
            wants_more = self._wants_more(found, used_all=ordered.used_all)
        if found and ordered.used_all and self.fetch.may_have_more(len(found)):
            return replace(ordered, too_few=len(found))
        return ordered

    def find_searched_chunks(self) -> SearchedChunks | None:
        """Return the stored chunks that may show the order of those without positions.

        Returns:
            None if they are not needed, or cannot be read as the search may read them.
        """
        options = self.options
        if options.documents is not None or options.position_keys is not None:
            return None
        try:
            return self.open_store()
        except InvalidOptionError:
            return None

    def _fuse_with_bm25(
        self, found: Sequence[_T], bm25: Bm25, chunks: SearchedChunks
    ) -> list[_T]:
        """Return the objects found, and those that BM25 finds, best first."""
        known = [(hit.id or "", hit.text) for hit in self.make_hits(found)]
        depth = max(self.fetch.k_to_ask, len(found))
        best = bm25.fused(self.question, known, depth, chunks)
        new = [chunk for chunk in best if not isinstance(chunk, int)]
        loaded = iter(self.load_stored(new))
        fused = list[_T]()
        for each in best:
            one = found[each] if isinstance(each, int) else next(loaded)
            if one is not None:  # else it was deleted just now
                fused.append(one)
        return fused

    def _search_beside(self, found: Sequence[_T], widen: Widen) -> NeighbourSearch:
        return NeighbourSearch(
            self.make_hits(found), widen, self.options, fills=self.fetch.chooses_k
        )

    def _arrange_found(
        self, found: Sequence[_T], neighbours: CandidateTail
    ) -> Effects[OrderedContext[_T]]:
        """Put objects in order, by the other chunks of the store if they need it."""

        def arrange_at(places: Places) -> Effect:
            def arrange(options: ContextOptions) -> OrderedContext[_T]:
                hits = self.make_hits(found)
                for rank, place in places.items():
                    hits[rank] = hits[rank]._replace(chained=place)
                return self.arrange(hits, options, neighbours)

            return load_texts_then(self.options, arrange)

        # First without other chunks. If places are missing, the overlaps of the store's
        # chunks may prove the order.
        attempt: OrderedContext[_T] | PositionError
        try:
            attempt = yield arrange_at({})
        except PositionError as error:
            attempt = error
        if isinstance(attempt, PositionError) or _lacks_places(attempt):
            chunks = self.find_searched_chunks()
            if chunks is not None:
                hits, key = self.make_hits(found), self.options.document_key
                ordered: OrderedContext[_T] = yield from self.overlaps.arrange_again(
                    arrange_at, attempt, hits, chunks, key
                )
                return ordered
        if isinstance(attempt, PositionError):
            raise attempt
        return attempt

    def _wants_more(self, found: Sequence[_T], *, used_all: bool) -> bool:
        def read_hits() -> list[Hit]:
            return self.make_hits(found)

        return self.fetch.wants_more(read_hits, returned=len(found), used_all=used_all)


def _lacks_places(ordered: OrderedContext[_T]) -> bool:
    return any(isinstance(each, PositionError) for each in ordered.problems)
