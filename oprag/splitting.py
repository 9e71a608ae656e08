"""Splitters whose chunks are slices of the text, with exact offsets and counts."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple, TypeAlias

from oprag.errors import InvalidOptionError, InvalidSpanError
from oprag.fitting import GrowingCount, longest_prefix
from oprag.graphemes import boundary_at_or_before
from oprag.sentences import punkt_sentence_spans
from oprag.token_windows import token_windows
from oprag.tokens import NamedTokenCounter, TokenizerSpec, resolve_token_counter

__all__ = ["SentenceSpans", "TextChunk", "split_sentences", "split_tokens"]

SentenceSpans: TypeAlias = Callable[[str], Sequence[tuple[int, int]]]
"""Finds the sentences of a text: spans of characters, end exclusive, ascending."""

_AFTER_CLAUSE = re.compile(r"[;:,]\s+(?=\S)|[；：，、]\s*(?=\S)")
_AFTER_SPACE = re.compile(r"\s+(?=\S)")


class TextChunk(NamedTuple):
    """A chunk of a text: the characters `[start, end)`."""

    start: int
    end: int
    token_count: int
    """Tokens of `text[start:end]` counted alone, as budgets count it."""


def split_tokens(
    text: str,
    *,
    chunk_size: int = 128,
    chunk_overlap: int = 0,
    tokenizer: TokenizerSpec = None,
) -> list[TextChunk]:
    """Cut a text into uniform windows of tokens.

    The text is tokenised once, and every `chunk_size` of its tokens are a window.
    Without overlap the chunks partition the text: the first begins at 0, the last
    ends at `len(text)`, each begins where the one before ends. What no token holds
    (the white space between words, for tokenizers that drop it) belongs to the
    chunk on its left.

    A cut never falls inside a code point, nor inside a grapheme where the package
    `regex` is installed: it moves back to the beginning of the character, or to
    its end where there is nothing else in the window.

    The window has `chunk_size` tokens (the last one fewer) but for cuts that were
    moved. The chunk's `token_count` may differ by a few: a word that is cut in two
    is tokenised otherwise alone.

    Args:
        text: Any text. Empty: no chunks.
        chunk_size: Tokens, at least 1.
        chunk_overlap: Tokens that a window shares with the one before, at least 0
            and below `chunk_size`: windows begin `chunk_size - chunk_overlap`
            tokens apart. The last is the first that reaches the text's end.
        tokenizer: Anything that `resolve_token_counter` takes. A bare callable
            gives no offsets: then each chunk is the longest piece from its start
            on whose own count is at most `chunk_size` (one grapheme at least,
            whatever it counts).

    Returns:
        The chunks in reading order.

    Raises:
        InvalidOptionError: `chunk_size` or `chunk_overlap` is out of range.
        TokenizerError: The tokenizer cannot be used or loaded.
        MissingDependencyError: The tokenizer's package is not installed.

    Source:
        OP-RAG (arXiv 2409.01666), section 3: sequential, uniform, 128 tokens, no
        overlap. There the tokens are the embedding model's.
    """
    _check_sizes(chunk_size, chunk_overlap)
    counter = resolve_token_counter(tokenizer)
    if not text:
        return []
    if counter.tokenizer is None:
        return list(_counted_windows(text, chunk_size, chunk_overlap, counter))
    windows = token_windows(
        text, chunk_size=chunk_size, chunk_overlap=chunk_overlap, counter=counter
    )
    return [TextChunk(*window) for window in windows]


def split_sentences(
    text: str,
    *,
    chunk_size: int = 100,
    tokenizer: TokenizerSpec = None,
    sentence_spans: SentenceSpans | None = None,
) -> list[TextChunk]:
    """Pack whole sentences into chunks of at most `chunk_size` tokens.

    Sentences are taken in order while the chunk's own text, counted alone, stays
    within the limit. The chunks partition the text: what lies between two
    sentences belongs to the one before, and counts with it.

    A sentence that is over the limit by itself is cut: the chunk before it is
    closed, then come its pieces in order, each a chunk by itself that ends, as far
    to the right as fits, after a `;` `:` or `,` and the white space behind it;
    else after white space; else before a token. A single grapheme of more tokens
    than `chunk_size` stays whole, and is the only thing that exceeds the limit.

    Args:
        text: Any text. Empty: no chunks.
        chunk_size: Tokens that a chunk may count, at least 1.
        tokenizer: Anything that `resolve_token_counter` takes.
        sentence_spans: Finds the sentences; None for English Punkt.

    Returns:
        The chunks in reading order.

    Raises:
        InvalidOptionError: `chunk_size` is out of range.
        InvalidSpanError: `sentence_spans` gave a span that is empty or reversed,
            leaves the text, or begins before the one before it ends.
        SentenceDataError: No trained Punkt model is installed.
        TokenizerError: The tokenizer cannot be used or loaded.
        MissingDependencyError: nltk or the tokenizer's package is not installed.

    Source:
        DOS RAG (arXiv 2506.03989): whole sentences, at most 100 tokens of
        cl100k. The authors' code adds up the counts of single sentences, and sends
        out the pieces of a long sentence before the chunk that was open; here the
        limit holds for the chunk's own text and the order is that of the text.
    """
    _check_sizes(chunk_size)
    counter = resolve_token_counter(tokenizer)
    if not text:
        return []
    find = punkt_sentence_spans if sentence_spans is None else sentence_spans
    bounds = _sentence_bounds(find(text), len(text))
    return list(_packed(text, bounds, chunk_size, counter))


def _check_sizes(chunk_size: int, chunk_overlap: int = 0) -> None:
    if chunk_size < 1:
        message = f"chunk_size must be at least 1 token; it is {chunk_size!r}."
        raise InvalidOptionError(message, option="chunk_size", value=chunk_size)
    if not 0 <= chunk_overlap < chunk_size:
        message = (
            f"chunk_overlap must be at least 0 and below chunk_size ({chunk_size}); "
            f"it is {chunk_overlap!r}."
        )
        raise InvalidOptionError(message, option="chunk_overlap", value=chunk_overlap)


def _counted_windows(
    text: str, chunk_size: int, chunk_overlap: int, counter: NamedTokenCounter
) -> Iterator[TextChunk]:
    start = end = guess = 0
    while end < len(text):
        reached = longest_prefix(
            text, start, len(text), chunk_size=chunk_size, counter=counter, guess=guess
        )
        guess = reached - start
        if reached > end:
            end = reached
            yield TextChunk(start, end, counter(text[start:end]))
        if chunk_overlap:
            start = longest_prefix(
                text,
                start,
                reached,
                chunk_size=chunk_size - chunk_overlap,
                counter=counter,
                guess=guess,
            )
        else:
            start = end


def _sentence_bounds(spans: Sequence[tuple[int, int]], length: int) -> list[int]:
    """Where sentences begin, the text's start and end included; checks the spans."""
    reached = 0
    for number, (start, end) in enumerate(spans):
        if not reached <= start < end <= length:
            message = (
                f"Sentence {number} has the span ({start}, {end}), after one that ends "
                f"at {reached}, in a text of {length} characters. sentence_spans must "
                "give spans that are not empty, do not overlap, ascend, and lie "
                "inside the text."
            )
            raise InvalidSpanError(message, document="", start=start, end=end)
        reached = end
    return [0, *(start for start, _ in spans[1:]), length]


def _packed(
    text: str, bounds: Sequence[int], chunk_size: int, counter: NamedTokenCounter
) -> Iterator[TextChunk]:
    opened = end = tokens = 0
    growing = GrowingCount(text, counter, opened)
    for start, stop in pairwise(bounds):
        counted = growing.up_to(stop)
        if counted > chunk_size and opened < start:
            yield TextChunk(opened, start, tokens)
            opened = start
            growing = GrowingCount(text, counter, opened)
            counted = growing.up_to(stop)
        if counted > chunk_size:
            yield from _pieces(text, start, stop, chunk_size, counter)
            opened = stop
            growing = GrowingCount(text, counter, opened)
        tokens = counted
        end = stop
    if opened < end:
        yield TextChunk(opened, end, tokens)


def _pieces(
    text: str, start: int, end: int, chunk_size: int, counter: NamedTokenCounter
) -> Iterator[TextChunk]:
    """A sentence that is over the limit, cut at its best places."""
    guess = 0
    while start < end:
        reach = longest_prefix(
            text, start, end, chunk_size=chunk_size, counter=counter, guess=guess
        )
        guess = reach - start
        cut = (
            reach
            if reach == end
            else _best_cut(text, start, reach, chunk_size, counter)
        )
        yield TextChunk(start, cut, counter(text[start:cut]))
        start = cut


def _best_cut(
    text: str, start: int, reach: int, chunk_size: int, counter: NamedTokenCounter
) -> int:
    for pattern in (_AFTER_CLAUSE, _AFTER_SPACE):
        # One character more, so that the pattern can look at what follows the cut.
        cuts = [match.end() for match in pattern.finditer(text, start, reach + 1)]
        for cut in reversed(cuts):
            # A shorter text may count more, where the cut leaves bare white space.
            if (
                boundary_at_or_before(text, cut, start) == cut
                and counter(text[start:cut]) <= chunk_size
            ):
                return cut
    return reach
