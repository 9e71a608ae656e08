"""What a splitter must do so that its chunks can be put in order and joined again."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import TypeAlias

from oprag.testing.running import expect, expect_none
from oprag.testing.samples import AWKWARD

SplitChunk: TypeAlias = tuple[str, int, int]

_LONG = 16
"""Characters of a long text for each token of the limit: some chunks at least."""


class SplitterSuite(ABC):
    """Tests for a splitter: subclass it, and say how it splits and counts.

    It runs as `StoreSuite` does.
    """

    chunk_size: int
    """Tokens that a chunk may have, from 32 on: one emoji of the texts is 25 bytes,
    and so many tokens at worst."""
    drops_white_space: bool = False
    """Whether white space may be in no chunk. All else must be in one."""

    @abstractmethod
    def split(self, text: str) -> Sequence[SplitChunk]:
        """Return the text, the first character and the end of each chunk, in order."""

    @abstractmethod
    def count(self, text: str) -> int:
        """Return how many tokens a text has, as the splitter counts them."""

    def test_chunks_are_slices_of_the_text(self) -> None:
        """Each stands in the text where it says."""
        for text, chunks in self._split():
            expect_none(
                [c for c in chunks if not c[0] or c[0] != text[c[1] : c[2]]],
                "A chunk is not the slice of its text from its start to its end",
                "Cut texts by their offsets; do not strip, join or normalise chunks, "
                "and do not look for them in the text afterwards.",
            )

    def test_no_chunk_is_over_the_limit(self) -> None:
        """Each counts at most `chunk_size` tokens by itself."""
        for _, chunks in self._split():
            expect_none(
                [c for c in chunks if self.count(c[0]) > self.chunk_size],
                f"A chunk has more than {self.chunk_size} tokens",
                "Count the chunk's own text: that of its parts may add up to less.",
            )

    def test_no_character_is_lost(self) -> None:
        """Each is in a chunk; white space too, unless `drops_white_space`."""
        for text, chunks in self._split():
            gaps, reached = [], 0
            for start, end in sorted([c[1:] for c in chunks] + [(len(text), 0)]):
                gaps.append(text[reached:start])
                reached = max(reached, end)
            expect_none(
                [g for g in gaps if (g.strip() if self.drops_white_space else g)],
                "No chunk holds some characters of a text",
                "Let each chunk begin where the one before ends, or before that.",
            )

    def test_chunks_come_in_reading_order(self) -> None:
        """Each begins and ends behind the one before, and none is inside another."""
        for _, chunks in self._split():
            expect_none(
                [b for a, b in pairwise(chunks) if a[1] >= b[1] or a[2] >= b[2]],
                "A chunk does not begin and end behind the one before it",
                "Return the chunks in the order of the text.",
            )

    def test_the_same_text_gives_the_same_chunks(self) -> None:
        """Indexing again changes nothing."""
        for (_, first), (_, second) in zip(self._split(), self._split(), strict=True):
            expect(
                list(first) == list(second),
                "The same text was split in two ways. Let nothing but the text and "
                "the settings decide: no set, no random number, no clock.",
            )

    def test_an_empty_text_has_no_chunks(self) -> None:
        """And does not fail."""
        expect_none(self.split(""), "An empty text has a chunk", "Return none.")

    def _split(self) -> Iterator[tuple[str, Sequence[SplitChunk]]]:
        length = _LONG * self.chunk_size
        long = [(piece * length)[:length] for piece in (_PROSE, "word", "字")]
        for text in (*_TEXTS, *long):
            yield text, self.split(text)


_PROSE = (
    "Mr. Smith met Dr. Jones at 5 p.m. in Rome. It rained; nobody minded.\n\n"
    "The same line twice.\r\nThe same line twice.\r\n"
    "They left on Jan. 5, without a word to anyone.  "
)
_TEXTS = (
    AWKWARD,
    _PROSE,
    " \n\t ",
    "\n\n  A text with white space at both ends.  \r\n",
    "No full stop",
    "e\u0301" * 40,
    "👨‍👩‍👧‍👦" * 20,
)
