"""Windows of tokens: where they begin and end, and what each counts alone."""

import dataclasses
import itertools

import pytest
import regex
from hypothesis import given, settings
from hypothesis import strategies as st

from oprag.splitting import TextChunk, split_tokens
from oprag.tokens import encodable
from tests.kit.effort import cases
from tests.kit.strategies import WITH_OFFSETS, awkward_texts, counter, graphemes, slices
from tests.kit.words import words

SOME = settings(max_examples=cases(60))
sizes = st.integers(1, 12)
with_offsets = pytest.mark.parametrize("name", WITH_OFFSETS)


def token_begins(text, tokenizer):
    """The character that each token begins in, one token at a time."""
    text = encodable(text)
    if not hasattr(tokenizer, "decode_single_token_bytes"):
        offsets = tokenizer.encode(text, add_special_tokens=False).offsets
        return [start for start, _ in offsets]
    begins = []
    read = b""
    for token in tokenizer.encode_ordinary(text):
        begins.append(len(read.decode(errors="ignore")))
        read += tokenizer.decode_single_token_bytes(token)
    return begins


@SOME
@given(
    st.lists(st.sampled_from(["a", " world", "Unaffable", ", ", "\n", "123456"])),
    sizes,
    st.data(),
)
@pytest.mark.parametrize("name", ["cl100k_base", "o200k_base", "minilm", "byte_level"])
def test_windows_that_fit_begin_and_end_where_their_tokens_do(name, words, size, data):
    text = "".join(words)
    count = counter(name)
    begins = token_begins(text, count.tokenizer)
    step = size - data.draw(st.integers(0, size - 1))
    starts = range(0, max(len(begins) - (size - step), 1), step)
    places = [0, *begins[1:], *[len(text)] * (size + 1)]

    chunks = split_tokens(
        text, chunk_size=size, chunk_overlap=size - step, tokenizer=count
    )

    grid = [(places[start], places[start + size]) for start in starts if text]
    fitting = [
        *itertools.takewhile(lambda span: count(text[slice(*span)]) <= size, grid)
    ]
    assert [chunk[:2] for chunk in chunks[: len(fitting)]] == fitting
    assert len(chunks) == len(grid) or len(fitting) < len(grid)


@SOME
@given(awkward_texts, sizes)
@with_offsets
def test_a_cut_inside_a_grapheme_moves_to_one_of_its_ends(name, text, size):
    boundaries = sorted(graphemes(text))
    place = next(iter(token_begins(text, counter(name).tokenizer)[size:]), len(text))
    below = max(b for b in boundaries if b <= place)
    above = min(b for b in boundaries if b >= place)
    # A token may begin at a boundary that another token reaches beyond.
    beyond = min([b for b in boundaries if b > place], default=above)

    chunks = split_tokens(text, chunk_size=size, tokenizer=counter(name))

    if text and counter(name)(text[:beyond]) <= size:
        assert chunks[0].end in {below, above, beyond}


def test_white_space_that_no_token_holds_belongs_to_the_chunk_on_its_left():
    text = "  one \n\n two  three  "

    chunks = split_tokens(text, chunk_size=1, tokenizer=counter("minilm"))

    assert slices(text, chunks) == ["  one \n\n ", "two  ", "three  "]
    assert [chunk.token_count for chunk in chunks] == [1, 1, 1]


def test_a_token_that_stands_for_nothing_is_no_window():
    # "▁", which begins every text, and "aaaa"; "▁a" is one token, and so is "▁aa"
    chunks = split_tokens("aaaa", chunk_size=1, tokenizer=counter("metaspace"))

    assert chunks == [TextChunk(0, 2, 1), TextChunk(2, 4, 1)]


def test_a_truncating_tokenizer_reads_the_whole_text():
    text = "word " * 1_000
    tokenizer = counter("minilm").tokenizer
    tokenizer = type(tokenizer).from_str(tokenizer.to_str())
    tokenizer.enable_truncation(10)

    chunks = split_tokens(text, chunk_size=300, tokenizer=tokenizer)

    assert [chunk.token_count for chunk in chunks] == [300, 300, 300, 100]


HARD = {
    "emoji": "👩‍🚀🙂🏽🇩🇪a👨‍👩‍👧‍👦❤️ " * 40,
    "flags": "🇩🇪🇫🇷" * 150,
    "chinese": "春天来了，花开了，鸟儿唱歌。我们在北京看到了很多人。" * 15,
    "rare": "".join(map(chr, range(0x4E00, 0x5000))),
}
both = pytest.mark.parametrize("name", ["cl100k_base", "byte_level"])


@both
@pytest.mark.parametrize(("size", "overlap"), [(20, 0), (20, 6), (100, 0), (128, 50)])
@pytest.mark.parametrize("kind", HARD)
def test_no_window_exceeds_its_size_alone(kind, size, overlap, name):
    text, count = HARD[kind], counter(name)

    chunks = split_tokens(text, chunk_size=size, chunk_overlap=overlap, tokenizer=count)

    for piece in slices(text, chunks):
        assert count(piece) <= size or regex.fullmatch(r"\X", piece)
    full = 0.6 if size == 20 else 0.9  # a family is 18 tokens
    assert sum(chunk.token_count for chunk in chunks) > full * size * (len(chunks) - 1)


@both
def test_what_is_counted_again_grows_as_the_text_does(name):
    def characters_counted(repeats):
        counted = []
        known = counter(name)
        watched = dataclasses.replace(
            known, count=lambda text: counted.append(len(text)) or known.count(text)
        )
        split_tokens(
            HARD["emoji"] * repeats, chunk_size=30, chunk_overlap=9, tokenizer=watched
        )
        return sum(counted)

    assert characters_counted(16) < 20 * characters_counted(1)


# Windows by a bare callable


def test_a_counted_window_is_the_longest_that_fits():
    text = "one two  three four five"

    chunks = split_tokens(text, chunk_size=2, tokenizer=words)

    assert slices(text, chunks) == ["one two  ", "three four ", "five"]
    assert [chunk.token_count for chunk in chunks] == [2, 2, 1]


def test_counted_windows_overlap_by_what_counts_so_much():
    chunks = split_tokens("abcdefgh", chunk_size=4, chunk_overlap=1, tokenizer=len)

    assert slices("abcdefgh", chunks) == ["abcd", "defg", "gh"]
