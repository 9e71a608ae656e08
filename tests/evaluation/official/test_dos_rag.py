"""Splitting and filling as the DOS RAG paper's code does them."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oprag.chunk import Hit, Span
from oprag.errors import BudgetTooSmallError
from oprag_eval.catalogue import make_system
from oprag_eval.official.dos_rag import (
    fill_officially,
    join_officially,
    split_officially,
)
from tests.evaluation.small import Replies, bench_of, words


def texts(text: str, size: int, counter=words) -> list[str]:
    return [chunk.text for chunk in split_officially(text, size, counter)]


def test_whole_sentences_are_put_together_while_their_sum_is_within_the_limit():
    # 3 words; 3 + 3 > 5 closes it; 3 + 2 = 5 is within it.
    text = "One two three. Four five six. Seven eight."

    assert texts(text, 5) == ["One two three.", "Four five six. Seven eight."]


def test_sentences_are_joined_by_one_blank_whatever_stood_between_them():
    assert texts("One.\n\nTwo.   Three\nfour.", 9) == ["One. Two. Three\nfour."]


def test_a_long_clause_comes_out_in_pieces_of_words_before_the_open_chunk():
    text = (
        "Alpha beta. One two three, four five six seven eight nine; ten eleven. "
        "End here."
    )
    # "Alpha beta." 2, and the clause "One two three," 3: open with 5. The next clause
    # has 6 words: 5 and 1 come out at once. "ten eleven." does not fit: 5 + 2 > 5.
    assert texts(text, 5) == [
        "four five six seven eight",
        "nine;",
        "Alpha beta. One two three,",
        "ten eleven. End here.",
    ]


def test_pieces_of_words_may_be_over_the_limit_of_tokens():
    # Tokens are characters: 25 of them are over 4, and 4 words have 19.
    found = texts("aaaa bbbb cccc dddd eeee.", 4, len)

    assert found == ["aaaa bbbb cccc dddd", "eeee."]


def test_a_blank_is_counted_before_each_sentence():
    # With it 4 characters each, so two are over 7; without it they would be 6.
    assert texts("A b. C d.", 7, lambda text: len(text) - 1) == ["A b.", "C d."]
    assert texts("A b. C d.", 8, lambda text: len(text) - 1) == ["A b. C d."]


def test_a_chunk_from_around_a_piece_knows_both_its_places():
    text = "A b, c d e f g h i, j."
    chunks = split_officially(text, 4, words)

    assert [chunk.text for chunk in chunks] == ["c d e f", "g h i,", "A b, j."]
    assert chunks[2].spans == (Span(0, 4), Span(20, 22))
    assert [text[slice(*span)] for span in chunks[2].spans] == ["A b,", "j."]


@given(
    st.text(alphabet="ab .,;:\n?", max_size=200), st.integers(min_value=1, max_value=12)
)
def test_every_character_comes_out_once_and_stands_where_the_spans_say(text, size):
    chunks = split_officially(text, size, words)

    # Blanks alone differ: "a?:b" is two sentences, and comes out as "a? :b".
    for chunk in chunks:
        source = "".join(text[slice(*span)] for span in chunk.spans)
        assert _visible(source) == _visible(chunk.text)
    found = _visible("".join(chunk.text for chunk in chunks))
    assert Counter(found) == Counter(_visible(text))


def _visible(text: str) -> str:
    return "".join(text.split())


def kept(sizes: list[int], budget: int) -> list[int]:
    ranked = [Hit("w " * size, {"place": n}) for n, size in enumerate(sizes)]
    return [hit.metadata["place"] for hit in fill_officially(ranked, budget, words)]


@pytest.mark.parametrize(
    ("sizes", "budget", "expected"),
    [
        ([10, 10, 10, 10], 150, [0, 1, 2]),  # 150 / 50 = 3 chunks, though all fit
        ([10, 10, 10, 10], 149, [0, 1]),  # 149 / 50 = 2.98
        ([100, 60, 10], 150, [0]),  # 100 + 60 > 150, and there it ends
        ([75, 75], 150, [0, 1]),  # what is between them is not counted
    ],
)
def test_filling_by_number_and_by_tokens(sizes, budget, expected):
    assert kept(sizes, budget) == expected


def test_line_breaks_inside_a_chunk_become_blanks():
    assert join_officially([Hit("a\nb", {}), Hit("c\r\nd", {})]) == "a b \n\nc\r d"


def context(spec: str, budget: int):
    bench = bench_of(Replies())
    question = bench.dataset.questions[1]  # answered at the end
    return make_system(spec).context(question, budget, bench)


def test_official_vanilla_and_dos_rag_differ_in_the_order_alone():
    document = context("dos-rag:compat=official,size=20", 200)
    score = context("vanilla-rag:compat=official,size=20", 200)

    assert len(document.pieces) == 4  # 200 / 50
    assert document.pieces == tuple(sorted(score.pieces, key=lambda p: p.start))
    assert document.pieces != score.pieces
    assert document.text.count(" \n\n") == 3


@pytest.mark.parametrize(
    ("size", "budget", "needed"),
    [(60, 50, 60), (10, 49, 50)],  # not even the best; no chunk below 50 tokens
)
def test_a_budget_that_the_rules_leave_empty_is_told(size, budget, needed):
    with pytest.raises(BudgetTooSmallError) as caught:
        kept([size], budget)

    assert caught.value.needed == needed
