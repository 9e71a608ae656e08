"""Text chosen by the ranks of what is in it and around it."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oprag.chunk import Chunk, Hit, Span
from oprag.context import ContextOptions, arrange, order_context
from oprag.context.recall import rank_segments, split_into_segments
from oprag.errors import InvalidOptionError

TEXT = "".join(chr(ord("a") + n % 26) for n in range(9100 * 4))


def _chunk(rank, start, end, document="d", part=None):
    return Chunk(
        TEXT[start:end], document, rank, (part or 0, start, end), Span(start, end), part
    )


def _ordered(chunks):
    return rank_segments(chunks, budget=10_000)


def _spans(chunks):
    return [tuple(chunk.span) for chunk in chunks]


def test_a_third_of_the_text_is_read_by_rank():
    beside = [_chunk(9 + n, 10 * n, 10 * n + 10) for n in range(1, 7)]
    best = [_chunk(n, 9000 * n, 9000 * n + 10) for n in range(4)]
    kept = [chunk.rank for chunk in _ordered([*best, *beside])]
    # Beside the best each is worth more than the second best.
    assert kept == [0, 10, 1, 11, 12, 2, 13, 14, 3, 15]


def test_only_as_many_as_fill_the_budget_are_worth_something_by_themselves():
    best = [_chunk(n, 0, 10, f"d{n}") for n in range(48)]
    chunks = [*best, _chunk(48, 0, 10, "e"), _chunk(49, 10, 20, "e")]
    kept = [c.rank for c in rank_segments(chunks, budget=50)]
    assert kept == [*range(50)]
    assert kept != [c.rank for c in _ordered(chunks)]  # two beside each other


def test_worth_is_not_lent_to_another_document_or_page():
    chunks = [_chunk(0, 0, 10), _chunk(1, 150, 160, "e"), _chunk(2, 10, 20, "e")]
    chunks.append(_chunk(3, 10, 20, part=7))
    ranks = [c.document_key + str(c.part) for c in _ordered(chunks)]
    assert ranks == ["dNone", "eNone", "eNone", "d7"]


@pytest.mark.parametrize(
    "places",
    [
        [f"1718041234.000{n}00" for n in (3, 1, 2)],
        [0.9, 0.1, 0.5],
        ["2024-01-03", "2024-01-01", "2024-01-02"],
        [("c",), ("a",), ("b",)],
    ],
)
def test_no_text_is_lost_whatever_the_positions_are(places):
    metadatas = [{"source": "s", "at": place} for place in places]
    given = {"position_keys": lambda m: m["at"], "selection": "recall"}
    if not isinstance(places[0], tuple):
        given["position_keys"] = "at"
    kept = order_context(["c", "a", "b"], metadatas, token_budget=50, **given)
    assert [passage.text for passage in kept] == ["a", "b", "c"]


def test_no_text_of_a_page_without_order_is_lost():
    hits = [Hit(text, {"source": "s", "page": 3}) for text in ("one", "two", "three")]
    options = ContextOptions(selection="recall", token_budget=50, on_problem="warn")
    assert len(arrange(hits, options).passages) == 3


def test_ordinals_have_neighbours_too():
    def at(rank, index):
        return Chunk(f"t{index}", "d", rank, (0, index))

    kept = _ordered([at(0, 4), at(1, 9000), at(2, 5)])
    assert [chunk.text for chunk in kept] == ["t4", "t5", "t9000"]


def test_chunks_without_a_position_stand_by_their_rank():
    chunks = [Chunk(f"t{rank}", "d", rank) for rank in range(3)]
    assert [chunk.text for chunk in _ordered(chunks)] == ["t0", "t1", "t2"]


@st.composite
def _candidates(draw):
    span = st.tuples(st.integers(0, 60), st.integers(1, 20))
    spans = draw(st.lists(span, min_size=1, max_size=8, unique=True))
    return [_chunk(rank, a, a + n) for rank, (a, n) in enumerate(spans)]


@given(_candidates(), st.integers(1, 9))
def test_worth_is_what_a_search_through_all_candidates_gives(chunks, hits):
    pieces = [*split_into_segments(chunks, range(hits))]
    spans = [piece.chunk.span for piece in pieces]
    middles = [sum(span) / 2 for span in spans]

    def worth(number):
        total = 0.0
        for chunk in chunks[:hits]:
            held = [
                n
                for n, (start, end) in enumerate(spans)
                if chunk.span.start <= start and end <= chunk.span.end
            ]
            near = min(max(number, held[0]), held[-1])
            away = abs(middles[number] - middles[near])
            share = 1 if near == number else 0.5 * 2 ** (-away / 1200)
            total += share / (2 + chunk.rank)
        return total

    expected = [worth(number) for number in range(len(spans))]
    assert [piece.worth for piece in pieces] == pytest.approx(expected)


def _context(chunks, budget, **options):
    return order_context(
        [chunk.text for chunk in chunks],
        [
            {"source": "d", "char_start": c.span[0], "char_end": c.span[1]}
            for c in chunks
        ],
        token_budget=budget,
        token_counter=len,
        separator="\n",
        **options,
    )


@given(_candidates(), st.integers(20, 90), st.booleans(), st.booleans())
def test_the_budget_holds_and_reading_order_too(chunks, budget, merge, full):
    documents = {"d": TEXT} if full else None
    options = {"merge": merge, "documents": documents}
    passages = _context(chunks, budget, selection="recall", **options)
    assert 0 < len("\n".join(passage.text for passage in passages)) <= budget
    spans = [span for passage in passages for span in passage.spans]
    assert spans == sorted(spans)
    assert all(a.end <= b.start for a, b in pairwise(spans))
    again = _context(chunks, budget, selection="recall", **options)
    assert [p.text for p in again] == [p.text for p in passages]


SENTENCES = "".join(f"It is {n}. " for n in range(1000, 1060))  # of twelve characters


@given(
    st.lists(
        st.tuples(st.integers(0, 50), st.sampled_from([1, 2, 20, 40])),
        min_size=1,
        max_size=8,
        unique=True,
    ),
    st.integers(500, 700),
)
def test_the_budget_is_filled_whatever_the_sizes_of_the_candidates(places, budget):
    spans = [(12 * at, min(12 * (at + n), 720)) for at, n in places]
    held = len({n for span in spans for n in range(*span)})
    chunks = [
        Chunk(SENTENCES[a:b], "d", rank, (0, a, b), Span(a, b))
        for rank, (a, b) in enumerate(dict.fromkeys(spans))
    ]
    passages = _context(chunks, budget, selection="recall")
    read = len("\n".join(passage.text for passage in passages))
    taken = sum(len(passage.text) for passage in passages)
    assert read <= budget
    assert taken == held or read >= 0.97 * budget - 12


def test_what_is_left_of_a_budget_takes_whole_sentences_of_the_next_chunk():
    # The best takes 24 of 100; of the next, behind it or before, 6 sentences fit.
    best = Chunk(SENTENCES[240:264], "d", 0, (0, 240, 264), Span(240, 264))
    behind = Chunk(SENTENCES[264:480], "d", 1, (0, 264, 480), Span(264, 480))
    before = Chunk(SENTENCES[0:240], "d", 1, (0, 0, 240), Span(0, 240))
    (passage,) = _context([best, behind], 100, selection="recall")
    assert passage.spans == (Span(240, 336),)
    (passage,) = _context([best, before], 100, selection="recall")
    assert passage.spans == (Span(168, 264),)


def test_what_was_cut_is_not_all_there_was():
    best = Hit(SENTENCES[:220], {"source": "d", "char_start": 0})
    rest = Hit(SENTENCES[220:], {"source": "d", "char_start": 220})
    options = {"token_counter": len, "selection": "recall"}
    shortened = arrange(
        [best, rest], ContextOptions.from_options({"token_budget": 400, **options})
    )
    assert not shortened.used_all
    whole = arrange(
        [best, rest], ContextOptions.from_options({"token_budget": 800, **options})
    )
    assert whole.used_all


def test_choosing_by_position_needs_a_budget():
    with pytest.raises(InvalidOptionError, match="token_budget="):
        order_context(["a"], [{"source": "d", "chunk_index": 0}], selection="recall")
