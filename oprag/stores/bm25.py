"""BM25 beside a store's search, over the store's chunks.

The index only ranks. It keeps ids, hashes and word counts, and no texts. The chunks
that it finds are read from the store again, in their present state, through the filter
of the search. So no chunk comes back that was deleted, changed or forbidden since.
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
"""The most chunks to read at once."""


class Bm25:
    """Ranks a store's chunks by the words of a question, and fuses that with a search.

    The chunks are read once, at the first question. They are read again if the store
    holds another number of them, or if the words or the search find a chunk that is
    new, gone or changed. Threads share one index.

    Raises:
        MissingDependencyError: The package bm25s is not there.
    """

    def __init__(self, store: ChunkStore) -> None:
        require("bm25s", extra="bm25", purpose="bm25=True")
        self._store = store
        self._index: _Index | None = None
        self._reading = threading.Lock()

    def __reduce__(self) -> tuple[Any, ...]:
        """Make copies without the index: each copy reads the chunks itself."""
        return Bm25, (self._store,)

    def forget(self) -> None:
        """Forget the chunks: the store was written to."""
        with self._reading:
            self._index = None

    @staticmethod
    def refusal(searched: object) -> InvalidOptionError:
        """Return the error for a search whose store's chunks cannot be read.

        Args:
            searched: The object that searches.
        """
        message = (
            "bm25=True finds chunks by their words in the store that is searched, but "
            f"oprag cannot read the chunks of {describe_type(searched)}. Wrap the "
            "retriever of a store that docs/stores.md lists."
        )
        return InvalidOptionError(message, option="bm25", value=True)

    def fuse(
        self,
        question: str,
        found: Sequence[tuple[str, str]],
        k: int,
        chunks: SearchedChunks,
    ) -> list[int | StoredChunk]:
        """Fuse the chunks of a search with those that the question's words find.

        Args:
            question: The question, whose words are looked for.
            found: Id and text of each chunk that a search found, best first; the id is
                empty if it is not known.
            k: The most chunks to find by their words.
            chunks: The same store, with only the chunks that the searcher may read.

        Returns:
            The chunks that either found, best first by the sum of 1 / (60 + rank): the
            number in `found` of a chunk that the search found, or another chunk. Chunks
            that the words rank as equal share the last of their ranks. If one text at
            one place is indexed in several sizes, the first is there, with the ranks of
            all. Among equal sums, those of the search come first.
        """
        texts = {each: text for each, text in found if each}
        index = self._index
        if index is None or not index.is_current(self._store.count(), texts):
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
        # Stores give their chunks in any order, so equals are ranked in reading order.
        kept = sorted({_make_sort_key(chunk) for chunk in store.read()})
        self._ids = [chunk_id for *_, chunk_id in kept]
        if "" in self._ids:
            message = (
                f"bm25=True reads chunks by their ids, and {store.name} gives chunks "
                "without one. Have its ChunkStore give them."
            )
            raise InvalidOptionError(message, option="bm25", value=True)
        self.same = _first_of_each(kept)
        """For each chunk of a text at a place, the id of the first such chunk."""
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

    def is_current(self, count: int | None, found: Mapping[str, str]) -> bool:
        """Return whether it is of a store of that many chunks, including these."""
        return count == self._count and found.keys() <= self._known

    def best(
        self, question: str, found: Mapping[str, str], k: int, chunks: SearchedChunks
    ) -> tuple[dict[str, int], dict[str, StoredChunk], bool]:
        """Return the ranks of the best, from 1, the chunks read, and if any changed."""
        # A retriever may show a text in another form than the store has it.
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
        # Equal scores share the last of their ranks. Otherwise the first in its
        # document would be preferred among equals.
        ranks: dict[str, int] = {}
        for _, equals in groupby(listed[:k], lambda each: scores[self._places[each]]):
            those = [*equals]
            ranks |= dict.fromkeys(those, len(ranks) + len(those))
        return ranks, fresh, changed

    def _is_changed(self, chunk_id: str, text: str) -> bool:
        return self._texts.get(chunk_id, hash(text)) != hash(text)

    def _rank(self, scores: Any, k: int) -> Iterator[list[str]]:
        """Yield ids of chunks with one of the words, best first: `k`, then more."""
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
    """Return document, number, part, place, text and id, which rank equal chunks."""
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
