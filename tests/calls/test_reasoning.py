"""Reasoning blocks at the start of a reply go, and nothing else does."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oprag.calls import ReasoningFilter, without_reasoning

TAGS = (("<think>", "</think>"), ("<t>", "</t>"))


@pytest.mark.parametrize(
    ("reply", "left"),
    [
        ("May.", "May."),
        (" \n May.", " \n May."),
        (" <think>June?</think> May.", " May."),
        ("<think>a</think> \n<t>b</t>\n May.", "\n May."),
        ("May. <think>June?</think>", "May. <think>June?</think>"),
        ("<think>never closed", ""),
        (" <thin", " <thin"),
    ],
)
def test_only_blocks_at_the_start_go(reply, left):
    assert without_reasoning(reply, TAGS) == left


@given(st.lists(st.sampled_from([*"<th/>i a\n", *TAGS[1], *TAGS[0]]), max_size=20))
def test_it_does_not_matter_how_a_reply_is_cut(pieces):
    blocks = ReasoningFilter(TAGS)
    streamed = "".join(map(blocks.feed, pieces)) + blocks.finish()

    assert streamed == without_reasoning("".join(pieces), TAGS)
