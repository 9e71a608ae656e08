"""Documents without their middle, as ∞Bench cuts them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oprag.chunk import FullText
from oprag.context import ContextOptions
from oprag.routing import Excerpt, RouteOptions
from oprag_eval.systems.self_route import cut_middle, middle_of
from tests.evaluation.small import words


def fours(text: str) -> int:
    """Four characters a token, begun ones whole: not additive."""
    return -(-len(text) // 4)


def test_the_excerpts_are_the_beginning_and_the_end_of_the_documents():
    documents = [
        Excerpt.whole("a", FullText(" ".join(f"alpha{n:03}." for n in range(200)))),
        Excerpt.whole("b", FullText("\n".join(f"beta{n:03}" for n in range(100)))),
    ]
    options = RouteOptions(steps=(), context=ContextOptions(token_counter=words))

    head, tail = cut_middle(documents, (), 40, options)

    assert documents[0].text.startswith(head.text)
    assert documents[1].text.endswith(tail.text)
    assert words(head.text) == words(tail.text) == 20
    assert cut_middle(documents, (), 0, options) == []


def cut(text, limit, counter, mark=""):
    head, tail = middle_of(text, limit, counter, mark=mark)
    assert head <= tail
    return text[:head] + mark + text[tail:]


def test_the_first_and_last_half_are_kept():
    # 8 of 100 tokens of 4 characters: 4 from the front, 4 from the back
    text = "".join(f"{number:04}" for number in range(100))

    assert cut(text, 8, fours) == "0000000100020003" + "0096009700980099"


def test_the_mark_counts():
    text = "".join(f"{number:04}" for number in range(100))

    assert cut(text, 5, fours, mark=" ...") == "00000001 ...00980099"


COUNTERS = [
    words,
    fours,
    len,
    lambda text: len(text.encode()),
    lambda text: len(text) + words(text) ** 2 // 3,  # costs more joined than apart
]


@given(
    st.text(alphabet="ab é\n", max_size=120),
    st.integers(1, 60),
    st.sampled_from(COUNTERS),
    st.sampled_from(["", "…"]),
)
def test_the_limit_holds(text, limit, counter, mark):
    if counter(mark) <= limit:
        assert counter(cut(text, limit, counter, mark)) <= limit


@pytest.mark.parametrize(
    "text",
    [
        " ".join(f"word{number}" for number in range(50_000)),
        # One long word in front: tokens do not grow with characters at all.
        "x" * 100_000 + " y" * 50_000,
        " y" * 50_000 + "x" * 100_000 + " y" * 500,
    ],
)
def test_few_counts_are_needed_however_long_the_text(text):
    counted = []

    def counter(text: str) -> int:
        counted.append(text)
        return words(text)

    # Two words may become one where the pieces meet.
    assert 20_000 - words(cut(text, 20_000, counter)) in (0, 1)
    assert len(counted) <= 60
