"""A budget holds what is sent, and nothing is counted twice."""

from itertools import accumulate

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oprag import order_context, render
from oprag.chunk import Hit
from oprag.context import ContextOptions, arrange
from oprag.errors import BudgetTooSmallError
from oprag.metadata import span_stamp
from oprag.tokens import resolve_token_counter
from tests.kit.effort import cases

PIECES = [
    *("word", " ", "  ", ".", "...", ")", "))", '."', "\n", "\n\n", "\t", "\r\n"),
    *("漢字", "🙂", "é", "\u0301", "؟", "123", "4567", "'s", "don't", "/", "//"),
    *("_", "--", "a", "Z", " x", " \n", "=-" * 8),
]
texts = st.lists(st.sampled_from(PIECES), min_size=1, max_size=8).map("".join)


@settings(max_examples=cases(500), deadline=None)
@given(
    st.sampled_from(
        [
            *("cl100k_base", "approximate", lambda text: len(text) ** 2 // 9),
            lambda text: 1 if text else 0,
        ]
    ),
    st.lists(texts, min_size=1, max_size=8),
    st.lists(st.integers(-1, 1), min_size=8, max_size=8),
    st.integers(1, 60),
    st.sampled_from(["\n\n", "\n", " ", " | ", "---", ""]),
    st.sampled_from([{}, {"merge": True}, {"selection": "recall"}, {"order": "rank"}]),
    st.booleans(),
)
def test_what_is_sent_fits_the_budget(
    counter, parts, gaps, budget, separator, options, cited
):
    steps = [len(t) + 100 * max(gap, 0) for t, gap in zip(parts, gaps, strict=False)]
    starts = list(accumulate(steps, initial=0))
    metadatas = [{"source": "s", "start_index": start} for start in starts[:-1]]
    try:
        passages = order_context(
            parts,
            metadatas,
            token_budget=budget,
            token_counter=counter,
            separator=separator,
            citations=cited,
            **options,
        )
    except BudgetTooSmallError:
        return
    count = resolve_token_counter(counter)
    assert count(render(passages, separator=separator, citations=cited)) <= budget


@settings(max_examples=cases(300), deadline=None)
@given(
    st.lists(texts, min_size=1, max_size=6),
    st.lists(st.integers(-1, 1), min_size=6, max_size=6),
    st.sampled_from(["\n\n", " --- "]),
    st.booleans(),
)
def test_with_places_what_fits_exactly_is_taken(parts, gaps, separator, merge):
    steps = [len(t) + 100 * max(gap, 0) for t, gap in zip(parts, gaps, strict=False)]
    starts = list(accumulate(steps, initial=0))
    metadatas = [{"source": "s", "start_index": start} for start in starts[:-1]]
    options = {"citations": True, "merge": merge, "separator": separator}
    all_of_them = order_context(
        parts, metadatas, token_budget=10_000, token_counter="cl100k_base", **options
    )
    sent = render(all_of_them, separator=separator, citations=True)
    exactly = resolve_token_counter("cl100k_base")(sent)

    assert all_of_them == order_context(
        parts, metadatas, token_budget=exactly, token_counter="cl100k_base", **options
    )


@pytest.mark.parametrize("counter", [len, "cl100k_base"])
def test_a_stored_count_that_is_wrong_does_not_exceed_the_budget(counter):
    count = resolve_token_counter(counter)
    document = "The first rent is due. The second rent is due. The third one too."
    spans = [(0, 22), (23, 46), (47, 65)]
    parts = [document[start:end] for start, end in spans]
    metadatas = [
        {
            "source": "s",
            **span_stamp(document, span, part),
            "token_count": 1,
            "token_counter": count.name,
        }
        for span, part in zip(spans, parts, strict=True)
    ]
    budget = count("\n\n".join(parts[:2]))

    kept = order_context(parts, metadatas, token_budget=budget, token_counter=counter)

    assert [passage.text for passage in kept] == parts[:2]


@pytest.mark.parametrize("citations", [False, True])
def test_overlaps_that_are_sent_once_leave_room_for_more(citations):
    words = [f"word{number}" for number in range(200)]
    document = " ".join(words)
    parts = [" ".join(words[at : at + 20]) for at in range(0, 180, 10)]
    starts = [document.index(part) for part in parts]
    metadatas = [{"source": "s", "start_index": start} for start in starts]

    passages = order_context(
        parts,
        metadatas,
        token_budget=125,
        token_counter=lambda text: len(text.split()),
        merge=True,
        citations=citations,
    )

    assert len(passages.why["kept"]) == 10  # 5 that are counted as if each were sent
    assert passages.why["left"] < 20  # less than another one


def test_what_is_sent_around_a_text_counts():
    hits = [Hit("one two", {"source": "s", "start_index": n}) for n in (0, 90)]
    options = ContextOptions.from_options(
        {"token_budget": 5, "token_counter": lambda text: len(text.split())}
    )

    def kept(sent_text):
        return len(arrange(hits, options, sent_text=sent_text).passages)

    assert kept(None) == 2
    assert kept(lambda _, text: f"source: {text}") == 1


@pytest.mark.parametrize(
    "options", [{}, {"merge": True, "citations": True}, {"selection": "recall"}]
)
def test_a_second_question_counts_nothing_anew(options):
    counted = []

    def words(text):
        counted.append(text)
        return len(text.split())

    parts = [f"This is sentence {number} of it. " * 3 for number in range(40)]
    starts = accumulate(map(len, parts), initial=0)
    metadatas = [
        {"source": "s", "start_index": start}
        for start, _ in zip(starts, parts, strict=False)
    ]

    def ask():
        return order_context(
            parts, metadatas, token_budget=300, token_counter=words, **options
        )

    first, before = ask(), len(counted)
    assert ask() == first
    assert len(counted) == before == len(set(counted))
