"""Tokens of a finished context, from the counts of its parts where that is exact.

Tokenizers are not additive: `"end."` and two line breaks are one piece to tiktoken,
and may take more or fewer tokens joined than apart. Counting a long context again
takes longer than everything else, so only what stands around each joint is.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import TypeAlias

from oprag.chunk import Chunk, Passage
from oprag.rendering import gap_between, marked_texts
from oprag.tokens import NamedTokenCounter

__all__ = ["SentText", "context_counter", "joint_counter"]

SentText: TypeAlias = Callable[[Chunk, str], str]
"""The text that the application sends for a chunk: given a passage's first chunk
and the passage's text, that text with whatever the framework puts around it."""

_FIRST_PLACE = re.compile(r"(?<=[!-~]) ")
"""Where a text may be counted in two parts (`additive_at_spaces`)."""
_LAST_PLACE = re.compile(r"(?<=[!-~]) (?!.*[!-~] )", re.DOTALL)
_NEAR = 80
"""Characters around a joint in which such a place is looked for first."""
_PLAIN_END = re.compile(r"[0-9A-Za-z][!-/:-@\[-`{-~]?\Z")
_PLAIN_START = re.compile(r" ?[0-9A-Za-z]")


def context_counter(
    counter: NamedTokenCounter,
    *,
    separator: str,
    gap_mark: str | None = None,
    sent_text: SentText | None = None,
) -> Callable[[Sequence[Passage]], int]:
    """A function that counts the tokens of passages as they are sent.

    Args:
        counter: The token counter.
        separator: What is put between the texts.
        gap_mark: What is put between passages of one document with a gap.
        sent_text: What is sent for a passage, if not just its text.

    Returns:
        A function from passages, whose chunks have their `token_count` as sent,
        to tokens: exact, or, for a counter that is `subadditive`, at least as
        many as there are.
    """
    marked = separator if gap_mark is None else f"{separator}{gap_mark}{separator}"
    known = counter.additive_at_spaces or counter.subadditive
    # What a framework puts around a text stands before the mark, not behind it.
    known = known and (gap_mark is None or sent_text is None)
    joints = {joint: joint_counter(counter, joint) for joint in (separator, marked)}

    def sent(passage: Passage) -> str:
        text = passage.text
        return text if sent_text is None else sent_text(passage.chunks[0], text)

    def tokens(passage: Passage, text: str) -> int:
        first = passage.chunks[0].token_count
        if len(passage.chunks) == 1 and first is not None:
            return first
        return counter(text)

    def count(passages: Sequence[Passage]) -> int:
        if not known:
            texts = marked_texts(passages, gap_mark=gap_mark, separator=separator)
            if sent_text is not None:
                pairs = zip(passages, texts, strict=True)
                texts = [sent_text(p.chunks[0], text) for p, text in pairs]
            return counter(separator.join(texts))
        texts = [sent(passage) for passage in passages]
        total = sum(map(tokens, passages, texts))
        for (before, left), (after, right) in pairwise(
            zip(passages, texts, strict=True)
        ):
            gap = gap_mark is not None and gap_between(before, after)
            total += joints[marked if gap else separator](left, right)
        return total

    return count


def joint_counter(counter: NamedTokenCounter, joint: str) -> Callable[[str, str], int]:
    """A function that says what joining two texts adds to their tokens.

    Args:
        counter: One that is `subadditive` or `additive_at_spaces`.
        joint: What is put between the texts.

    Returns:
        `f(left, right)`: tokens of `left + joint + right` less those of `left`
        and of `right`; for a `subadditive` counter at least that. It may be
        negative.
    """
    spaced = joint[:1].isspace() and joint[-1:].isspace()
    if counter.subadditive and (spaced or not counter.additive_at_spaces):
        tokens = counter(joint)
        return lambda _left, _right: tokens
    # Between a letter or digit, perhaps one mark after it, and a letter or digit,
    # a joint that begins and ends with a line break takes the same tokens whatever
    # the words are: no pattern joins words across line breaks.
    plain = joint.startswith("\n") and joint.endswith("\n")
    seen: dict[str, int] = {}

    def added(left: str, right: str) -> int:
        if plain:
            end = _PLAIN_END.search(left, max(len(left) - 2, 0))
            start = _PLAIN_START.match(right)
            if end and start:
                mark = left[end.start() + 1 :]
                space = start.group()[:-1]
                if mark + "|" + space not in seen:
                    alike = counter(f"a{mark}{joint}{space}b")
                    apart = counter(f"a{mark}") + counter(f"{space}b")
                    seen[mark + "|" + space] = alike - apart
                return seen[mark + "|" + space]
        tail, head = _tail(left), _head(right)
        return counter(tail + joint + head) - counter(tail) - counter(head)

    return added


def _tail(text: str) -> str:
    """The end of a text that is tokenised on its own."""
    for near in (text[-_NEAR:], text):
        place = _LAST_PLACE.search(near)
        if place:
            return near[place.start() :]
    return text


def _head(text: str) -> str:
    """The beginning of a text that is tokenised on its own."""
    place = _FIRST_PLACE.search(text)
    return text[: place.start()] if place else text
