"""Where the counts of a tokenizer add up."""

import copy
from functools import lru_cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oprag.tokens import NamedTokenCounter, joints_of, resolve_token_counter
from oprag.tokens.tiktoken_files import _JOINTS, TIKTOKEN_NAMES
from tests.strategies import awkward_texts, counter, minilm

tiktoken = pytest.importorskip("tiktoken", reason="most of this is about it")

SOME = settings(max_examples=100, deadline=None)


@lru_cache
def pairs(pattern):
    """Two characters of print that a pattern matches."""
    print_ = [*map(chr, range(128)), *"‘’“”…–—"]
    return st.sampled_from(
        [a + b for a in print_ for b in print_ if pattern.match(a + b)]
    )


@SOME
@given(awkward_texts, st.data(), awkward_texts)
@pytest.mark.parametrize("name", ["cl100k_base", "o200k_base", "minilm"])
def test_counts_add_up_where_that_is_said(name, before, data, after):
    count = counter(name)
    last, first = data.draw(pairs(joints_of(count)))
    before, after = before + last, first + after

    assert count(before + after) == count(before) + count(after)


@SOME
@given(awkward_texts, pairs(_JOINTS), awkward_texts)
def test_the_older_encodings_split_where_they_are_said_to(before, pair, after):
    regex = pytest.importorskip("regex", reason="runs the pattern")
    public = pytest.importorskip("tiktoken_ext.openai_public")
    pieces = regex.compile(public.r50k_pat_str).findall
    before, after = before + pair[0], pair[1] + after

    assert pieces(before + after) == pieces(before) + pieces(after)


@pytest.mark.parametrize("name", ["cl100k_base", "o200k_base", "minilm"])
def test_a_space_after_a_printable_character_is_always_among_these_places(name):
    for number in range(0x21, 0x7F):
        assert joints_of(counter(name)).match(chr(number) + " ")


def test_the_encodings_that_are_taken_for_tiktokens_own_are():
    assert set(tiktoken.list_encoding_names()) >= TIKTOKEN_NAMES - {"o200k_harmony"}
    impostor = tiktoken.Encoding(
        "gpt2", pat_str=".+", mergeable_ranks={b"a": 0}, special_tokens={}
    )

    assert joints_of(resolve_token_counter(impostor)) is None


def test_of_other_counters_nothing_is_assumed():
    for name in ("byte_level", "metaspace"):
        assert joints_of(counter(name)) is None
    assert joints_of(NamedTokenCounter(len, tokenizer=minilm())) is None


def test_wordpiece_with_white_space_in_an_added_token_is_not_additive():
    tokenizer = copy.deepcopy(minilm())
    tokenizer.add_tokens(["new york"])
    count = resolve_token_counter(tokenizer)

    assert count("in new york") == 2
    assert count("in new") + count(" york") == 3
    assert joints_of(count) is None
