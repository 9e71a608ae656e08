"""Full documents, whole or cut: always slices, in order, within the window."""

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oprag.calls import PromptSize
from oprag.chunk import Chunk, Span
from oprag.context import ContextOptions
from oprag.errors import ContextWindowError
from oprag.routing import FullDocument, RouteOptions, context_of_documents
from oprag.routing.rung_context import joined, largest_selection
from oprag.tokens import resolve_token_counter

WORDS = resolve_token_counter(lambda text: len(text.split()))
CL100K = resolve_token_counter("cl100k_base")
COUNTERS = [WORDS, CL100K, resolve_token_counter("approximate")]

A = FullDocument("a", " ".join(f"alpha{n:03}." for n in range(200)))
B = FullDocument("b", "\n".join(f"beta{n:03}" for n in range(100)))


def chunk_of(document: FullDocument, start: int, end: int, rank: int = 0) -> Chunk:
    text = document.text[start:end]
    span = Span(start, end)
    return Chunk(text, document.name, rank, (0, *span), span, name=document.name)


def cut(
    documents, chunks, window, *, reserved=5, overhead=10, counter=WORDS, named=False
):
    size = PromptSize(
        lambda values: counter(values["context"]) + overhead, window, reserved
    )
    options = RouteOptions(
        rungs=(), context=ContextOptions(token_counter=counter), named=named
    )
    return context_of_documents(documents, chunks, options, size)


def test_documents_that_fit_are_whole():
    # 200 words and 100, 10 around them, 5 for the answer.
    result = cut([A, B], [], 315)
    less = cut([A, B], [], 314)

    assert WORDS(less.text) <= 299
    assert not less.whole
    assert result.text == f"{A.text}\n\n{B.text}"
    assert result.whole
    assert [e.span for e in result.excerpts] == [(0, len(A.text)), (0, len(B.text))]


def test_each_document_is_named_and_its_name_counts():
    # 302 words with those of "Document: a" and "Document: b", 10 and 5 besides.
    result = cut([A, B], [], 319, named=True)
    less = cut([A, B], [], 318, named=True)

    assert result.text == f"Document: a\n\n{A.text}\n\nDocument: b\n\n{B.text}"
    assert result.whole
    assert [e.text for e in result.excerpts] == [A.text, B.text]
    assert not less.whole
    assert WORDS(less.text) <= 303


def test_a_name_stands_on_one_line_before_the_first_slice_of_its_document():
    document = A._replace(name="a\nlong  name")
    chunks = [chunk_of(document, 0, 99), chunk_of(document, 1000, 1099, rank=1)]

    result = cut([document], chunks, 10 + 5 + 24, named=True)

    assert result.text == (
        f"Document: a long name\n\n{chunks[0].text}\n\n{chunks[1].text}"
    )


def test_an_unknown_window_takes_all_and_counts_nothing():
    def never(text):
        raise AssertionError

    options = RouteOptions(rungs=(), context=ContextOptions())
    size = PromptSize(never, None, 5)
    result = context_of_documents([A, B], [], options, size)

    assert result.whole


def test_the_retrieved_chunks_come_first_best_first():
    # A word and its blank are 10 characters: words 100-109, then words 20-29.
    best, second = chunk_of(A, 1000, 1099), chunk_of(A, 200, 299, rank=1)

    one = cut([A], [best, second], 10 + 5 + 12)
    both = cut([A], [best, second], 10 + 5 + 20)

    assert best.text in one.text
    assert second.text not in one.text
    assert both.text == f"{second.text}\n\n{best.text}"


def test_then_what_stands_nearest_to_them():
    best = chunk_of(A, 1000, 1099)

    result = cut([A, B], [best], 10 + 5 + 60)

    (excerpt,) = result.excerpts
    assert excerpt.document == A
    assert excerpt.span.start < 900
    assert excerpt.span.end > 1200


def test_of_a_chunk_that_is_too_long_the_beginning_is_read():
    long = chunk_of(A, 1000, 1999)

    result = cut([A], [long], 10 + 5 + 40)

    assert result.excerpts[0].span.start == 1000
    assert 32 < WORDS(result.text) <= 40


def test_a_chunk_whose_offsets_are_wrong_is_found_by_its_text():
    wrong = chunk_of(A, 1000, 1099)._replace(span=Span(0, 99))
    page = chunk_of(A, 1000, 1099)._replace(part=3)
    nowhere = chunk_of(A, 1000, 1099)._replace(span=None)

    for chunk in (wrong, page, nowhere):
        result = cut([A], [chunk], 10 + 5 + 10)
        assert [e.span for e in result.excerpts] == [(1000, 1099)]


def test_a_chunk_of_another_text_is_passed_over():
    altered = chunk_of(A, 1000, 1099)._replace(text="x" * 99)
    foreign = chunk_of(B, 0, 50)

    result = cut([A], [altered, foreign], 10 + 5 + 50)

    assert result.excerpts[0].span.start == 0


def test_a_window_without_room_for_a_piece_is_refused():
    text = FullDocument("a", "supercalifragilistic" * 50)

    with pytest.raises(ContextWindowError, match="max_context_tokens") as caught:
        cut([text], [], 10 + 5 + 1, counter=CL100K)
    assert caught.value.window == 16
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
        FullDocument(name, text)
        for name, text in zip("abc", draw(st.lists(PIECES, max_size=3)), strict=False)
    ]
    chunks = []
    for document in documents:
        for _ in range(draw(st.integers(0, 3))):
            start = draw(st.integers(0, len(document.text)))
            end = draw(st.integers(start, len(document.text)))
            chunks.append(chunk_of(document, start, end))
    order = draw(st.permutations(chunks))
    ranked = [chunk._replace(rank=rank) for rank, chunk in enumerate(order)]
    return documents, ranked, draw(st.integers(1, 150))


@given(cases(), st.sampled_from(COUNTERS), st.booleans())
@settings(deadline=None)
def test_the_prompt_fits_and_every_excerpt_is_a_slice_in_order(case, counter, named):
    documents, chunks, room = case
    given_before = [tuple(chunk) for chunk in chunks]

    try:
        result = cut(documents, chunks, 15 + room, counter=counter, named=named)
    except ContextWindowError:
        return

    assert counter(result.text) <= room
    order = [document.name for document in documents]
    places = [(order.index(e.document.name), *e.span) for e in result.excerpts]
    assert places == sorted(places)
    for before, after in itertools.pairwise(places):
        assert before[0] != after[0] or before[2] <= after[1]
    for excerpt in result.excerpts:
        assert excerpt.text
        assert excerpt.text in result.text
        heading = f"Document: {excerpt.document.name}\n\n"
        assert result.text.count(heading) == named
    assert [tuple(chunk) for chunk in chunks] == given_before


@given(cases())
@settings(deadline=None)
def test_the_room_is_used_up_but_for_a_piece(case):
    documents, chunks, room = case
    counted = ContextOptions(token_counter=WORDS)
    options = RouteOptions(rungs=(), context=counted, named=False)
    whole = sum(WORDS(document.text) for document in documents)

    kept = largest_selection(documents, chunks, room, options)

    used = WORDS(joined(kept, options))
    # A piece has at most 32 characters here.
    assert used == whole or room - 16 <= used <= room
