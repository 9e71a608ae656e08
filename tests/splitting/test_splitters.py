"""Splitters: nothing lost, limits kept by each chunk's own count, cuts in place."""

import itertools
import re

import pytest
import regex
from hypothesis import given, settings
from hypothesis import strategies as st

from oprag.errors import InvalidOptionError, PositionError
from oprag.splitting import TextChunk, split_sentences, split_tokens
from tests.kit.effort import cases
from tests.kit.strategies import (
    COUNTING_ONLY,
    WITH_OFFSETS,
    awkward_texts,
    counter,
    graphemes,
    slices,
)
from tests.kit.words import words

SOME = settings(max_examples=cases(60))
sizes = st.integers(1, 12)
every_counter = pytest.mark.parametrize("name", [*WITH_OFFSETS, *COUNTING_ONLY])


def lines_and_stops(text):
    """A plain sentence finder: up to a full stop or a line break."""
    found = re.finditer(r"[^.\n]+[.\n]*|[.\n]+", text)
    return [match.span() for match in found]


# Laws of both splitters


def graphemes_apart(text):
    """One sentence: every cut inside it is the splitter's."""
    return [(0, len(text))]


@SOME
@given(awkward_texts, sizes, st.data())
@every_counter
def test_chunks_cover_the_text_within_the_limit_counted_alone_and_cut_no_grapheme(
    name, text, size, data
):
    count = counter(name)
    overlap = data.draw(st.integers(0, size - 1))
    options = {"chunk_size": size, "tokenizer": count}

    windows = split_tokens(text, **options)
    overlapping = split_tokens(text, chunk_overlap=overlap, **options)
    packed = split_sentences(text, sentence_spans=lines_and_stops, **options)
    cut = split_sentences(text, sentence_spans=graphemes_apart, **options)

    for chunks in (windows, packed, cut):
        assert "".join(slices(text, chunks)) == text
        assert [c.start for c in chunks[1:]] == [c.end for c in chunks[:-1]]
    reached = 0
    for before, chunk in itertools.pairwise([TextChunk(-1, 0, 0), *overlapping]):
        assert before.start < chunk.start <= reached < chunk.end
        reached = chunk.end
    assert reached == len(text)
    for chunk in (*windows, *overlapping, *packed, *cut):
        piece = text[chunk.start : chunk.end]
        assert piece
        assert chunk.token_count == count(piece)
        assert count(piece) <= size or regex.fullmatch(r"\X", piece)
    places = {place for chunk in (*windows, *overlapping, *cut) for place in chunk[:2]}
    assert places <= graphemes(text)


@every_counter
def test_a_text_without_characters_has_no_chunks(name):
    assert split_tokens("", tokenizer=counter(name)) == []
    assert split_sentences("", tokenizer=counter(name)) == []


@every_counter
@pytest.mark.parametrize("text", [" ", "\r\n\r\n", "\u3000 \t"])
def test_white_space_alone_is_one_chunk(name, text):
    count = counter(name)
    whole = [TextChunk(0, len(text), count(text))]

    assert split_tokens(text, tokenizer=count) == whole
    assert split_sentences(text, tokenizer=count) == whole


# Whole sentences


@SOME
@given(awkward_texts, sizes)
@every_counter
def test_packing_is_that_of_a_brute_force_oracle(name, text, size):
    count = counter(name)

    chunks = split_sentences(
        text, chunk_size=size, tokenizer=count, sentence_spans=lines_and_stops
    )

    packed = packing_oracle(text, size, count)
    found = {chunk[:2] for chunk in chunks}
    assert {span for span, whole in packed if whole} <= found
    edges = {edge for span, _ in packed for edge in span}
    assert edges <= {edge for span in found for edge in span} | {0}
    assert len(packed) == len(chunks) or not all(whole for _, whole in packed)


def packing_oracle(text, size, count):
    """Greedy packing, every chunk counted anew; and whether sentences stay whole."""
    starts = [start for start, _ in lines_and_stops(text)][1:]
    sentences = list(itertools.pairwise([0, *starts, len(text)])) if text else []
    packed = []
    for start, end in sentences:
        if packed and packed[-1][1] and count(text[packed[-1][0][0] : end]) <= size:
            packed[-1] = ((packed[-1][0][0], end), True)
        else:
            packed.append(((start, end), count(text[start:end]) <= size))
    return packed


def test_an_overlong_sentence_closes_the_chunk_before_it_and_is_cut_in_order():
    text = "Short one. This one, which goes on; and on and on and on. Last one."

    chunks = split_sentences(text, chunk_size=5, tokenizer=words)

    assert slices(text, chunks) == [
        "Short one. ",
        "This one, which goes on; ",
        "and on and on and ",
        "on. ",
        "Last one.",
    ]


def test_an_overlong_sentence_is_cut_after_a_clause_before_a_blank_before_a_token():
    text = "aaaa, bb cc " + "d" * 9

    chunks = split_sentences(text, chunk_size=8, tokenizer=len)

    assert slices(text, chunks) == ["aaaa, ", "bb cc ", "dddddddd", "d"]


def test_a_decimal_comma_is_no_place_to_cut():
    chunks = split_sentences("pays 12,345.67", chunk_size=9, tokenizer=len)

    assert slices("pays 12,345.67", chunks) == ["pays ", "12,345.67"]


def test_full_width_marks_need_no_blank_behind_them():
    text = "春天来了，花开了，鸟儿唱歌"

    chunks = split_sentences(text, chunk_size=6, tokenizer=len)

    assert slices(text, chunks) == ["春天来了，", "花开了，", "鸟儿唱歌"]


def test_the_default_is_trained_punkt_and_cl100k():
    text = "Mr. Smith saw Mrs. Jones. He left."

    chunks = split_sentences(text, chunk_size=9)

    assert slices(text, chunks) == ["Mr. Smith saw Mrs. Jones. ", "He left."]


@pytest.mark.parametrize(
    ("spans", "start", "end"),
    [
        ([(0, 3), (2, 5)], 2, 5),  # overlap
        ([(3, 5), (0, 3)], 0, 3),  # descend
        ([(0, 3), (5, 4)], 5, 4),  # reversed
        ([(0, 3), (3, 3)], 3, 3),  # empty
        ([(0, 9)], 0, 9),  # past the end
        ([(-1, 3)], -1, 3),
    ],
)
def test_spans_that_cannot_be_sentences_are_refused(spans, start, end):
    with pytest.raises(PositionError, match="sentence_spans") as caught:
        split_sentences("abcdefgh", sentence_spans=lambda _: spans)

    assert (caught.value.start, caught.value.end) == (start, end)


@pytest.mark.parametrize("spans", [None, [(0, 3, 4)], ["ab"], [(0.0, 8.0)], [5]])
def test_what_is_no_span_is_refused(spans):
    with pytest.raises(InvalidOptionError, match="sentence_spans"):
        split_sentences("abcdefgh", sentence_spans=lambda _: spans)


# Both
