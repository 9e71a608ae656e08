"""What another component handed out is selected by the ranks that it has."""

from __future__ import annotations

import pytest

from oprag import order_context


def result(start, rank, source="a", **more):
    """A text of one word, and its metadata as every result has them."""
    place = {
        "citation": f"{source}, characters {start}-{start + 3}",
        "char_start": start,
        "char_end": start + 3,
    }
    metadata = {"source": source, "start_index": start, "rank": rank, **place, **more}
    return f"{start:03}", metadata


def ordered(results, **options):
    """The ranks and the texts of what is kept, in order."""
    texts, metadatas = zip(*results, strict=True)
    passages = order_context(texts, metadatas, token_counter=len, **options)
    return {passage.rank: passage.text for passage in passages}


READ = [result(0, 4), result(10, 1), result(20, 0), result(30, 3)]


@pytest.mark.parametrize("limit", [{"top_n": 2}, {"token_budget": 8}])
def test_the_best_are_kept_of_what_stands_in_reading_order(limit):
    assert ordered(READ, **limit) == {1: "010", 0: "020"}
    assert list(ordered(READ, **limit, order="score")) == [0, 1]


def test_ranks_last_where_the_best_was_left_out():
    assert ordered([READ[0], READ[3]]) == {4: "000", 3: "030"}
    assert ordered(READ[:1]) == {4: "000"}
    assert ordered([READ[1], READ[3], READ[0]], order="score").keys() == {1, 3, 4}


def test_ranks_last_where_results_are_merged():
    touching = [result(0, 4), result(3, 2), result(20, 1)]

    assert ordered(touching, merge=True) == {2: "000003", 1: "020"}


@pytest.mark.parametrize(
    "reranked",
    [
        READ[::-1],
        [READ[2], READ[0], READ[3], READ[1]],
        # Of documents with few results each, any order may be a reranker's.
        [result(5, 4), result(0, 1, "b"), result(10, 2, "b")],
    ],
)
def test_the_order_of_a_reranker_counts(reranked):
    best, second = reranked[0][0], reranked[1][0]

    assert ordered(reranked, order="score", top_n=2) == {0: best, 1: second}


def test_results_of_two_searches_are_ranked_as_they_come():
    both = [result(10, 1), result(20, 0), result(10, 0, "b"), result(30, 1, "b")]

    assert list(ordered(both)) == [0, 1, 2, 3]


SEARCHES = [
    [result(0, 2), result(10, 1), result(40, 0)],
    [result(10, 2), result(20, 1), result(30, 0)],
]


def test_parts_of_one_chunk_have_its_rank():
    parts = [result(0, 1), result(10, 0), result(20, 1)]
    texts, metadatas = zip(*parts, strict=True)

    passages = order_context(texts, metadatas)

    assert [passage.rank for passage in passages] == [1, 0, 1]


def test_parts_of_the_best_chunk_are_no_lists_of_several_searches():
    parts = [result(n * 10, rank) for n, rank in enumerate([2, 1, 0, 1, 0])]
    texts, metadatas = zip(*parts, strict=True)

    passages = order_context(texts, metadatas)

    assert [passage.rank for passage in passages] == [2, 1, 0, 1, 0]


def test_documents_may_stand_in_an_order_of_their_own():
    dated = [result(5, 3, "b", year=1), result(0, 0, year=2), result(9, 1, year=2)]

    assert ordered(
        dated, document_order=lambda of_one: of_one[0].metadata["year"], top_n=1
    ) == {0: "000"}
    # Told nothing of years, it takes so few for the list of a reranker.
    assert ordered(dated, top_n=1) == {0: "005"}
    # So many in reading order do not come from one.
    assert ordered([*dated, result(12, 2, year=2), result(20, 5, year=2)], top_n=2) == {
        0: "000",
        1: "009",
    }


def test_an_applications_own_values_are_no_ranks():
    strangers = [(text, {**m, "citation": None}) for text, m in READ]

    assert ordered(strangers, top_n=2) == {0: "000", 1: "010"}
