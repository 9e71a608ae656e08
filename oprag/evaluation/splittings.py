"""How a document is cut into the chunks that a system searches."""

from __future__ import annotations

import itertools
import re
from dataclasses import asdict, dataclass
from typing import Any, Literal, TypeAlias

from oprag.splitting import TextChunk, split_sentences, split_tokens
from oprag.tokens import NamedTokenCounter

SplitUnit: TypeAlias = Literal["tokens", "sentences", "words"]
"""`"tokens"`: uniform windows (OP-RAG). `"sentences"`: whole sentences up to a number
of tokens (DOS RAG). `"words"`: blank-separated words (Self-Route)."""

_WORD = re.compile(r"\S+\s*")


@dataclass(frozen=True)
class Splitting:
    """One way of splitting. Every chunk is a slice of its text."""

    unit: SplitUnit
    """See there."""
    size: int
    """Tokens, or words, of a chunk at most."""

    def split(self, text: str, counter: NamedTokenCounter) -> list[TextChunk]:
        """Cut a text.

        Returns:
            The chunks in reading order; together they are the text.
        """
        if self.unit == "tokens":
            return split_tokens(text, chunk_size=self.size, tokenizer=counter)
        if self.unit == "sentences":
            return split_sentences(text, chunk_size=self.size, tokenizer=counter)
        return _words(text, self.size, counter)

    def settings(self) -> dict[str, Any]:
        """Return it as plain JSON values."""
        return asdict(self)


def _words(text: str, size: int, counter: NamedTokenCounter) -> list[TextChunk]:
    ends = [match.end() for match in _WORD.finditer(text)]
    cuts = [0, *ends[size - 1 : -1 : size], len(text)] if ends else []
    return [
        TextChunk(start, end, counter(text[start:end]))
        for start, end in itertools.pairwise(cuts)
    ]
