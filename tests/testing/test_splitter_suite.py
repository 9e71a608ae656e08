"""Each fault of a splitter fails the test that is named for it; ours fail none."""

from __future__ import annotations

import pytest

from oprag.splitting import split_sentences, split_tokens
from oprag.testing import SplitterSuite, failures
from oprag.tokens import resolve_token_counter
from tests.testing import splitters
from tests.testing.splitters import SoundLines, SoundSplitter

FAULTS = {
    splitters.DropsLineEnds: ["no_character_is_lost"],
    splitters.Strips: ["chunks_are_slices_of_the_text"],
    splitters.LooksForItsChunks: [
        "chunks_come_in_reading_order",
        "no_character_is_lost",
    ],
    splitters.AddsUp: ["no_chunk_is_over_the_limit"],
    splitters.LosesTheLast: ["no_character_is_lost"],
    splitters.BestFirst: ["chunks_come_in_reading_order"],
    splitters.Drifts: ["the_same_text_gives_the_same_chunks"],
    splitters.GivesAnEmptyChunk: ["an_empty_text_has_no_chunks"],
}
"""The tests that fail, first the one whose name says what is wrong."""


@pytest.mark.parametrize("kind", [SoundSplitter, SoundLines])
def test_a_sound_splitter_passes_without_pytest(kind):
    assert failures(kind) == {}


@pytest.mark.parametrize("kind", FAULTS, ids=lambda kind: kind.__name__)
def test_a_fault_fails_the_tests_that_name_it(kind):
    assert set(failures(kind)) == {f"test_{name}" for name in FAULTS[kind]}


class OursByTokens(SplitterSuite):
    """In plain Python, as the classes below."""

    chunk_size = 32
    count = staticmethod(resolve_token_counter("cl100k_base"))

    def spans(self, text):
        return split_tokens(text, chunk_size=32, chunk_overlap=8)

    def split(self, text):
        return [(text[c.start : c.end], c.start, c.end) for c in self.spans(text)]


class TestSplitTokens(OursByTokens):
    """Windows that overlap."""


class TestSplitSentences(OursByTokens):
    """Whole sentences."""

    def spans(self, text):
        return split_sentences(text, chunk_size=32)
