"""Where tokens begin, against oracles that read one token at a time."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oprag.tokens import TokenStart, encodable, tokenize
from oprag.tokens.offsets import HuggingFaceText, TiktokenText
from tests.kit.strategies import WITH_OFFSETS, awkward_texts, counter

ENCODINGS = ("cl100k_base", "o200k_base")


def oracle(text, encoding):
    """Starts of a byte-level encoding's tokens, from the bytes of each."""
    starts = []
    read = b""
    for token in encoding.encode_ordinary(text):
        whole = read.decode(errors="ignore")
        starts.append(TokenStart(len(whole), exact=whole.encode() == read))
        read += encoding.decode_single_token_bytes(token)
    assert read == text.encode()
    return starts


@given(awkward_texts.map(encodable))
@pytest.mark.parametrize("name", ENCODINGS)
def test_starts_of_a_byte_level_encoding_are_those_of_its_bytes(name, text):
    encoding = counter(name).tokenizer
    starts = oracle(text, encoding)

    tokenized = TiktokenText(text, encoding)

    assert tokenized.n_tokens == len(starts)
    assert tokenized.starts(range(len(starts))) == starts


@given(awkward_texts.map(encodable))
@pytest.mark.parametrize("name", ["minilm", "byte_level", "metaspace"])
def test_starts_of_a_hugging_face_tokenizer_are_its_offsets(name, text):
    tokenizer = counter(name).tokenizer
    offsets = tokenizer.encode(text, add_special_tokens=False).offsets
    starts = [start for start, _ in offsets]
    ends = [0, *(end for _, end in offsets)]  # of the token before

    found = HuggingFaceText(text, tokenizer).starts(range(len(offsets)))

    assert [start.position for start in found] == list(
        itertools.accumulate(starts, max)
    )
    assert [start.exact for start in found] == [
        before <= start.position or before < end
        for before, (_, end), start in zip(ends, offsets, found, strict=False)
    ]


@given(awkward_texts, st.data())
@pytest.mark.parametrize("name", WITH_OFFSETS)
def test_some_starts_are_the_same_as_among_all(name, text, data):
    tokenized = tokenize(text, counter(name).tokenizer)
    every = tokenized.starts(range(tokenized.n_tokens))
    some = sorted(data.draw(st.sets(st.integers(0, len(every) - 1)))) if every else []

    assert tokenized.starts(some) == [every[token] for token in some]
    assert every == sorted(every, key=lambda start: start.position)
