"""Which neighbours are wanted of a store, and where they stand in what is arranged."""

from typing import Any

import pytest

from oprag import order_context
from oprag.chunk import Hit
from oprag.context import (
    CandidateTail,
    ContextOptions,
    NeighbourSearch,
    arrange,
    write_place,
)
from oprag.effects import run_effects
from oprag.errors import InvalidOptionError
from oprag.metadata import make_indexed_id
from oprag.stores import SearchedChunks, SearchFilter, StoredChunk
from tests.kit.fake_store import FakeStore
from tests.kit.words import words

N = 50


def chunk(index: int, doc: str = "d", version: str = "s-t", size: int = 5) -> Hit:
    text = " ".join(f"{doc}{version}{index}.{word}" for word in range(size))
    start = index * 50
    place = {"char_start": start, "char_end": start + len(text)}
    numbers = {"doc_key": doc, "doc_version": version, "chunk_index": index}
    return Hit(text, {**numbers, "n_chunks": N, **place, "source": doc})


STORED = [
    StoredChunk(*chunk(index, doc, version)[:2], f"{doc}{version}{index}")
    for doc in ("d", "e")
    for version in ("s-t", "big-t", "s-old")
    for index in range(N)
]
"""Every chunk of two documents, each in three versions."""


def widened(hits: list[Hit], widen: Any, *, fills: bool = False, **given: Any) -> Any:
    options = ContextOptions(token_counter=words, separator=" ", **given)
    store, widening = (
        FakeStore(STORED),
        NeighbourSearch(hits, widen, options, fills=fills),
    )
    chunks = SearchedChunks(store, SearchFilter())
    near = widening.neighbours(run_effects(chunks.read_by_key(widening.requests())))
    beside = [_written(Hit(chunk.text, chunk.metadata)) for _, chunk in near]
    listed, wanted = widening.combine(hits, beside, stored=True)
    arranged = arrange(listed, options, neighbours=wanted)
    queries = [each for each in store.asked if each != "ids"]
    return arranged.passages, queries, near


def _written(hit: Hit) -> Hit:
    """Return a hit with the id that `index_documents` gives it."""
    return hit._replace(id=make_indexed_id(hit.metadata, hit.metadata["chunk_index"]))


def at(passages: Any) -> list[tuple[int, int]]:
    """Index and rank of each passage: neighbours come behind hits."""
    return [(p.chunks[0].metadata["chunk_index"], p.rank) for p in passages]


def test_hits_bring_their_neighbours_in_one_query():
    hits = [chunk(7), chunk(20, "e"), chunk(9)]

    passages, queries, _ = widened(hits, 1)

    assert queries == [{"d": [6, 8, 10], "e": [19, 21]}]
    assert at(passages)[:5] == [(6, 3), (7, 0), (8, 4), (9, 2), (10, 7)]
    assert at(passages)[5:] == [(19, 5), (20, 1), (21, 6)]


def test_neighbours_end_with_their_document():
    assert widened([chunk(0), chunk(N - 1)], 2)[1] == [{"d": [1, 2, N - 3, N - 2]}]


def test_neighbours_are_of_the_version_of_their_hit():
    passages, _, near = widened([chunk(7), chunk(3, "d", "big-t")], 1)

    versions = {chunk.metadata["doc_version"] for _, chunk in near}
    assert versions == {"s-t", "big-t"}
    assert [index for index, _ in at(passages)] == [2, 3, 4, 6, 7, 8]


@pytest.mark.filterwarnings("ignore::oprag.errors.PositionWarning")
def test_a_hit_of_an_older_text_brings_nothing():
    hits = [_written(chunk(7)), _written(chunk(30, "d", "s-old"))]

    passages, _, _ = widened(hits, 1)

    assert [index for index, _ in at(passages)] == [6, 7, 8]


def test_the_counted_are_hits_alone():
    passages, _, _ = widened([chunk(7), chunk(20)], 1, top_n=1)

    assert [index for index, _ in at(passages)] == [6, 7, 8]


def test_no_hit_is_left_out_for_a_neighbour():
    hits = [chunk(index) for index in (7, 40, 20, 30)]
    for budget in range(5, 105, 5):
        for widen in (1, 3, "fill"):
            passages, _, _ = widened(hits, widen, token_budget=budget)

            kept = {c.metadata["chunk_index"] for p in passages for c in p.chunks}
            assert len(kept & {7, 40, 20, 30}) == min(4, budget // 5)
            text = " ".join(passage.text for passage in passages)
            assert budget - 5 < words(text) <= budget or widen == 1


@pytest.mark.parametrize("merge", [False, True])
def test_judged_by_position_neighbours_of_the_best_come_before_the_last_hits(merge):
    hits = [chunk(7), *(chunk(25, doc) for doc in "fghijklmnopqrst")]
    given: Any = {"token_budget": 60, "selection": "recall", "merge": merge}
    passages, _, _ = widened(hits, "fill", **given)

    kept = [
        (p.document_key, c.metadata["chunk_index"]) for p in passages for c in p.chunks
    ]
    assert {("d", index) for index in (6, 7, 8)} <= {*kept}
    assert 1 < len([name for name, _ in kept if name != "d"]) < 15


def test_filling_reads_beside_the_best_first():
    _, queries, near = widened([chunk(7), chunk(30)], "fill", token_budget=40)

    assert [chunk.metadata["chunk_index"] for _, chunk in near][:6] == [
        *(6, 8, 5, 9, 4, 10)
    ]
    assert len(queries) == 1


def test_a_full_budget_asks_for_nothing():
    assert widened([chunk(7), chunk(30)], "fill", token_budget=10)[1] == []


def test_hits_are_limited_where_nobody_counted_them():
    hits = [chunk(3 * index + 1) for index in range(12)]

    passages, _, _ = widened(hits, 1, fills=True, token_budget=45)

    assert [index for index, _ in at(passages)] == [*range(9)]


def test_a_full_text_tells_what_no_store_can():
    text = "".join(f"w{number:03} " for number in range(100))
    hits = [
        Hit(text[start : start + 50], {"source": "a", "start_index": start, "page": 1})
        for start in (100, 300)
    ]
    options = ContextOptions(documents={"a": text}, merge=True)
    for widen, wanted in ((1, [(50, 200), (250, 400)]), (3, [(0, 500)])):
        beside = CandidateTail(widen=widen, beside=frozenset({0, 1}))
        passages = arrange(hits, options, neighbours=beside).passages

        assert [span for p in passages for span in p.spans] == wanted
        assert all(text[p.spans[0].start : p.spans[0].end] == p.text for p in passages)
        # The slice that they begin with is at another place, maybe on another page.
        assert [p.chunks[0].metadata for p in passages] == [{"source": "a"}] * len(
            wanted
        )


def test_full_texts_fill_a_budget():
    text = "".join(f"w{number:03} " for number in range(100))
    hits = [Hit(text[100:150], {"source": "a", "start_index": 100})]
    options = ContextOptions(
        documents={"a": text}, token_budget=40, token_counter=words, merge=True
    )
    wanted = CandidateTail(widen="fill", beside=frozenset({0}))

    (passage,) = arrange(hits, options, neighbours=wanted).passages

    assert 30 < words(passage.text) <= 40
    assert passage.text in text
    assert passage.rank == 0


def by_position(text: str, spans: list[tuple[int, int]], budget: int) -> Any:
    hits = [Hit(text[a:b], {"source": "a", "start_index": a}) for a, b in spans]
    options = ContextOptions(
        documents={"a": text},
        selection="recall",
        token_budget=budget,
        token_counter=len,
        separator="",
    )
    return arrange(hits, options).passages


def test_text_chosen_by_position_may_stand_anywhere_around_hits():
    text = "".join(f"w{number:03} " for number in range(100))
    spans = [(100, 150), (300, 350)]

    (whole,) = by_position(text, spans, len(text))
    kept = by_position(text, spans, 250)

    assert whole.text == text
    assert [text[slice(*p.spans[0])] for p in kept] == [p.text for p in kept]
    assert 245 <= sum(len(p.text) for p in kept) <= 250
    # Text in the middle is worth more than a slice on the other side of a hit.
    assert [p.spans[0] for p in by_position(text, [(100, 150), (200, 250)], 150)] == [
        (100, 250)
    ]


def test_slices_end_at_a_blank():
    text = "abc defg " * 50
    hits = [Hit(text[181:211], {"source": "a", "start_index": 181})]
    wanted = CandidateTail(widen=3, beside=frozenset({0}))

    passages = arrange(hits, ContextOptions(documents={"a": text}), neighbours=wanted)

    starts = {p.spans[0].start for p in passages.passages} - {181, 211}
    assert len(starts) == 5
    assert all(text[start - 1] == " " for start in starts)


def test_results_with_ranks_of_their_own_are_read_on_beside_by_their_place():
    text = "".join(chr(ord("a") + n % 23) for n in range(900))
    places = [{"source": "a", "start_index": at} for at in (100, 100, 400, 400, 700)]
    texts = [text[each["start_index"] :][:30] for each in places]
    inner = order_context(texts, places)
    assert [passage.rank for passage in inner] == [0, 2, 4]
    results = [
        Hit(each.text, write_place(each, each.chunks[0].metadata)) for each in inner
    ]
    wanted = CandidateTail(widen=1, beside=frozenset(range(3)))

    options = ContextOptions(documents={"a": text}, merge=True)
    arranged = arrange(results, options, neighbours=wanted)
    assert [p.spans for p in arranged.passages] == [
        ((at - 30, at + 60),) for at in (100, 400, 700)
    ]
    assert arranged.why["kept"] == [0, 1, 2]


def test_hits_behind_those_that_are_widened_are_kept_or_dropped_too():
    hits = [chunk(at) for at in (5, 15, 25, 35, 36, 45, 46)]
    options = ContextOptions(token_counter=words, separator=" ", token_budget=30)
    store, widening = FakeStore(STORED), NeighbourSearch(hits, 1, options, fills=True)
    chunks = SearchedChunks(store, SearchFilter())
    near = widening.neighbours(run_effects(chunks.read_by_key(widening.requests())))
    read = [_written(Hit(each.text, each.metadata)) for _, each in near]
    listed, behind = widening.combine(hits, read, stored=True)
    assert behind.n_read < behind.length

    why = arrange(listed, options, neighbours=behind).why
    named = [*why["kept"], *(n for each in why["dropped"].values() for n in each)]
    assert sorted(named) == [*range(len(hits))]


def test_filling_needs_a_budget_and_neighbours_need_keys():
    from oprag.context import check_widening

    with pytest.raises(InvalidOptionError, match="none is given"):
        check_widening("fill", ContextOptions(), stored=True)
    with pytest.raises(InvalidOptionError, match="documents="):
        check_widening(1, ContextOptions(), stored=False)
    bare = NeighbourSearch(
        [Hit("text", {"source": "a"})], 1, ContextOptions(), fills=False
    )
    lacking = bare.combine(["text"], [], stored=True)[1].lacking
    assert lacking
    assert "doc_key" in lacking.message
    unread = NeighbourSearch([chunk(7)], 1, ContextOptions(), fills=False)
    lacking = unread.combine(["text"], [], stored=False)[1].lacking
    assert lacking
    assert "no store is known" in lacking.message


@pytest.mark.parametrize("widen", [0, -1, 1.0, True, "all", "1"])
def test_impossible_numbers_of_neighbours_are_refused(widen: object):
    from oprag.context import check_option

    with pytest.raises(InvalidOptionError, match="number of neighbours from 1 on"):
        check_option("widen", widen)
