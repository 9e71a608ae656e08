"""Tokens of a finished context, from the counts of its parts where that is exact.

Counting a long context again takes longer than everything else, so only what stands
around each joint is; see `joining.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import TypeAlias

from oprag.chunk import Chunk, Passage
from oprag.context.rendering import gap_between, marked_texts
from oprag.tokens import NamedTokenCounter, added_by_joining, joint_counter

SentText: TypeAlias = Callable[[Chunk, str], str]
"""The text that the application sends for a chunk: given a passage's first chunk
and the passage's text, that text with whatever the framework puts around it."""


class ContextCounter:
    """Counts the tokens of passages as they are sent.

    Args:
        counter: The token counter.
        separator: What is put between the texts.
        gap_mark: What is put between passages of one document with a gap.
        sent_text: What is sent for a passage, if not just its text.
    """

    def __init__(
        self,
        counter: NamedTokenCounter,
        *,
        separator: str,
        gap_mark: str | None = None,
        sent_text: SentText | None = None,
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
        """Count the tokens of passages, whose chunks have their `token_count` as sent.

        Returns:
            Exactly as many as there are, or, for a counter that is `subadditive`, at
            least as many.
        """
        if not self._known:
            return self._counted_whole(passages)
        texts = [passage.text for passage in passages]
        if self._sent_text is not None:
            texts = list(map(self._sent_text, [p.chunks[0] for p in passages], texts))
        total = sum(map(self._tokens, passages, texts))
        if self._gap_mark is None:
            return total + self._joint.between(texts)
        following = texts[1:]
        gaps = [gap_between(a, b) for a, b in pairwise(passages)]
        joints = [self._marked if gap else self._joint for gap in gaps]
        known = [
            marked if gap else joined
            for gap, marked, joined in zip(
                gaps,
                self._marked.known(texts, following),
                self._joint.known(texts, following),
                strict=True,
            )
        ]
        return total + added_by_joining(texts, joints, known)

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
        glued = self._glued.between(texts)
        return sum(known) + glued if len(known) == len(counts) else None


def _touch(before: Chunk, after: Chunk) -> bool:
    if before.span is None or after.span is None:
        return False
    return before.span[1] == after.span[0]
