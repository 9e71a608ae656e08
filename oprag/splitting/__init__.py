"""Splitters: chunks that are slices of their text, with exact offsets and counts.

Also the parts, ids and stamps that a chunk carries of its document.
"""

from oprag.splitting.headings import Section, find_headings, find_sections, name_columns
from oprag.splitting.markdown import Heading
from oprag.splitting.parts import (
    Part,
    SourceText,
    group_parts,
    part_numbers,
    parts_named,
)
from oprag.splitting.sentences import punkt_sentence_spans
from oprag.splitting.splitters import (
    OF_SENTENCES,
    SentenceSpans,
    check_splitting,
    split_sentences,
    split_tokens,
)
from oprag.splitting.stamps import (
    Stamp,
    name_callable,
    splitter_settings,
    stamp_chunks,
    texts_in_chunks,
)
from oprag.splitting.windows import TextChunk

__all__ = [
    "OF_SENTENCES",
    "Heading",
    "Part",
    "Section",
    "SentenceSpans",
    "SourceText",
    "Stamp",
    "TextChunk",
    "check_splitting",
    "find_headings",
    "find_sections",
    "group_parts",
    "name_callable",
    "name_columns",
    "part_numbers",
    "parts_named",
    "punkt_sentence_spans",
    "split_sentences",
    "split_tokens",
    "splitter_settings",
    "stamp_chunks",
    "texts_in_chunks",
]
