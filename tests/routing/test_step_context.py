"""Full documents, whole or cut: always slices, in order, within the window."""

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oprag.calls import PromptSize
from oprag.chunk import FullText, Hit
from oprag.context import ContextOptions
from oprag.errors import ContextWindowError
from oprag.routing import Excerpt, RouteOptions
from oprag.routing.step_context import context_of_chunks, context_of_documents
from oprag.tokens import resolve_token_counter

WORDS = resolve_token_counter(lambda text: len(text.split()))
CL100K = resolve_token_counter("cl100k_base")
COUNTERS = [WORDS, CL100K, resolve_token_counter("approximate")]


def document(name: str, text: str) -> Excerpt:
    return Excerpt.whole(name, FullText(text))


A = document("a", " ".join(f"alpha{n:03}." for n in range(200)))
B = document("b", "\n".join(f"beta{n:03}" for n in range(100)))


def hit_of(of: Excerpt, start: int, end: int, **metadata) -> Hit:
    place = {"source": of.name, "start_index": start, **metadata}
    return Hit(of.text[start:end], place)


def cut(documents, hits, window, *, counter=WORDS, named=False):
    size = PromptSize(lambda values: counter(values["context"]) + 10, window, 5)
    options = RouteOptions(
        steps=(), context=ContextOptions(token_counter=counter), named=named
    )
    return context_of_documents(documents, hits, options, size)


@pytest.mark.parametrize("days", [("03", "01", "02"), ("0.9", "0.1", "0.5")])
def test_chunks_at_dates_or_fractions_are_numbered_in_their_order(days):
    at = [day if "." in day else f"2024-01-{day}" for day in days]
    hits = [Hit(t, {"source": "a", "at": a}) for t, a in zip("cab", at, strict=True)]
    context = ContextOptions(token_counter=WORDS, order="rank", position_keys="at")
    size = PromptSize(lambda values: WORDS(values["context"]), None, 0)
    options = RouteOptions(steps=(), context=context)

    text = context_of_chunks(hits, options, size, 30).text
    assert text.split("\n\n") == ["[Chunk 2] c", "[Chunk 0] a", "[Chunk 1] b"]


def test_documents_that_fit_are_whole():
    # 200 words and 100, 10 around them, 5 for the answer.
    hits = [hit_of(A, 0, 99), hit_of(B, 0, 8)]
    result = cut([A, B], hits, 315)
    less = cut([A, B], hits, 314)

    assert WORDS(less.text) <= 299
    assert not less.whole
    assert result.text == f"{A.text}\n\n{B.text}"
    assert result.whole
    assert [e.span for e in result.excerpts] == [(0, len(A.text)), (0, len(B.text))]


def test_each_document_is_named_and_its_name_counts():
    # 302 words with those of "Document: a" and "Document: b", 10 and 5 besides.
    hits = [hit_of(A, 0, 99), hit_of(B, 0, 8)]
    result = cut([A, B], hits, 319, named=True)
    less = cut([A, B], hits, 318, named=True)

    assert result.text == f"Document: a\n\n{A.text}\n\nDocument: b\n\n{B.text}"
    assert result.whole
    assert not less.whole
    assert WORDS(less.text) <= 303


def test_a_name_stands_on_one_line_before_the_first_slice_of_its_document():
    long = A._replace(name="a\nlong\r\nname")
    hits = [hit_of(long, 0, 99), hit_of(long, 1000, 1099)]

    result = cut([long], hits, 10 + 5 + 24, named=True)

    assert result.text == f"Document: a long name\n\n{hits[0].text}\n\n{hits[1].text}"


def test_an_unknown_window_takes_all_and_counts_nothing():
    def never(text):
        raise AssertionError

    options = RouteOptions(steps=(), context=ContextOptions())
    size = PromptSize(never, None, 5)
    result = context_of_documents([A, B], [], options, size)

    assert result.whole


def test_the_retrieved_chunks_come_first_best_first():
    # A word and its blank are 10 characters: words 100-109, then words 20-29.
    best, second = hit_of(A, 1000, 1099), hit_of(A, 200, 299)

    one = cut([A], [best, second], 10 + 5 + 12)
    both = cut([A], [best, second], 10 + 5 + 20)

    assert best.text in one.text
    assert second.text not in one.text
    assert both.text == f"{second.text}\n\n{best.text}"


def test_then_what_stands_beside_them():
    result = cut([A, B], [hit_of(A, 1000, 1099)], 10 + 5 + 60)

    (excerpt,) = result.excerpts
    assert excerpt.name == "a"
    assert excerpt.span.start < 900
    assert excerpt.span.end > 1200
    assert 50 < WORDS(excerpt.text) <= 60


def test_a_chunk_whose_offsets_are_wrong_is_found_by_its_text():
    right = hit_of(A, 1000, 1099)
    wrong = right._replace(metadata={"source": "a", "start_index": 0})
    page = right._replace(metadata={"source": "a", "page": 3})
    nowhere = right._replace(metadata={"source": "a"})

    for hit in (wrong, page, nowhere):
        result = cut([A], [hit], 10 + 5 + 10)
        assert [e.span for e in result.excerpts] == [(1000, 1099)]


def test_a_window_without_room_for_the_best_chunk_is_refused():
    altered = hit_of(A, 0, 99)._replace(text="beta")

    for hit, window in ((hit_of(A, 0, 99), 20), (altered, 50)):
        with pytest.raises(ContextWindowError, match="max_context_tokens") as caught:
            cut([A], [hit], window)
        assert caught.value.window == window
    with pytest.raises(ContextWindowError, match="no room"):
        cut([A], [], 15)


PIECES = st.lists(
    st.sampled_from(
        ["alpha", "be-ta", "\n\n", ". ", "日本", "e\u0301", "  ", "x" * 30]
    ),
    max_size=80,
).map(" ".join)


@st.composite
def cases(draw):
    documents = [
        document(name, text)
        for name, text in zip("abc", draw(st.lists(PIECES, max_size=3)), strict=False)
    ]
    hits = []
    for each in documents:
        for _ in range(draw(st.integers(0, 3)) if each.text.strip() else 0):
            start = draw(st.integers(0, len(each.text) - 1))
            end = draw(st.integers(start + 1, len(each.text)))
            hits.append(hit_of(each, start, end))
    return documents, draw(st.permutations(hits)), draw(st.integers(1, 150))


@given(cases(), st.sampled_from(COUNTERS), st.booleans())
@settings(deadline=None)
def test_the_prompt_fits_and_every_excerpt_is_a_slice_in_order(case, counter, named):
    documents, hits, room = case
    given_before = repr(hits)

    try:
        result = cut(documents, hits, 15 + room, counter=counter, named=named)
    except ContextWindowError:
        return

    assert counter(result.text) <= room
    whole = {each.name: each.text for each in documents}
    spans: dict[str, list] = {}
    for excerpt in result.excerpts:
        assert excerpt.text == whole[excerpt.name][slice(*excerpt.span)] != ""
        assert excerpt.text in result.text
        spans.setdefault(excerpt.name, []).append(excerpt.span)
        assert result.text.count(f"Document: {excerpt.name}\n\n") == named
    for places in spans.values():
        for before, after in itertools.pairwise(places):
            assert before[1] < after[0]
    assert repr(hits) == given_before
