"""Splittings of documents into the chunks that a system searches."""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from oprag.chunk import Hit
from oprag.locating import locate
from oprag.metadata import CHUNK_HASH, chunk_metadata, text_hash
from oprag.splitting import TextChunk, split_sentences, split_tokens
from oprag.tokens import NamedTokenCounter
from oprag_eval.data import Document

SplitUnit: TypeAlias = Literal[
    "tokens", "sentences", "words", "langchain", "llamaindex"
]
"""`"tokens"`: uniform windows (OP-RAG). `"sentences"`: whole sentences up to a number
of tokens (DOS RAG). `"words"`: blank-separated words (Self-Route). `"langchain"`: that
framework's `RecursiveCharacterTextSplitter`, in characters. `"llamaindex"`: its
`SentenceSplitter`, in tokens; both overlap by 200, their default, or by a fifth of a
chunk if that is less."""

_OVERLAP = 200

_WORD = re.compile(r"\S+\s*")


@dataclass(frozen=True)
class Splitting:
    """One way of splitting. Every chunk is a slice of its text."""

    unit: SplitUnit
    """The unit, see `SplitUnit`."""
    size: int
    """Tokens, words or characters of a chunk at most, by the unit."""

    def split(self, text: str, counter: NamedTokenCounter) -> list[TextChunk]:
        """Cut a text.

        Returns:
            The chunks in reading order; together they are the text, but for white
            space that a framework's splitter drops.
        """
        if self.unit == "tokens":
            return split_tokens(text, chunk_size=self.size, tokenizer=counter)
        if self.unit == "sentences":
            return split_sentences(text, chunk_size=self.size, tokenizer=counter)
        if self.unit == "words":
            return _words(text, self.size, counter)
        return _of_framework(self.unit, text, self.size, counter)

    def hits(self, document: Document, counter: NamedTokenCounter) -> list[Hit]:
        """Return a document's chunks, with positions and token counts."""
        text = document.text
        found = self.split(text, counter)
        (written,) = chunk_metadata(document.doc_id, [found], counter.name)
        hits = []
        for (start, end, _), metadata in zip(found, written, strict=True):
            piece = text[start:end]
            hits.append(Hit(piece, {**metadata, CHUNK_HASH: text_hash(piece)}))
        return hits


def _words(text: str, size: int, counter: NamedTokenCounter) -> list[TextChunk]:
    ends = [match.end() for match in _WORD.finditer(text)]
    cuts = [0, *ends[size - 1 : -1 : size], len(text)] if ends else []
    return [
        TextChunk(start, end, counter(text[start:end]))
        for start, end in itertools.pairwise(cuts)
    ]


def _of_framework(
    unit: SplitUnit, text: str, size: int, counter: NamedTokenCounter
) -> list[TextChunk]:
    """Return the framework's own chunks, found again in the text."""
    overlap = min(_OVERLAP, size // 5)
    if unit == "langchain":
        from langchain_text_splitters import RecursiveCharacterTextSplitter

        splitter: Any = RecursiveCharacterTextSplitter(
            chunk_size=size, chunk_overlap=overlap
        )
    else:
        from llama_index.core.node_parser import SentenceSplitter

        splitter = SentenceSplitter(chunk_size=size, chunk_overlap=overlap)
    texts = [chunk for chunk in splitter.split_text(text) if chunk.strip()]
    chunks: list[TextChunk] = []
    begin = -1
    for chunk, location in zip(texts, locate(text, texts), strict=True):
        # If the place is not proved, the same words stand in several places.
        begin = location.span.start if location.span else text.index(chunk, begin + 1)
        end = location.span.end if location.span else begin + len(chunk)
        chunks.append(TextChunk(begin, end, counter(text[begin:end])))
    return chunks
