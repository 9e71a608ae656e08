"""BM25 beside a store's own search, over the store's own chunks.

The index only ranks. It keeps ids and word counts, no texts: what it brings is read
from the store again, as the store holds it now, through the filter of the search. So
nothing that was deleted, changed or forbidden since comes back.
"""

from __future__ import annotations

import threading
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any, TypeAlias

from oprag.documents.searched_chunks import SearchedChunks
from oprag.documents.stored_chunks import ChunkStore, StoredChunk
from oprag.documents.words import words_of
from oprag.errors import InvalidOptionError, named
from oprag.metadata import CHAR_START, CHUNK_INDEX, DOC_KEY, PART_INDEX
from oprag.optional import require
from oprag.positions import as_number

_RRF = 60
"""Added to a rank from 1: reciprocal-rank fusion as both frameworks do it."""
_PAGE = 5_000
"""Chunks that are read at once, at most."""


class Bm25:
    """Ranks a store's chunks by the words of a question, and fuses that with a search.

    The chunks are read once, at the first question, and again when the store says that
    it holds another number of them, or when a chunk comes up, by its words or by the
    search, that is new, gone or changed. Threads share one index.

    Args:
        store: All chunks of the store; what a search may see of them is read through
            `SearchedChunks`.

    Raises:
        MissingDependencyError: The package bm25s is not there.
    """

    def __init__(self, store: ChunkStore) -> None:
        require("bm25s", extra="bm25", purpose="bm25=True")
        self._store = store
        self._index: _Index | None = None
        self._reading = threading.Lock()

    def __reduce__(self) -> tuple[Any, ...]:
        """A copy reads the chunks itself."""
        return Bm25, (self._store,)

    def fused(
        self,
        question: str,
        found: Sequence[tuple[str, str]],
        k: int,
        chunks: SearchedChunks,
    ) -> list[int | StoredChunk]:
        """Fuse what a search found with what the question's words find.

        Args:
            question: Its words are looked for.
            found: Id and text of each chunk that a search found, best first; the id is
                empty where it is not known.
            k: Chunks to find by their words, at most.
            chunks: The same store, as whoever searched may read it.

        Returns:
            What either found, best first by the sum of 1 / (60 + rank): the number in
            `found` of a chunk that the search found, or another chunk. Chunks that the
            words make equal share the last of their ranks. Of one text at one place,
            indexed in several sizes, the first is there, with the ranks of all. Of
            equals in the sum, those of the search come first.

        Raises:
            InvalidOptionError: The store does not tell the ids of its chunks.
        """
        ids = [chunk_id for chunk_id, _ in found]
        index = self._current(ids)
        if index.is_outdated(found, chunks):
            index = self._read_anew(index, ids)
        ranks, fresh, changed = index.best(question, set(ids), k, chunks)
        if changed:
            index = self._read_anew(index, ids)
            ranks, fresh, _ = index.best(question, set(ids), k, chunks)
        return _by_reciprocal_rank(ids, ranks, fresh, index.same)

    def _current(self, found: Collection[str]) -> _Index:
        index = self._index
        if index is None or not index.holds(self._store.count(), found):
            index = self._read_anew(index, found)
        return index

    def _read_anew(self, instead: _Index | None, found: Collection[str]) -> _Index:
        with self._reading:
            if self._index is None or self._index is instead:
                self._index = _Index(self._store, found)
            return self._index


class _Index:
    """The ranking of the chunks that a store held when it was made."""

    def __init__(self, store: ChunkStore, found: Collection[str]) -> None:
        bm25s = require("bm25s", extra="bm25", purpose="bm25=True")
        stopwords = require("bm25s.stopwords", extra="bm25", purpose="bm25=True")
        self._stopwords = frozenset(stopwords.STOPWORDS_EN)
        self._count = store.count()
        # Stores give their chunks in any order: equals are ranked as they are read.
        kept = sorted({_placed(chunk) for chunk in store.scan()})
        self._ids = [chunk_id for *_, chunk_id in kept]
        self.same = _first_of_each(kept)
        """Of chunks of one text at one place, the id of the first by those of all."""
        self._places = {chunk_id: place for place, chunk_id in enumerate(self._ids)}
        if "" in self._ids:
            raise _without_ids(store)
        self._texts = {chunk_id: hash(text) for *_, text, chunk_id in kept}
        self._known = {*self._texts, *found}
        self._shown: dict[str, int] = {}
        numbers: dict[str, int] = {}
        worded = [
            [
                numbers.setdefault(word, len(numbers))
                for word in words_of(text, self._stopwords)
            ]
            for *_, text, _ in kept
        ]
        self._words = numbers
        self._bm25 = bm25s.BM25()
        if numbers:
            self._bm25.index((worded, numbers), show_progress=False)

    def holds(self, count: int | None, found: Collection[str]) -> bool:
        """Say whether a store of so many chunks, and these among them, is this one."""
        return count == self._count and self._known.issuperset(filter(None, found))

    def is_outdated(
        self, found: Sequence[tuple[str, str]], chunks: SearchedChunks
    ) -> bool:
        """Say whether the store has another text by now of what a search found."""
        texts = {each: hash(text) for each, text in found if each in self._texts}
        unlike = {
            each: text
            for each, text in texts.items()
            if text not in (self._texts[each], self._shown.get(each))
        }
        # A retriever may show a text otherwise than the store has it, each time.
        self._shown.update(unlike)
        return any(
            hash(chunk.text) != self._texts.get(chunk.id)
            for chunk in chunks.read_ids(unlike)
        )

    def best(
        self, question: str, found: set[str], k: int, chunks: SearchedChunks
    ) -> tuple[dict[str, int], dict[str, StoredChunk], bool]:
        """Return the ranks of the best, those that were read, and if any changed."""
        listed: list[str] = []
        fresh: dict[str, StoredChunk] = {}
        changed = False
        scores = self._scores(question)
        for page in self._ranked(scores, k):
            unread = [each for each in page if each not in found]
            read = {chunk.id: chunk for chunk in chunks.read_ids(unread)}
            gone = not chunks.filtered and len(read) < len(set(unread))
            changed |= gone or any(
                hash(chunk.text) != self._texts.get(each)
                for each, chunk in read.items()
            )
            fresh.update(read)
            seen = [each for each in page if each in found or each in read]
            listed += seen
            if len(listed) >= k:
                break
            # Of what few may see, reading all costs less than looking for it by rank.
            if chunks.filtered and len(self._ids) * len(seen) ** 2 < k * len(page) ** 2:
                fresh = {chunk.id: chunk for chunk in chunks.read_all()}
                every = next(self._ranked(scores, len(self._ids)))
                listed = [each for each in every if each in found or each in fresh]
                break
        return self._shared(listed[:k], scores), fresh, changed

    def _shared(self, listed: Sequence[str], scores: Any) -> dict[str, int]:
        """Ranks from 1 of the best; those of the same score share the last of theirs.

        Else what stands first in its document would be preferred among equals.
        """
        ranks: dict[str, int] = {}
        for _, equals in groupby(listed, lambda each: scores[self._places[each]]):
            those = [*equals]
            ranks |= dict.fromkeys(those, len(ranks) + len(those))
        return ranks

    def _scores(self, question: str) -> Any:
        """What each chunk is worth by the words; nothing if none is known."""
        asked = [
            word for word in words_of(question, self._stopwords) if word in self._words
        ]
        return self._bm25.get_scores(asked) if asked else ()

    def _ranked(self, scores: Any, k: int) -> Iterator[list[str]]:
        """Ids of what has one of the words, best first, by `k` and then more."""
        if not len(scores):
            return
        order = (-scores).argsort(kind="stable")
        order = order[: int((scores > 0).sum())]
        start, size = 0, k
        while start < len(order):
            yield [self._ids[number] for number in order[start : start + size]]
            start, size = start + size, min(2 * size, max(k, _PAGE))


def _by_reciprocal_rank(
    found: Sequence[str],
    ranks: Mapping[str, int],
    fresh: dict[str, StoredChunk],
    same: Mapping[str, str],
) -> list[int | StoredChunk]:
    first: dict[str, int | str] = {}
    worth: dict[int | str, float] = {}
    for number, each in enumerate(found):
        key = first.setdefault(same.get(each, each), number) if each else number
        worth[key] = worth.get(key, 0.0) + 1 / (_RRF + number + 1)
    for each, rank in ranks.items():
        key = first.setdefault(same.get(each, each), each)
        worth[key] = worth.get(key, 0.0) + 1 / (_RRF + rank)
    best = sorted(worth, key=lambda key: -worth[key])
    return [key if isinstance(key, int) else fresh[key] for key in best]


_Placed: TypeAlias = tuple[str, int, int, int, str, str]


def _placed(chunk: StoredChunk) -> _Placed:
    """Document, number, part, place, text and id: in this order equals are ranked."""
    numbers = (
        as_number(chunk.metadata.get(key))
        for key in (CHUNK_INDEX, PART_INDEX, CHAR_START)
    )
    number, part, start = (-1 if each is None else each for each in numbers)
    document = str(chunk.metadata.get(DOC_KEY, ""))
    return document, number, part, start, chunk.text, chunk.id


def _first_of_each(chunks: Sequence[_Placed]) -> dict[str, str]:
    first: dict[tuple[object, ...], str] = {}
    same: dict[str, str] = {}
    for document, _, part, start, text, each in chunks:
        if document and start >= 0:
            place = document, part, start, text
            same[each] = first.setdefault(place, each)
    return {each: one for each, one in same.items() if each != one}


def no_words(searched: object) -> InvalidOptionError:
    """Return the error for a search whose store's chunks cannot be read.

    Args:
        searched: What searches.
    """
    message = (
        "bm25=True finds chunks by their words in the one store that is searched, and "
        f"how the chunks of {named(searched)} are read is not known. Wrap the "
        "retriever of a store that docs/stores.md lists, or leave bm25= out."
    )
    return InvalidOptionError(message, option="bm25", value=True)


def _without_ids(store: ChunkStore) -> InvalidOptionError:
    message = (
        f"bm25=True reads chunks by their ids, and {store.name} gives chunks without "
        "one. Have its ChunkStore give them, or leave bm25= out."
    )
    return InvalidOptionError(message, option="bm25", value=True)
