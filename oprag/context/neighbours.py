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
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from typing import Any, NamedTuple, TypeAlias

from oprag.chunk import Hit
from oprag.context.budget import stored_count
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
    chunk_id,
    indexed_id,
    version_text,
)
from oprag.positions import as_number
from oprag.tokens import resolve_token_counter

_SLACK = 1.5
"""How many more neighbours are read than are expected to fit: they may be shorter."""

_Key: TypeAlias = tuple[str, str, int]
"""The document, the version and the index of a chunk."""


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
    rank: int, length: int, side: int, most: float
) -> Iterator[tuple[float, int, int, int]]:
    """Walk away from a hit, by its length: merged walks yield worth most first."""
    steps = 1
    while steps <= most:
        yield -lent_worth(rank, steps * length), rank, side, steps
        steps += 1


class _Place(NamedTuple):
    key: _Key
    total: float
    text: tuple[Any, str]
    """What a span is of, and its version: chunks of several sizes may be of one."""
    span: tuple[int, int] | None


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
        self._hits, self._ids = hits, ids
        self._widen, self._options = widen, options
        self.reach = math.inf if widen == "fill" else widen
        """How far to go on each side of a hit, in chunks."""
        self._budget = options.token_budget or math.inf
        self._fills = fills and options.token_budget is not None
        self._mean = _mean(hits, options) if options.token_budget else 1.0
        self._places: dict[int, _Place] = {}
        """Of the hits whose neighbours a store can give."""
        self.hits = self._counted()
        """How many of the hits count: the rest has no room beside the neighbours."""
        counted = range(min(self.hits, options.top_n or self.hits))
        self._every = frozenset(counted)
        self.unplaced = frozenset(n for n in counted if not chunk_key(hits[n].metadata))
        """Places of the hits whose neighbours a store cannot give."""

    def _counted(self) -> int:
        """Place the hits, until they fill the budget with a number of neighbours."""
        reach = self._widen if self._fills and self._widen != "fill" else None
        texts: dict[Any, str] = {}
        distinct: set[Any] = set()
        read: set[Any] = set()
        for number, hit in enumerate(self._hits):
            if len(distinct) >= (self._options.top_n or math.inf):
                break
            place = _place(hit.metadata)
            distinct.add(place or number)
            near: set[Any] = {number}
            if place and texts.setdefault(*place.text) == place.text[1]:
                self._places[number] = place
                if reach is not None:
                    *scope, at = place.key
                    last = int(min(at + reach, place.total - 1))
                    near = {(*scope, n) for n in range(max(0, at - reach), last + 1)}
            read |= near
            if reach is not None and len(read) * self._mean >= self._budget:
                return number + 1
        return len(self._hits)

    @property
    def fits(self) -> bool:
        """Whether everything that can come of these hits is expected to fit."""
        read = self.hits + len(self.wanted)
        return self._fills and read * self._mean < self._budget

    @cached_property
    def wanted(self) -> dict[_Key, tuple[int, int]]:
        """The order and the hit of each chunk to read."""
        own = {place.key for place in self._places.values()}
        wanted: dict[_Key, tuple[int, int]] = {}
        walks = []
        for number, (key, total, _, _) in self._places.items():
            length = len(self._hits[number].text)
            for side, most in ((-1, key[2]), (1, total - key[2] - 1)):
                walks.append(outward(number, length, side, min(self.reach, most)))
        for _, number, side, steps in heapq.merge(*walks):
            if len(wanted) >= self.room:
                break
            doc_key, version, at = self._places[number].key
            if (key := (doc_key, version, at + side * steps)) not in own:
                wanted.setdefault(key, (len(wanted), number))
        return wanted

    def requests(self) -> dict[_Key, str]:
        """Return what to ask a store for: chunks, as `SearchedChunks` takes them.

        An id is computed only beside a hit whose own one is computed in this way.
        """
        ids = {number: self._id_maker(number) for number in self._places}
        return {key: ids[hit](key[2]) for key, (_, hit) in self.wanted.items()}

    def _id_maker(self, number: int) -> Callable[[int], str]:
        """Return how ids beside a hit are made; empty where nothing tells."""
        own = self._ids[number] if self._ids else None
        metadata, at = self._hits[number].metadata, self._places[number].key[2]
        for made in (indexed_id, _splitters_id) if own else ():
            if made(metadata, at) == own:
                return partial(made, metadata)
        return lambda _: ""

    def neighbours(self, stored: Iterable[StoredChunk]) -> list[Neighbour]:
        """Return what came as neighbours, in the order in which they are taken.

        Args:
            stored: In any order. What was not asked for, is of another version, or is
                inside a hit (of other sizes, or joined) is left out.
        """
        found: dict[tuple[int, str], Neighbour] = {}
        spans: defaultdict[Any, list[tuple[int, int]]] = defaultdict(list)
        for place in self._places.values():
            if place.span is not None:
                spans[place.text].append(place.span)
        for chunk in stored:
            at = _place(chunk.metadata)
            if at is None or at.key not in self.wanted:
                continue
            order, hit = self.wanted[at.key]
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
        beside = (self.unplaced if stored else self._every) - linked
        if beside and self._options.documents is None:
            if beside == self._every:
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

    @cached_property
    def room(self) -> float:
        """Return the most neighbours to ask for."""
        left = self._budget / self._mean
        if self._options.selection == "budget":  # no hit is left out for them
            left -= len(self._every)
        elif self._places:  # chunks of several sizes hold one text several times
            scopes = {place.key[:2] for place in self._places.values()}
            left *= max(Counter(doc_key for doc_key, _ in scopes).values())
        return max(0, _SLACK * left)


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
    total = as_number(metadata.get(N_CHUNKS)) or math.inf
    part = key[0], as_number(metadata.get(PART_INDEX))
    start, end = as_number(metadata.get(CHAR_START)), as_number(metadata.get(CHAR_END))
    span = None if start is None or end is None else (start, end)
    return _Place(key, total, (part, version_text(key[1])), span)


def _mean(hits: Sequence[Hit], options: ContextOptions) -> float:
    """Return the tokens of a hit."""
    counter = resolve_token_counter(options.token_counter)
    stored = [stored_count(hit.metadata, counter) for hit in hits]
    tokens = [
        counter(hit.text) if count is None else count
        for hit, count in zip(hits, stored, strict=True)
    ]
    return max(1.0, sum(tokens) / max(1, len(hits)))
