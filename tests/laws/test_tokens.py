"""What may be concluded from token counts, and where nothing may be."""

import copy
from functools import lru_cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oprag.tokens import resolve_token_counter
from oprag.tokens.tiktoken_files import _JOINTS, TIKTOKEN_NAMES
from tests.strategies import awkward_texts, counter, minilm

tiktoken = pytest.importorskip("tiktoken", reason="most of this is about it")

SOME = settings(max_examples=100, deadline=None)

separators = st.tuples(*[st.text(" \n\t", min_size=1, max_size=2)] * 2).flatmap(
    lambda ends: st.text(max_size=3).map(lambda text: text.join(ends))
)


@SOME
@given(awkward_texts, separators, awkward_texts)
@pytest.mark.parametrize("name", ["approximate", "minilm"])
def test_the_parts_bound_the_whole_where_that_is_said(name, before, separator, after):
    count = counter(name)
    parts = count(before) + count(separator) + count(after)

    assert count.subadditive
    assert count(before + separator + after) <= parts


@pytest.mark.parametrize("name", ["cl100k_base", "o200k_base"])
def test_it_is_not_said_where_the_whole_can_count_more_than_its_parts(name):
    count = counter(name)

    assert count("=-" * 8) == count("\n\n") == 1
    assert count("=-" * 8 + "\n\n") == 5  # 3 more than the parts
    assert not count.subadditive


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
    last, first = data.draw(pairs(count.additive_at))
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
    assert counter(name).additive_at_spaces
    for number in range(0x21, 0x7F):
        assert counter(name).additive_at.match(chr(number) + " ")


def test_the_encodings_that_are_taken_for_tiktokens_own_are():
    assert set(tiktoken.list_encoding_names()) >= TIKTOKEN_NAMES - {"o200k_harmony"}
    impostor = tiktoken.Encoding(
        "gpt2", pat_str=".+", mergeable_ranks={b"a": 0}, special_tokens={}
    )

    assert resolve_token_counter(impostor).additive_at is None


def test_of_other_hugging_face_tokenizers_nothing_is_assumed():
    for name in ("byte_level", "metaspace"):
        assert not counter(name).subadditive
        assert counter(name).additive_at is None
        assert not counter(name).additive_at_spaces


def test_wordpiece_with_white_space_in_an_added_token_is_not_additive():
    tokenizer = copy.deepcopy(minilm())
    tokenizer.add_tokens(["new york"])
    count = resolve_token_counter(tokenizer)

    assert count("in new york") == 2
    assert count("in new") + count(" york") == 3
    assert count.additive_at is None
