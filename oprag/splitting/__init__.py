"""Splitters: chunks that are slices of their text, with exact offsets and counts."""

from oprag.splitting.sentences import punkt_sentence_spans
from oprag.splitting.splitters import (
    OF_SENTENCES,
    SentenceSpans,
    check_splitting,
    split_sentences,
    split_tokens,
)
from oprag.splitting.windows import TextChunk

__all__ = [
    "OF_SENTENCES",
    "SentenceSpans",
    "TextChunk",
    "check_splitting",
    "punkt_sentence_spans",
    "split_sentences",
    "split_tokens",
]
