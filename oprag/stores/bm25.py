"""BM25 beside a store's own search, over the store's own chunks.

The index only ranks. It keeps ids, hashes and word counts, no texts: what it brings is
read from the store again, as the store holds it now, through the filter of the search.
So nothing that was deleted, changed or forbidden since comes back.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any, TypeAlias

from oprag.errors import InvalidOptionError, describe_type
from oprag.metadata import CHAR_START, CHUNK_INDEX, DOC_KEY, PART_INDEX, as_number
from oprag.optional import require
from oprag.stores.bm25_tokenizer import words_of
from oprag.stores.searched_chunks import SearchedChunks
from oprag.stores.stored_chunks import ChunkStore, StoredChunk

_RRF = 60
"""Added to a rank from 1: reciprocal-rank fusion as both frameworks do it."""
_PAGE = 5_000
"""Chunks that are read at once, at most."""


class Bm25:
    """Ranks a store's chunks by the words of a question, and fuses that with a search.

    The chunks are read once, at the first question, and again when the store holds
    another number of them, or when a chunk comes up, by its words or by the search,
    that is new, gone or changed. Threads share one index.

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

    def forget(self) -> None:
        """Forget the chunks: the store was written to."""
        with self._reading:
            self._index = None

    @staticmethod
    def refusal(searched: object) -> InvalidOptionError:
        """Return the error for a search whose store's chunks cannot be read.

        Args:
            searched: What searches.
        """
        message = (
            "bm25=True finds chunks by their words in the store that is searched, but "
            f"oprag cannot read the chunks of {describe_type(searched)}. Wrap the "
            "retriever of a store that docs/stores.md lists."
        )
        return InvalidOptionError(message, option="bm25", value=True)

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
            chunks: The same store, as anyone who searched may read it.

        Returns:
            What either found, best first by the sum of 1 / (60 + rank): the number in
            `found` of a chunk that the search found, or another chunk. Chunks that the
            words make equal share the last of their ranks. Of one text at one place,
            indexed in several sizes, the first is there, with the ranks of all. Of
            equals in the sum, those of the search come first.
        """
        texts = {each: text for each, text in found if each}
        index = self._index
        if index is None or not index.holds(self._store.count(), texts):
            index = self._read_anew(index, texts)
        ranks, fresh, changed = index.best(question, texts, k, chunks)
        if changed:
            index = self._read_anew(index, texts)
            ranks, fresh, _ = index.best(question, texts, k, chunks)
        return _fuse_by_reciprocal_rank([i for i, _ in found], ranks, fresh, index.same)

    def _read_anew(self, instead: _Index | None, found: Mapping[str, str]) -> _Index:
        with self._reading:
            if self._index is None or self._index is instead:
                self._index = _Index(self._store, found)
            return self._index


class _Index:
    """The ranking of the chunks that a store held when it was made."""

    def __init__(self, store: ChunkStore, found: Mapping[str, str]) -> None:
        bm25s = require("bm25s", extra="bm25", purpose="bm25=True")
        stopwords = require("bm25s.stopwords", extra="bm25", purpose="bm25=True")
        self._stopwords = frozenset(stopwords.STOPWORDS_EN)
        self._count = store.count()
        # Stores give their chunks in any order: equals are ranked as they are read.
        kept = sorted({_make_sort_key(chunk) for chunk in store.read()})
        self._ids = [chunk_id for *_, chunk_id in kept]
        if "" in self._ids:
            message = (
                f"bm25=True reads chunks by their ids, and {store.name} gives chunks "
                "without one. Have its ChunkStore give them."
            )
            raise InvalidOptionError(message, option="bm25", value=True)
        self.same = _first_of_each(kept)
        """Of chunks of one text at one place, the id of the first by those of all."""
        self._places = {chunk_id: place for place, chunk_id in enumerate(self._ids)}
        self._texts = {chunk_id: hash(text) for *_, text, chunk_id in kept}
        self._known = self._texts.keys() | found.keys()
        self._words: dict[str, int] = {}
        worded = [
            [
                self._words.setdefault(word, len(self._words))
                for word in words_of(text, self._stopwords)
            ]
            for *_, text, _ in kept
        ]
        self._bm25 = bm25s.BM25()
        if self._words:
            self._bm25.index((worded, self._words), show_progress=False)

    def holds(self, count: int | None, found: Mapping[str, str]) -> bool:
        """Return whether it is of a store of this many chunks, these among them."""
        return count == self._count and found.keys() <= self._known

    def best(
        self, question: str, found: Mapping[str, str], k: int, chunks: SearchedChunks
    ) -> tuple[dict[str, int], dict[str, StoredChunk], bool]:
        """Return the ranks of the best, from 1, what was read, and if any changed."""
        # A retriever may show a text otherwise than the store has it.
        unlike = [i for i in found if self._is_changed(i, found[i])]
        changed = any(self._is_changed(c.id, c.text) for c in chunks.read_ids(unlike))
        listed: list[str] = []
        fresh: dict[str, StoredChunk] = {}
        words = words_of(question, self._stopwords)
        asked = [word for word in words if word in self._words]
        scores = self._bm25.get_scores(asked) if asked else ()
        for page in self._rank(scores, k):
            unread = [each for each in page if each not in found]
            read = {chunk.id: chunk for chunk in chunks.read_ids(unread)}
            gone = not chunks.filtered and len(read) < len(unread)
            changed |= gone or any(self._is_changed(i, read[i].text) for i in read)
            fresh |= read
            listed += [each for each in page if each in found or each in read]
            if len(listed) >= k:
                break
        # Of the same score each shares the last rank: else the first in its document
        # would be preferred among equals.
        ranks: dict[str, int] = {}
        for _, equals in groupby(listed[:k], lambda each: scores[self._places[each]]):
            those = [*equals]
            ranks |= dict.fromkeys(those, len(ranks) + len(those))
        return ranks, fresh, changed

    def _is_changed(self, chunk_id: str, text: str) -> bool:
        return self._texts.get(chunk_id, hash(text)) != hash(text)

    def _rank(self, scores: Any, k: int) -> Iterator[list[str]]:
        """Yield ids of what has one of the words, best first, by `k` and then more."""
        if not len(scores):
            return
        order = (-scores).argsort(kind="stable")[: int((scores > 0).sum())]
        start, size = 0, k
        while start < len(order):
            yield [self._ids[number] for number in order[start : start + size]]
            start, size = start + size, min(2 * size, max(k, _PAGE))


def _fuse_by_reciprocal_rank(
    found: Sequence[str],
    ranks: Mapping[str, int],
    fresh: Mapping[str, StoredChunk],
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


def _make_sort_key(chunk: StoredChunk) -> _Placed:
    """Return document, number, part, place, text and id: so equals are ranked."""
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
