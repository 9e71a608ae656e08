"""Counts of the parts of a text, each counted alone."""

from __future__ import annotations

from oprag.tokens import Ends, NamedTokenCounter, TokenizedText, tokenize


class PartCounts:
    """Counts parts of one text, by their ends if that is proved to give the same.

    Args:
        text: The text.
        counter: Counts it.
    """

    def __init__(self, text: str, counter: NamedTokenCounter) -> None:
        self._text = text
        self._counter = counter
        self._tokenized: TokenizedText | None = None
        if counter.counts_tokens:
            self._tokenized = tokenize(text, counter.tokenizer)

    def count(self, start: int, end: int) -> int:
        """Return the number of tokens of `text[start:end]`, counted alone."""
        ends = self._tokenized and self._tokenized.part_ends(start, end)
        if ends:
            return count_ends(ends, self._counter)
        return self._counter.count_again(self._text[start:end])


def count_ends(ends: Ends, counter: NamedTokenCounter) -> int:
    """Return the number of tokens, counted alone, of a part divided at joints."""
    head, tokens, tail = ends
    if head:
        tokens += counter.count_end(head)
    if tail:
        tokens += counter.count_end(tail)
    return tokens
