"""Neighbours of what was retrieved: which chunks of a store are read.

A hit is often understood only with the chunks before and after it. Those that stand
beside the best hits come first, by what `selection="recall"` says that they are worth.
Of a store they are named by document, version and `chunk_index`, and by their ids where
those can be computed, so that it gives all of them in one query: without I/O here,
`SearchedChunks` does the asking. What full texts have beside a hit is in `slices.py`.
"""

from __future__ import annotations

import heapq
import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple, TypeAlias

from oprag.chunk import Hit
from oprag.context.options import ContextOptions, Widen
from oprag.context.recall import lent_worth
from oprag.documents import StoredChunk, chunk_key
from oprag.errors import InvalidOptionError
from oprag.metadata import (
    CHAR_END,
    CHAR_START,
    DOC_URI,
    DOC_VERSION,
    N_CHUNKS,
    PART_INDEX,
    TOKEN_COUNT,
    TOKEN_COUNTER,
    chunk_id,
    indexed_id,
    version_text,
)
from oprag.positions import as_number
from oprag.tokens import resolve_token_counter

_SLACK = 1.5
"""How many more neighbours are read than are expected to fit: they may be shorter."""

_Scope: TypeAlias = tuple[str, str]
"""The document and the version of a chunk."""


class Neighbours(NamedTuple):
    """The chunks of a list that were not retrieved but are beside hits."""

    number: int = 0
    """The number of these at the end of the list."""
    widen: Widen | None = None
    """How far to read on in full texts, beside the hits of `beside`."""
    beside: frozenset[int] = frozenset()
    """Places of hits whose neighbours are slices of the full texts of `documents`."""
    lacking: InvalidOptionError | None = None
    """The error to report where no hit names its neighbours."""


ALONE = Neighbours()
"""Nothing but hits."""


class Neighbour(NamedTuple):
    """A chunk beside a hit."""

    chunk: StoredChunk
    hit: int
    """The place of the hit that brought it, in the list that was given."""


def check_widening(
    widen: Widen | None, options: ContextOptions, *, stored: bool
) -> None:
    """Refuse to widen without a limit, or out of nothing.

    Raises:
        InvalidOptionError: `widen` is `"fill"` without a token budget; or there are
            neither such chunks nor full texts.
    """
    if widen == "fill" and options.token_budget is None:
        message = (
            'widen="fill" reads neighbours with what the token budget leaves, but '
            "none is given. Set token_budget=."
        )
        raise InvalidOptionError(message, option="token_budget", value=None)
    if widen is not None and not stored and options.documents is None:
        message = (
            "widen= reads neighbours from the store that is searched, but no store is "
            "known here that it can read. Give the full texts as documents=."
        )
        raise InvalidOptionError(message, option="widen", value=widen)


def outward(
    lengths: Mapping[int, int], reach: float, take: Callable[[int, int, int], bool]
) -> None:
    """Walk away from hits on both sides, to what is worth most first.

    Args:
        lengths: Characters of each hit, by its rank: so far is a step.
        reach: How many steps to go.
        take: Given the rank, the side (-1 or 1) and the steps from the hit. Returns
            whether to go on there.
    """
    nearest = [
        (-lent_worth(rank, length), rank, side, 1)
        for rank, length in lengths.items()
        for side in (-1, 1)
    ]
    heapq.heapify(nearest)
    while nearest:
        _, rank, side, steps = heapq.heappop(nearest)
        if steps <= reach and take(rank, side, steps):
            worth = lent_worth(rank, (steps + 1) * lengths[rank])
            heapq.heappush(nearest, (-worth, rank, side, steps + 1))


class _Place(NamedTuple):
    scope: _Scope
    at: int
    total: float
    part: Any
    span: tuple[int, int] | None

    @property
    def text(self) -> tuple[str, str, Any]:
        """The text of a span: chunks of several sizes may be of one."""
        return self.scope[0], version_text(self.scope[1]), self.part


class Widening:
    """The neighbours that the hits of one retrieval want of a store.

    Args:
        hits: Best first. Not changed.
        widen: How many chunks on each side; or `"fill"`: as many as the token budget
            leaves room for, those beside the best first.
        options: `top_n` limits the hits, `token_budget` what is read in all.
        fills: Whether nobody said how many hits are wanted. Then, with a number of
            neighbours, only the best hits count that fill the budget with them.
        ids: The store's own id of each hit, where it is known.
    """

    def __init__(
        self,
        hits: Sequence[Hit],
        widen: Widen,
        options: ContextOptions,
        *,
        fills: bool,
        ids: Sequence[str | None] = (),
    ) -> None:
        self._hits = hits
        self._ids = ids
        self._widen = widen
        self._options = options
        self.reach = math.inf if widen == "fill" else widen
        """How far to go on each side of a hit, in chunks."""
        self.hits = len(hits)
        """How many of the hits count: the rest has no room beside the neighbours."""
        self.fits = False
        """Whether everything that can come of these hits is expected to fit."""
        self._mean = 1.0 if options.token_budget is None else _mean(hits, options)
        if fills and options.token_budget is not None:
            self._limit(options.token_budget)

    @cached_property
    def places(self) -> dict[int, _Place]:
        """Places of the hits whose neighbours a store can give."""
        places: dict[int, _Place] = {}
        texts: dict[Any, str] = {}
        distinct: set[Any] = set()
        for number, hit in enumerate(self._hits[: self.hits]):
            if self._options.top_n is not None and len(distinct) >= self._options.top_n:
                break
            place = _place(hit.metadata)
            distinct.add(number if place is None else place)
            if place is not None:
                doc_key, text, part = place.text
                if texts.setdefault((doc_key, part), text) == text:
                    places[number] = place
        return places

    @cached_property
    def unplaced(self) -> frozenset[int]:
        """Places of the hits whose neighbours a store cannot give."""
        hits = self._hits[: self.hits][: self._options.top_n]
        return frozenset(n for n, h in enumerate(hits) if chunk_key(h.metadata) is None)

    @cached_property
    def wanted(self) -> dict[tuple[_Scope, int], tuple[int, int]]:
        """The order and the hit of each chunk to read, by its document and index."""
        room, places = self.room, self.places
        own = {(place.scope, place.at) for place in places.values()}
        wanted: dict[tuple[_Scope, int], tuple[int, int]] = {}

        def take(number: int, side: int, steps: int) -> bool:
            place = places[number]
            index = place.at + side * steps
            if len(wanted) >= room or not 0 <= index < place.total:
                return False
            if (place.scope, index) not in own:
                wanted.setdefault((place.scope, index), (len(wanted), number))
            return True

        lengths = {number: len(self._hits[number].text) for number in places}
        outward(lengths, self.reach, take)
        return wanted

    def requests(self) -> dict[tuple[str, str, int], str]:
        """Return what to ask a store for: chunks, as `SearchedChunks` takes them.

        An id is computed only beside a hit whose own one is computed in this way.
        """
        ids = {number: self._computed_id(number) for number in self.places}
        return {
            (*scope, index): made(self._hits[hit].metadata, index)
            if (made := ids[hit])
            else ""
            for (scope, index), (_, hit) in self.wanted.items()
        }

    def _computed_id(self, number: int) -> Callable[..., str] | None:
        """Return how a hit's id is made; None where its metadata do not tell."""
        own = self._ids[number] if self._ids else None
        metadata, at = self._hits[number].metadata, self.places[number].at
        made = (each for each in (indexed_id, _splitters_id) if own)
        return next((each for each in made if each(metadata, at) == own), None)

    def neighbours(self, stored: Iterable[StoredChunk]) -> list[Neighbour]:
        """Return what came as neighbours, in the order in which they are taken.

        Args:
            stored: In any order. What was not asked for, is of another version, or is
                inside a hit (of other sizes, or joined) is left out.
        """
        found: dict[tuple[int, str], Neighbour] = {}
        spans: defaultdict[Any, list[tuple[int, int]]] = defaultdict(list)
        for place in self.places.values():
            if place.span is not None:
                spans[place.text].append(place.span)
        for chunk in stored:
            at = _place(chunk.metadata)
            if at is None or at[:2] not in self.wanted:
                continue
            order, hit = self.wanted[at[:2]]
            start, end = at.span or (-1, -1)
            if not any(s <= start and end <= e for s, e in spans[at.text]):
                found[order, chunk.id] = Neighbour(chunk, hit)
        return [found[key] for key in sorted(found)]

    def behind(
        self, count: int, *, stored: bool, linked: frozenset[int] = frozenset()
    ) -> Neighbours:
        """Return what `arrange` is given of neighbours.

        Args:
            count: How many were read.
            stored: Whether a store could be asked for `requests`.
            linked: Places of hits that tell their neighbours otherwise. Beside the
                others full texts are read on.
        """
        every = frozenset(range(min(self.hits, self._options.top_n or self.hits)))
        beside = (self.unplaced if stored else every) - linked
        if beside and self._options.documents is None:
            if beside == every:
                metadata = self._hits[0].metadata
                message = (
                    "widen= finds neighbours by doc_key and chunk_index, and the "
                    f"chunks have neither (their metadata: {', '.join(metadata)}). "
                    "Index them with index_documents."
                )
                error = InvalidOptionError(message, option="widen", value=self._widen)
                return Neighbours(lacking=error)
            beside = frozenset()
        return Neighbours(count, self._widen, beside) if count or beside else ALONE

    def _limit(self, budget: int) -> None:
        """Count the hits that fill a budget with their neighbours."""
        if self.reach == math.inf:
            whole = {place.scope: place.total for place in self.places.values()}
            read = sum(whole.values()) + len(self._hits) - len(self.places)
            self.fits = read * self._mean < budget
            return
        read, known = 0, set[tuple[_Scope, int]]()
        for number in range(len(self._hits)):
            if place := self.places.get(number):
                first, last = place.at - self.reach, place.at + self.reach
                inside = range(max(0, int(first)), int(min(last + 1, place.total)))
                known |= {(place.scope, index) for index in inside}
            else:
                read += 1
            if (read + len(known)) * self._mean >= budget:
                self.hits = number + 1
                del self.places  # of fewer
                return
        self.fits = True

    @cached_property
    def room(self) -> float:
        """Return the most neighbours to ask for."""
        budget = self._options.token_budget
        if budget is None:
            return math.inf
        left = budget / self._mean
        if self._options.selection == "budget":  # no hit is left out for them
            left -= min(self.hits, self._options.top_n or self.hits)
        elif self.places:  # chunks of several sizes hold one text several times
            scopes = {place.scope for place in self.places.values()}
            left *= max(Counter(doc_key for doc_key, _ in scopes).values())
        return math.ceil(_SLACK * left) if left > 0 else 0


def _splitters_id(metadata: Mapping[str, Any], index: int) -> str:
    """Return the id that a splitter gives; among parts it counts in each part."""
    name, version = metadata.get(DOC_URI), str(metadata.get(DOC_VERSION) or "")
    if not name or PART_INDEX in metadata:
        return ""
    return chunk_id(str(name), index, version=version)


def _place(metadata: Mapping[str, Any]) -> _Place | None:
    key = chunk_key(metadata)
    if key is None:
        return None
    start, end = as_number(metadata.get(CHAR_START)), as_number(metadata.get(CHAR_END))
    return _Place(
        key[:2],
        key[2],
        as_number(metadata.get(N_CHUNKS)) or math.inf,
        as_number(metadata.get(PART_INDEX)),
        None if start is None or end is None else (start, end),
    )


def _mean(hits: Sequence[Hit], options: ContextOptions) -> float:
    """Return the tokens of a hit."""
    counter = resolve_token_counter(options.token_counter)

    def tokens(hit: Hit) -> int:
        known = counter.name and hit.metadata.get(TOKEN_COUNTER) == counter.name
        stored = as_number(hit.metadata.get(TOKEN_COUNT)) if known else None
        return counter(hit.text) if stored is None else stored

    return max(1.0, sum(map(tokens, hits)) / max(1, len(hits)))
