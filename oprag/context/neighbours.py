"""Choose the neighbours of hits to read from a store.

Those beside the best hits come first, by their worth in `selection="recall"`. They are
named by document, version and `chunk_index`, and by their ids if those can be computed,
so that a store gives all of them in one query. There is no I/O here: `SearchedChunks`
asks the store. The text beside a hit in full texts is cut out by `slices.py`.
"""

from __future__ import annotations

import heapq
import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from itertools import count
from operator import attrgetter
from typing import Any, NamedTuple, TypeAlias, TypeVar

from oprag.chunk import Hit
from oprag.context.options import ContextOptions, Widen
from oprag.context.recall import proximity_score
from oprag.errors import InvalidOptionError
from oprag.metadata import (
    DOC_URI,
    DOC_VERSION,
    N_CHUNKS,
    TOKEN_COUNT,
    TOKEN_COUNTER,
    as_number,
    chunk_id,
    indexed_ids,
)
from oprag.stores import ChunkKey, StoredChunk, chunk_key
from oprag.tokens import resolve_token_counter

_T = TypeVar("_T")
_Ids: TypeAlias = Callable[[int], str]
"""The id of the chunk with a number."""
_IdsOf: TypeAlias = Callable[[Mapping[str, Any]], _Ids]
_SLACK = 1.5
"""Neighbours to read for each that is expected to fit: they may be shorter."""
_SAMPLE = 16  # hits by which the length of all is known

_NO_STORE = (
    "widen= reads neighbours from the store that is searched, but no store is known "
    "here that it can read. Give the full texts as documents=."
)


class CandidateTail(NamedTuple):
    """The neighbours of hits: those at the end of the hits' list, and those to cut."""

    length: int = 0
    """How many at the end of the list take the room that the hits before them leave:
    chunks that were read from beside hits, then hits ranked below these."""
    widen: Widen = "fill"
    """How far to read on in full texts, beside the hits of `beside`."""
    beside: frozenset[int] = frozenset()
    """Indices of the hits, in the list, whose neighbours are slices of the full texts
    of `documents`."""
    lacking: InvalidOptionError | None = None
    """The error to report if no hit names its neighbours."""
    n_read: int = 0
    """How many of `length` were read from beside hits: they come first."""


NO_NEIGHBOURS = CandidateTail()
"""Every chunk of the list is a hit, and nothing is read beside one."""


def check_widening(
    widen: Widen | None, options: ContextOptions, *, stored: bool
) -> None:
    """Refuse to widen without a limit, or without a source.

    Raises:
        InvalidOptionError: `widen` is `"fill"` without a token budget; or there are
            neither stored chunks nor full texts to read.
    """
    if widen == "fill" and options.token_budget is None:
        message = (
            'widen="fill" reads neighbours with what the token budget leaves, but '
            "none is given. Set token_budget=."
        )
        raise InvalidOptionError(message, option="token_budget", value=None)
    if widen is not None and not stored and options.documents is None:
        raise InvalidOptionError(_NO_STORE, option="widen", value=widen)


class NeighbourSearch:
    """The neighbours that the hits of one retrieval want of a store.

    Args:
        hits: Best first. Not changed.
        widen: How many chunks on each side, or `"fill"` for as many as the token budget
            leaves room for, those beside the best hits first.
        options: `top_n` limits the hits, `token_budget` all that is read.
        fills: Whether nobody said how many hits are wanted. If `widen` is a number,
            neighbours then come before the hits that have no room beside them.
    """

    def __init__(
        self, hits: Sequence[Hit], widen: Widen, options: ContextOptions, *, fills: bool
    ) -> None:
        self._hits = hits
        self._widen, self._options = widen, options
        self.reach = math.inf if widen == "fill" else widen
        """How far to go on each side of a hit, in chunks."""
        self.lent = proximity_score
        room, self.hits = math.inf, len(hits)
        """How many hits come before neighbours."""
        if options.token_budget is not None:
            room = options.token_budget / _mean_tokens(hits[:_SAMPLE], options)
        if options.selection == "budget":  # no hit is left out for them
            if fills and widen != "fill":
                self.hits = min(self.hits, math.ceil(room / (1 + 2 * widen)))
            room -= self.hits
        self.room = _SLACK * room
        """The most neighbours to ask for."""
        self._every = frozenset(range(self.hits)[: options.top_n])
        keys = {number: chunk_key(hits[number].metadata) for number in self._every}
        self._keys = {number: key for number, key in keys.items() if key is not None}
        self.unplaced = self._every - self._keys.keys()
        """Places of the hits whose neighbours a store cannot give."""

    @property
    def names_none(self) -> bool:
        """Whether no hit names its neighbours by document and index."""
        return not self._keys

    @cached_property
    def wanted(self) -> dict[ChunkKey, int]:
        """The hit of each chunk to read, those worth most first."""
        own = {*self._keys.values()}
        wanted: dict[ChunkKey, int] = {}
        for _, number, step in heapq.merge(*map(self._walk, sorted(self._keys))):
            if len(wanted) >= self.room:
                break
            doc_key, version, at = self._keys[number]
            if (key := (doc_key, version, at + step)) not in own:
                wanted.setdefault(key, number)
        return wanted

    def _walk(self, number: int) -> Iterator[tuple[float, int, int]]:
        """Walk away from a hit on both sides; its steps are negative before it."""
        at, length = self._keys[number][2], len(self._hits[number].text)
        total = as_number(self._hits[number].metadata.get(N_CHUNKS)) or math.inf
        for step in count(1):
            if step > min(self.reach, max(at, total - at - 1)):
                return
            for side in (-step, step):
                if 0 <= at + side < total:
                    yield -self.lent(number, step * length), number, side

    def requests(self) -> dict[ChunkKey, str]:
        """Return the chunks to ask a store for, as `SearchedChunks` takes them.

        An id is computed only beside a hit whose own id is computed in the same way.
        """
        makers: list[_IdsOf] = [indexed_ids, _splitters_ids]
        ids = {
            number: self._ids_beside(number, makers)
            for number in dict.fromkeys(self.wanted.values())
        }
        return {key: ids[hit](key[2]) for key, hit in self.wanted.items()}

    def _ids_beside(self, number: int, makers: list[_IdsOf]) -> _Ids:
        """Return the maker of ids beside a hit; it makes empty ones if none is known.

        The maker of one id made most: it comes first in `makers` for the next hit.
        """
        hit, at = self._hits[number], self._keys[number][2]
        if hit.id is None:
            return lambda _: ""
        for place, ids_of in enumerate(makers):
            ids = ids_of(hit.metadata)
            if ids(at) == hit.id:
                makers.insert(0, makers.pop(place))
                return ids
        return lambda _: ""

    def neighbours(
        self, stored: Iterable[StoredChunk]
    ) -> list[tuple[int, StoredChunk]]:
        """Return the chunks asked for, worth most first, each with its hit's place."""
        found: defaultdict[Any, list[StoredChunk]] = defaultdict(list)
        for chunk in sorted(stored, key=attrgetter("id")):
            found[chunk_key(chunk.metadata)].append(chunk)
        return [(hit, each) for key, hit in self.wanted.items() for each in found[key]]

    def combine(
        self,
        found: Sequence[_T],
        read: Sequence[_T],
        *,
        stored: bool,
        linked: frozenset[int] = frozenset(),
    ) -> tuple[list[_T], CandidateTail]:
        """Return hits and neighbours as `arrange` takes them.

        Args:
            found: The framework's objects of the hits.
            read: Those of their neighbours, best first.
            stored: Whether a store could be asked for `requests`.
            linked: Places of hits that name their neighbours in another way. Beside the
                others, full texts are read on.
        """
        objects = [*found[: self.hits], *read, *found[self.hits :]]
        behind = CandidateTail(len(objects) - self.hits, n_read=len(read))
        beside = (self.unplaced if stored else self._every) - linked
        if self._options.documents is not None:
            return objects, behind._replace(widen=self._widen, beside=beside)
        if not beside or beside != self._every:
            return objects, behind
        message = (
            "widen= finds neighbours by doc_key and chunk_index, and the chunks have "
            f"neither (their metadata: {', '.join(self._hits[0].metadata)}). "
            "Index them with index_documents."
        )
        if not self.names_none:
            message = _NO_STORE
        error = InvalidOptionError(message, option="widen", value=self._widen)
        return objects, CandidateTail(lacking=error)


def _mean_tokens(hits: Sequence[Hit], options: ContextOptions) -> float:
    """Return about how many tokens a hit has, by stored counts if there are any.

    At least 1.
    """
    counter, stored = resolve_token_counter(options.token_counter), list[int]()
    for hit in hits:
        is_known = counter.name and hit.metadata.get(TOKEN_COUNTER) == counter.name
        tokens = as_number(hit.metadata.get(TOKEN_COUNT)) if is_known else None
        if tokens is None:
            stored = [counter(" ".join(hit.text for hit in hits))]
            break
        stored.append(tokens)
    return max(1, sum(stored) / max(1, len(hits)))


def _splitters_ids(metadata: Mapping[str, Any]) -> _Ids:
    """Return the function that makes the ids of a splitter."""
    name, version = (str(metadata.get(key) or "") for key in (DOC_URI, DOC_VERSION))
    return partial(chunk_id, name, version=version)
