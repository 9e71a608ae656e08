"""BM25 over a store's chunks, fused with a search: what is ranked, read and kept."""

import copy
import pickle
import sys
import threading
from collections.abc import Collection, Iterator
from typing import Any

import pytest

from oprag.errors import InvalidOptionError, MissingDependencyError
from oprag.stores import Bm25, ChunkStore, SearchedChunks, SearchFilter, StoredChunk

TEXTS = {
    "a": "the lease begins in march",
    "b": "the rent is nine hundred",
    "c": "the rent is due in march and the rent is paid",
    "d": "a deposit of two months",
    "e": "keys are handed over",
}


class Texts(ChunkStore):
    """Chunks in memory; it counts how often all are read, and what is asked for."""

    name = "texts"

    def __init__(self, texts: dict[str, str], *, counts: bool = True) -> None:
        self.texts = texts
        self.counts = counts
        self.scans = 0
        self.asked: list[Collection[str]] = []

    def _chunks(self) -> Iterator[StoredChunk]:
        for chunk_id, text in list(self.texts.items()):
            if all(chunk_id in admitted for admitted in self.filters):
                yield StoredChunk(text, {}, chunk_id)

    def read(self, wanted=None, ids=None):
        if ids is None:
            self.scans += 1
            return self._chunks()
        self.asked.append(ids)
        return [chunk for chunk in self._chunks() if chunk.id in ids]

    def count(self) -> int | None:
        return len(self.texts) if self.counts else None

    def takes_filter(self, where: Any) -> bool:
        return isinstance(where, frozenset)


def fused(
    store: ChunkStore,
    question: str,
    found: Collection[str] = (),
    *,
    k: int = 10,
    where: Any = None,
    bm25: Bm25 | None = None,
    shown: dict[str, str] | None = None,
) -> list[str]:
    found = [*found]
    texts = store.texts if shown is None and isinstance(store, Texts) else shown or {}
    chunks = SearchedChunks(store, SearchFilter(where), "bm25")
    given = [(each, texts.get(each, "")) for each in found]
    best = (bm25 or Bm25(store)).fuse(question, given, k, chunks)
    return [found[each] if isinstance(each, int) else each.id for each in best]


def test_chunks_with_the_words_come_best_first_and_others_not():
    assert fused(Texts(TEXTS), "When is the rent due in March?") == ["c", "a", "b"]


def test_both_rankings_are_fused_by_the_sum_of_their_reciprocal_ranks():
    # By words c, a, b: 1/61, 1/62, 1/63. By the search d, b: 1/61, 1/62. So d and c
    # are equal, and what the search found comes first.
    found = ["d", "b"]

    assert fused(Texts(TEXTS), "rent due in March", found) == ["b", "d", "c", "a"]


def test_only_what_the_search_did_not_find_is_read():
    store = Texts(TEXTS)
    bm25 = Bm25(store)
    fused(store, "rent due in March", ["a", "c"], bm25=bm25)

    assert store.asked == [["b"]]


@pytest.mark.parametrize("question", ["", "?!", "the of and", "unheard"])
def test_a_question_without_a_known_word_leaves_the_search_as_it_is(question):
    assert fused(Texts(TEXTS), question, ["d", "a"]) == ["d", "a"]


@pytest.mark.parametrize("texts", [{}, {"a": ""}, {"a": "…", "b": " "}])
def test_a_store_without_words_adds_nothing(texts):
    assert fused(Texts(texts), "rent") == []


class Placed(Texts):
    """Each text at a place of one document: the number before the colon of its id."""

    def _chunks(self) -> Iterator[StoredChunk]:
        for chunk in super()._chunks():
            start = int(chunk.id.partition(":")[0])
            yield chunk._replace(metadata={"doc_key": "k", "char_start": start})


def test_one_text_in_two_sizes_comes_once_and_with_the_ranks_of_both():
    texts = {"0:64": "rent", "0:128": "rent", "9:64": "rent rent", "20:64": "keys rent"}

    # Both ranks of the text at 0 count, and of the search the first.
    best = fused(Placed(texts), "rent", ["20:64", "0:128", "0:64"])
    assert best == ["0:128", "20:64", "9:64"]
    # Found by words alone it comes once, too; the same text elsewhere by itself.
    texts["30:64"] = "rent"
    assert sorted(fused(Placed(texts), "rent")) == ["0:128", "20:64", "30:64", "9:64"]


def test_chunks_that_the_words_make_equal_are_ordered_by_the_search_alone():
    texts = {f"{n:02}": "the same words" for n in range(30)} | {"named": "words apart"}
    found = ["29", "07", "00"]

    assert fused(Texts(texts), "words", found, k=40)[:3] == found
    assert fused(Texts(texts), "words apart", found, k=40)[:4] == [*found, "named"]


def test_a_filter_binds_what_words_find_and_what_it_hides_does_not_count():
    texts = {f"{n:04}": f"rent number {n:04}" for n in range(3000)}
    own = frozenset(f"{n:04}" for n in range(0, 3000, 300))
    store = Texts(texts)

    assert fused(store, "rent", k=4, where=own) == sorted(own)[:4]
    assert set(fused(store, "rent", k=99, where=own)) == own


def test_what_a_filter_admits_is_asked_again_for_each_question():
    store = Texts(dict(TEXTS))
    bm25 = Bm25(store)
    admitted = [frozenset("abc"), frozenset("a"), frozenset("bc"), frozenset()]

    found = [fused(store, "rent march", where=each, bm25=bm25) for each in admitted]

    assert list(map(set, found)) == list(map(set, admitted))
    assert store.scans == 1


@pytest.mark.parametrize("counts", [True, False])
@pytest.mark.parametrize("text", ["", "nothing of the kind"])
def test_a_chunk_that_was_deleted_or_changed_is_ranked_as_it_is_now(counts, text):
    store = Texts(dict(TEXTS), counts=counts)
    bm25 = Bm25(store)
    assert fused(store, "rent", bm25=bm25) == ["c", "b"]

    del store.texts["c"]
    store.texts |= {"c": text} if text else {}

    assert fused(store, "rent", bm25=bm25) == ["b"]
    assert store.scans == 2


@pytest.mark.parametrize("counts", [True, False])
def test_so_is_one_that_the_search_brings_with_its_new_text(counts):
    store = Texts(dict(TEXTS), counts=counts)
    bm25 = Bm25(store)
    fused(store, "zebra", ["a"], bm25=bm25)

    store.texts |= {"d": "a zebra", "e": "another zebra, of ours"}

    assert fused(store, "zebra", ["a"], bm25=bm25) == ["a"]
    assert fused(store, "zebra", ["e"], bm25=bm25) == ["e", "d"]
    assert fused(store, "zebra", ["a"], bm25=bm25) == ["a", "d", "e"]


def test_a_text_that_the_search_shows_otherwise_is_no_change():
    store = Texts(TEXTS)
    bm25 = Bm25(store)
    for _ in range(3):
        shown = {"a": "an excerpt", "b": TEXTS["b"]}
        assert fused(store, "deposit", "ab", bm25=bm25, shown=shown) == ["a", "d", "b"]

    assert store.scans == 1


def test_a_new_chunk_is_found_where_the_store_can_count():
    store = Texts(dict(TEXTS))
    bm25 = Bm25(store)
    fused(store, "garden", bm25=bm25)

    store.texts["f"] = "a garden"

    assert fused(store, "garden", bm25=bm25) == ["f"]


def test_elsewhere_it_is_found_once_the_search_brings_a_new_chunk():
    store = Texts(dict(TEXTS), counts=False)
    bm25 = Bm25(store)
    fused(store, "garden", bm25=bm25)
    store.texts |= {"f": "a garden", "g": "a shed"}

    assert fused(store, "garden", ["a"], bm25=bm25) == ["a"]
    assert fused(store, "garden", ["g"], bm25=bm25) == ["g", "f"]


def test_nothing_is_read_twice_while_nothing_changes():
    store = Texts(TEXTS)
    bm25 = Bm25(store)
    for found in ([], ["a"], ["", ""], ["from elsewhere"], ["from elsewhere"]):
        fused(store, "rent due", found, bm25=bm25)

    assert store.scans == 2  # once for the id that the store does not know


def test_chunks_without_ids_are_refused():
    class Nameless(Texts):
        def read(self, wanted=None, ids=None):
            return (StoredChunk(text, {}) for text in self.texts.values())

    with pytest.raises(InvalidOptionError, match="texts gives chunks without one"):
        fused(Nameless(TEXTS), "rent")


def test_threads_read_the_store_once_together():
    store = Texts({str(n): f"rent {n}" for n in range(500)})
    bm25, results = Bm25(store), []
    threads = [
        threading.Thread(target=lambda: results.append(fused(store, "rent", bm25=bm25)))
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(results) == 8
    assert all(each == results[0] for each in results)
    assert store.scans == 1


def test_copies_read_the_store_themselves():
    store = Texts(TEXTS)
    bm25 = Bm25(store)
    fused(store, "rent", bm25=bm25)

    for each in (copy.deepcopy(bm25), pickle.loads(pickle.dumps(bm25))):  # noqa: S301 -- our own
        assert fused(store, "rent", bm25=each) == ["c", "b"]


def test_without_the_package_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "bm25s", None)

    with pytest.raises(MissingDependencyError) as caught:
        Bm25(Texts(TEXTS))

    assert 'pip install "oprag[bm25]"' in str(caught.value)
    assert "bm25=True needs the package 'bm25s'" in str(caught.value)
