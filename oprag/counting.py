"""Tokens of a finished context, from the counts of its parts where that is exact.

Tokenizers are not additive: `"end."` and two line breaks are one piece to tiktoken,
and may take more or fewer tokens joined than apart. Counting a long context again
takes longer than everything else, so only what stands around each joint is.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import TypeAlias

from oprag.chunk import Chunk, Passage
from oprag.rendering import gap_between, marked_texts
from oprag.space_joints import SPACE_JOINT, last_joint
from oprag.tokens import NamedTokenCounter

__all__ = ["SentText", "context_counter", "joint_counter"]

SentText: TypeAlias = Callable[[Chunk, str], str]
"""The text that the application sends for a chunk: given a passage's first chunk
and the passage's text, that text with whatever the framework puts around it."""

_PLAIN_END = re.compile(r"[0-9A-Za-z][!-/:-@\[-`{-~‘’“”…–—]{0,3}\Z")
_PLAIN_START = re.compile(r" ?[^\s/]")  # o200k takes "/" to line breaks before it


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
    return _Context(counter, separator, gap_mark, sent_text).count


class _Context:
    """What `context_counter` knows of a context."""

    def __init__(
        self,
        counter: NamedTokenCounter,
        separator: str,
        gap_mark: str | None,
        sent_text: SentText | None,
    ) -> None:
        self._counter = counter
        self._separator = separator
        self._gap_mark = gap_mark
        self._sent_text = sent_text
        known = counter.additive_at_spaces or counter.subadditive
        # What a framework puts around a text stands before the mark, not behind it.
        self._known = known and (gap_mark is None or sent_text is None)
        self._joint = joint_counter(counter, separator)
        marked = separator if gap_mark is None else separator + gap_mark + separator
        self._marked = joint_counter(counter, marked)
        self._glued = joint_counter(counter, "")
        # While a budget is being filled, most passages are counted again as they were.
        self._counted: dict[str, int] = {}

    def count(self, passages: Sequence[Passage]) -> int:
        """Count the tokens of passages; see `context_counter`."""
        if not self._known:
            return self._counted_whole(passages)
        texts = [passage.text for passage in passages]
        if self._sent_text is not None:
            texts = list(map(self._sent_text, [p.chunks[0] for p in passages], texts))
        total = sum(map(self._tokens, passages, texts))
        if self._gap_mark is None:
            return total + sum(map(self._joint, texts, texts[1:]))
        for (before, left), (after, right) in pairwise(
            zip(passages, texts, strict=True)
        ):
            joint = self._marked if gap_between(before, after) else self._joint
            total += joint(left, right)
        return total

    def _counted_whole(self, passages: Sequence[Passage]) -> int:
        texts = marked_texts(
            passages, gap_mark=self._gap_mark, separator=self._separator
        )
        if self._sent_text is not None:
            texts = list(map(self._sent_text, [p.chunks[0] for p in passages], texts))
        return self._counter(self._separator.join(texts))

    def _tokens(self, passage: Passage, text: str) -> int:
        chunks = passage.chunks
        if len(chunks) == 1 and chunks[0].token_count is not None:
            return chunks[0].token_count
        if text not in self._counted:
            tokens = self._summed(passage)
            self._counted[text] = self._counter(text) if tokens is None else tokens
        return self._counted[text]

    def _summed(self, passage: Passage) -> int | None:
        """Tokens of a passage from those of its chunks, where these just touch."""
        chunks = passage.chunks
        counts = [chunk.token_count for chunk in chunks]
        if (
            self._sent_text is not None  # then the counts hold what is put around
            or not self._counter.additive_at_spaces
            or not passage.exact
            or any(not _touch(before, after) for before, after in pairwise(chunks))
        ):
            return None
        texts = [chunk.text for chunk in chunks]
        known = [count for count in counts if count is not None]
        glued = sum(map(self._glued, texts, texts[1:]))
        return sum(known) + glued if len(known) == len(counts) else None


def _touch(before: Chunk, after: Chunk) -> bool:
    if before.span is None or after.span is None:
        return False
    return before.span[1] == after.span[0]


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
    additive = None if joint else counter.additive_at
    plain = joint.startswith("\n") and joint.endswith("\n")
    seen: dict[tuple[str, str], int] = {}

    def added(left: str, right: str) -> int:
        if additive and additive.match(left[-1:] + right[:1]):
            return 0
        # Between a letter or digit, perhaps with marks after it, and anything but white
        # space, a joint that begins and ends with a line break takes the same tokens
        # whatever is there: no pattern goes on behind line breaks but these two.
        marks = _marks_at_end(left[-4:]) if plain else None
        space = None if marks is None else _space_at_start(right[:2])
        if marks is None or space is None:
            return exactly(_tail(left), _head(right))
        if (marks, space) not in seen:
            seen[marks, space] = exactly(f"a{marks}", f"{space}b")
        return seen[marks, space]

    def exactly(left: str, right: str) -> int:
        return counter(left + joint + right) - counter(left) - counter(right)

    return added


@lru_cache(maxsize=4096)
def _marks_at_end(end: str) -> str | None:
    """What stands behind the last letter or digit; None where it is not just marks."""
    found = _PLAIN_END.search(end)
    return found and end[found.start() + 1 :]


@lru_cache(maxsize=4096)
def _space_at_start(start: str) -> str | None:
    """What stands before the first character; None where more than a space does."""
    found = _PLAIN_START.match(start)
    return found and found.group()[:-1]


def _tail(text: str) -> str:
    """The end of a text that is tokenised on its own."""
    return text[last_joint(text, 0, len(text)) :]


def _head(text: str) -> str:
    """The beginning of a text that is tokenised on its own."""
    place = SPACE_JOINT.search(text)
    return text[: place.start() + 1] if place else text
