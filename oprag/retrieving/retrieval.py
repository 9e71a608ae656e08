"""One retrieval: the steps until a budget is full, and how many hits are asked for.

`Retrieval` has the steps. An adapter says how its retriever is asked, what its objects
hold, and how they are arranged. Calls of the retriever are `Effect`s: I/O that is
described here and done by the adapter. BM25 reads its store itself.

The frameworks fetch 4 (LangChain) or 2 (LlamaIndex) chunks by default, which would
starve any budget: `Fetch` says how many are asked for instead, by a `FetchPlan`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import ceil
from typing import Generic, Literal, NamedTuple, Self, TypeVar

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


class WordSearch(NamedTuple):
    """A search of the store by words, beside that of the retriever."""

    bm25: Bm25
    """The index of the store's words."""
    chunks: SearchedChunks
    """The chunks that the search's filter admits."""


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
    word_search: WordSearch | None
    """Finds further chunks of the store by the question's words; None without BM25."""

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
            if self.word_search is not None or self.widen is not None:
                found = sort_by_rank(found, self.make_hits(found), self.options)
            if self.word_search is not None:
                found = self._add_by_words(found, self.word_search)
            candidates, neighbours = found, NO_NEIGHBOURS
            if self.widen is not None:
                search = self._search_beside(found, self.widen)
                candidates, neighbours = yield from self.find_neighbours(found, search)
            ordered = yield from self._arrange_candidates(candidates, neighbours)
            wants_more = self.fetch.wants_more(
                partial(self.make_hits, found),
                returned=len(found),
                used_all=ordered.used_all,
            )
        if found and ordered.used_all and self.fetch.may_have_more(len(found)):
            return replace(ordered, too_few=len(found))
        return ordered

    def _add_by_words(self, found: Sequence[_T], search: WordSearch) -> list[_T]:
        """Return the objects found, and those that BM25 finds, best first."""
        known = [(hit.id or "", hit.text) for hit in self.make_hits(found)]
        depth = max(self.fetch.k_to_ask or 0, len(found))
        # A number stands for an object of `found`, a chunk for one that is not there.
        best = search.bm25.fuse(self.question, known, depth, search.chunks)
        new = [each for each in best if not isinstance(each, int)]
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

    def _arrange_candidates(
        self, candidates: Sequence[_T], neighbours: CandidateTail
    ) -> Effects[OrderedContext[_T]]:
        """Arrange objects, by the other chunks of the store if they need it."""

        def arrange_at(places: Places) -> Effect:
            def arrange(options: ContextOptions) -> OrderedContext[_T]:
                hits = self.make_hits(candidates)
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
                hits, key = self.make_hits(candidates), self.options.document_key
                ordered: OrderedContext[_T] = yield from self.overlaps.arrange_again(
                    arrange_at, attempt, hits, chunks, key
                )
                return ordered
        if isinstance(attempt, PositionError):
            raise attempt
        return attempt

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


def _lacks_places(ordered: OrderedContext[_T]) -> bool:
    return any(isinstance(each, PositionError) for each in ordered.problems)


class OwnNumber(NamedTuple):
    """The number of objects that a retriever is set to give."""

    k: int | None
    """The number; None if it leaves that to the store."""
    is_default: bool
    """Whether nobody chose it."""


class Fetch:
    """How many objects a wrapped retriever is asked for, in one retrieval.

    Args:
        own: The retriever's own number; None if it cannot be asked for a number.
        k: How many to return; None for as many as come.
        plan: How many to ask for if nobody chose a number, neither `own` nor `k`.
        at_least: How many to ask for at first, unless its own number is larger.
    """

    def __init__(
        self,
        own: OwnNumber | None,
        *,
        k: int | None = None,
        plan: FetchPlan | None = None,
        at_least: int = 0,
    ) -> None:
        self.k = k
        self.own_k = None if own is None else own.k
        self._takes_k = own is not None
        self._plan: FetchPlan | None = None
        if own is not None and at_least:
            self._plan = FetchPlan(max(at_least, own.k or 0))
        elif own is not None and own.is_default and k is None:
            self._plan = plan

    @property
    def chooses_k(self) -> bool:
        """Whether oprag chooses how many are asked for."""
        return self._plan is not None

    @property
    def k_to_ask(self) -> int | None:
        """How many are asked for; None to leave that to the retriever."""
        if not self._takes_k:
            return None
        wanted = self.k if self._plan is None else self._plan.k
        if wanted is None or self.own_k is None:
            return wanted or self.own_k
        return max(wanted, self.own_k)

    def wants_more(
        self, make_hits: Callable[[], Iterable[Hit]], *, returned: int, used_all: bool
    ) -> bool:
        """Return whether to ask once more, for more; see `FetchPlan.wants_more`."""
        if self._plan is None:
            return False
        return self._plan.wants_more(make_hits, returned=returned, used_all=used_all)

    def may_have_more(self, returned: int) -> bool:
        """Return whether the retriever might have more that cannot be asked for.

        Not if `k` or a plan decides about the number.

        Args:
            returned: How many came.
        """
        if self.k is not None or self._plan is not None:
            return False
        return self.own_k is None or returned >= self.own_k


class FetchPlan:
    """How many chunks to ask for: `k` at first, then twice as many, and so on.

    Args:
        k: How many at first.

    Example:
        >>> plan = FetchPlan.to_fill(token_budget=8_192)
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

    def __init__(self, k: int) -> None:
        self.k = k
        """How many to ask for next."""
        self._distinct = 0
        """The number of different hits that came last."""

    @classmethod
    def to_fill(
        cls,
        token_budget: int,
        selection: Selection = "budget",
        widen: int | Literal["fill"] | None = None,
    ) -> Self:
        """Return a plan that begins with as many chunks as would fill a budget.

        Args:
            token_budget: Tokens to fill; at least 1.
            selection: `"recall"` asks for many, so that there is something to choose
                from.
            widen: Neighbours that are read beside each hit, see
                `oprag.context.NeighbourSearch`. Fewer hits fill the budget then.
        """
        selects_by_position = selection == "recall"
        if widen == "fill":
            if selects_by_position:
                return cls(max(_FILLING_RECALL_HITS, count_seeds(token_budget)))
            return cls(_FILLING_HITS)
        neighbours_per_hit = 2 * (widen or 0)
        filling = ceil(token_budget / (SHORT_CHUNK * (1 + neighbours_per_hit)))
        if selects_by_position and not widen:
            return cls(max(_CANDIDATES, filling))
        return cls(max(_MIN_HITS, filling))

    def wants_more(
        self, make_hits: Callable[[], Iterable[Hit]], *, returned: int, used_all: bool
    ) -> bool:
        """Return whether to ask again, now for `k` chunks (which this doubles).

        Not if there are no more, or the budget is full. Nor if nothing new came: some
        stores give the same again, as often as they are asked.

        Args:
            make_hits: Makes the hits that were found for the last `k`, with those of
                BM25; called only if they matter.
            returned: How many these are.
            used_all: Whether all of them fitted the budget.
        """
        if returned < self.k or not used_all:
            return False
        distinct = set()
        for hit in make_hits():
            distinct.add((hit.text, hit.document, repr(hit.metadata), hit.offsets))
        if len(distinct) <= self._distinct:
            return False
        self._distinct = len(distinct)
        self.k *= _GROWTH
        return True
