"""Splitters whose chunks are slices of the text, with exact offsets and counts."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from operator import index
from typing import Any, TypeAlias

from oprag.errors import (
    InvalidOptionError,
    PositionError,
    describe_type,
    invalid_option,
)
from oprag.splitting.part_counts import PartCounts
from oprag.splitting.rows import find_rows
from oprag.splitting.sentences import punkt_sentence_spans
from oprag.splitting.token_fit import boundary_at_or_before, longest_prefix
from oprag.splitting.windows import TextChunk, token_windows
from oprag.tokens import NamedTokenCounter, TokenizerSpec, resolve_token_counter

SentenceSpans: TypeAlias = Callable[[str], Sequence[tuple[int, int]]]
"""Finds the sentences of a text: spans of characters, end exclusive, ascending."""

OF_SENTENCES = {"chunk_overlap": "Sentences do not overlap: leave it out."}
"""Advice for options that only other splitters have."""

_AFTER_LINE = re.compile(r"\n\s*(?=\S)")
_AFTER_CLAUSE = re.compile(r"[;:,]\s+(?=\S)|[；：，、]\s*(?=\S)")
_AFTER_SPACE = re.compile(r"(?<=\s)(?=\S)")  # once for a run of white space
_CUTS = (_AFTER_LINE, _AFTER_CLAUSE, _AFTER_SPACE)
"""Places at which a sentence that is too long is cut, the best first."""


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
    ends at `len(text)`, each begins where the one before ends. White space that no
    token holds (some tokenizers drop it) belongs to the chunk on its left.

    No cut falls inside a character, nor inside a grapheme (an emoji, a letter with
    its accents) if the package `regex` is installed. A cut that would is moved back
    to the grapheme's beginning, or to its end if nothing else is in the window.

    No chunk counts more than `chunk_size` tokens alone, unless it is one single
    grapheme. A part of a word may count more alone than within the text: such a
    window ends earlier, and the next ones are counted from there.

    Args:
        text: Any text. Empty: no chunks.
        chunk_size: Tokens, at least 1.
        chunk_overlap: Tokens that a window shares with the one before, at least 0
            and below `chunk_size`: windows begin `chunk_size - chunk_overlap`
            tokens apart. The last is the first that reaches the text's end.
        tokenizer: Anything that `resolve_token_counter` takes; None for cl100k. A
            bare callable, or an estimate, gives no offsets: then each chunk is the
            longest piece from its start on whose own count is at most `chunk_size`
            (one grapheme at least, whatever it counts).

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
    check_splitting(chunk_size, chunk_overlap)
    _check_text(text)
    counter = resolve_token_counter(tokenizer)
    if not text:
        return []
    if counter.tokenizer is None:
        return list(_count_windows(text, chunk_size, chunk_overlap, counter))
    return token_windows(
        text, chunk_size=chunk_size, chunk_overlap=chunk_overlap, counter=counter
    )


def split_sentences(
    text: str,
    *,
    chunk_size: int = 100,
    tokenizer: TokenizerSpec = None,
    sentence_spans: SentenceSpans | None = None,
) -> list[TextChunk]:
    """Pack whole sentences into chunks of at most `chunk_size` tokens.

    Sentences are taken in order while the chunk's own text, counted alone, stays
    within the limit. The chunks partition the text: the text between two sentences
    belongs to the one before, and counts with it.

    A sentence that is over the limit by itself is cut. The chunk before it is closed,
    then come its pieces in order, each a chunk by itself. A piece ends, as far to the
    right as fits, at the end of a line, else after a `;` `:` or `,` and the white space
    after it, else after white space, else between graphemes. A single grapheme of more
    tokens than `chunk_size` stays whole, and is the only thing that exceeds the limit.

    Args:
        text: Any text. Empty: no chunks.
        chunk_size: Tokens that a chunk may count, at least 1.
        tokenizer: Anything that `resolve_token_counter` takes; None for cl100k.
        sentence_spans: Finds the sentences; None for English Punkt, and each row of a
            table as one sentence.

    Returns:
        The chunks in reading order.

    Raises:
        InvalidOptionError: `chunk_size` is out of range; `sentence_spans` gives none.
        PositionError: `sentence_spans` gave a span that is empty or reversed,
            leaves the text, or begins before the one before it ends.
        TokenizerError: The tokenizer cannot be used or loaded.
        MissingDependencyError: The tokenizer's package is not installed.

    Source:
        DOS RAG (arXiv 2506.03989): whole sentences, at most 100 tokens of
        cl100k. The authors' code adds up the counts of single sentences, and sends
        out the pieces of a long sentence before the chunk that was open; here the
        limit holds for the chunk's own text and the order is that of the text.
    """
    check_splitting(chunk_size, sentence_spans=sentence_spans)
    _check_text(text)
    counter = resolve_token_counter(tokenizer)
    if not text:
        return []
    find = punkt_sentence_spans if sentence_spans is None else sentence_spans
    found: Any = find(text)
    try:
        spans = [(index(start), index(end)) for start, end in found]
    except (TypeError, ValueError) as error:
        takes = "It takes a function that gives spans of its text: [(0, 12), (13, 40)]."
        raise invalid_option("sentence_spans", sentence_spans, takes) from error
    bounds: Sequence[int] = _sentence_bounds(spans, len(text))
    if sentence_spans is None:
        bounds = _keep_rows_whole(bounds, find_rows(text))
    return list(_pack(text, bounds, chunk_size, counter))


def _check_text(text: Any) -> None:
    if not isinstance(text, str):
        found = describe_type(text)
        message = f"What is to be split is {found}. It takes one text, as a str."
        raise InvalidOptionError(message, option="text", value=text)


def check_splitting(
    chunk_size: int, chunk_overlap: int = 0, sentence_spans: Any = None
) -> None:
    """Refuse sizes, and finders of sentences, that cannot be used."""
    if type(chunk_size) is not int or chunk_size < 1:
        takes = "It takes a whole number of tokens from 1 on."
        raise invalid_option("chunk_size", chunk_size, takes)
    if type(chunk_overlap) is not int or not 0 <= chunk_overlap < chunk_size:
        takes = f"It takes a whole number of tokens from 0 to {chunk_size - 1}, less "
        takes += f"than chunk_size={chunk_size}."
        raise invalid_option("chunk_overlap", chunk_overlap, takes)
    if sentence_spans is not None and not callable(sentence_spans):
        takes = "It takes a function from a text to the spans of its sentences."
        raise invalid_option("sentence_spans", sentence_spans, takes)


def _count_windows(
    text: str, chunk_size: int, chunk_overlap: int, counter: NamedTokenCounter
) -> Iterator[TextChunk]:
    def count(start: int, end: int) -> int:
        return counter.count_again(text[start:end])

    start = end = guess = 0
    while end < len(text):
        reached = longest_prefix(
            text, start, len(text), chunk_size=chunk_size, count=count, guess=guess
        )
        guess = reached - start
        if reached > end:
            end = reached
            yield TextChunk(start, end, count(start, end))
        if chunk_overlap:
            start = longest_prefix(
                text,
                start,
                reached,
                chunk_size=chunk_size - chunk_overlap,
                count=count,
                guess=guess,
            )
        else:
            start = end


def _sentence_bounds(spans: Sequence[tuple[int, int]], length: int) -> list[int]:
    """Return the starts of sentences, and the text's start and end; check the spans."""
    reached = 0
    for number, (start, end) in enumerate(spans):
        if not reached <= start < end <= length:
            message = (
                f"Sentence {number} has the span ({start}, {end}), after one that ends "
                f"at {reached}, in a text of {length} characters. sentence_spans must "
                "give spans that are not empty, do not overlap, ascend, and lie "
                "inside the text."
            )
            raise PositionError(
                message, kind="invalid_span", document="", start=start, end=end
            )
        reached = end
    return [0, *(start for start, _ in spans[1:]), length]


def _keep_rows_whole(
    bounds: Sequence[int], rows: Sequence[tuple[int, int]]
) -> Sequence[int]:
    """Return the bounds of sentences and of rows, none of them inside a row."""
    if not rows:
        return bounds
    edges = {edge for row in rows for edge in row}
    starts = [start for start, _ in rows]
    apart = []
    for bound in bounds:
        at = bisect_right(starts, bound) - 1
        if at < 0 or bound >= rows[at][1]:
            apart.append(bound)
    return sorted({*apart, *edges, bounds[0], bounds[-1]})


def _pack(
    text: str, bounds: Sequence[int], chunk_size: int, counter: NamedTokenCounter
) -> Iterator[TextChunk]:
    first, n_sentences = 0, len(bounds) - 1
    parts = PartCounts(text, counter)
    while first < n_sentences:
        start, last, tokens = bounds[first], first, 0
        while last < n_sentences:
            more = parts.count(start, bounds[last + 1])
            if more > chunk_size:
                break
            last, tokens = last + 1, more
        if last > first:
            yield TextChunk(start, bounds[last], tokens)
        else:
            last = first + 1
            # A sentence that is over the limit, cut at its best places.
            while start < bounds[last]:
                piece = _piece(text, start, bounds[last], chunk_size, parts.count)
                yield piece
                start = piece.end
        first = last


def _piece(
    text: str, start: int, end: int, chunk_size: int, count: Callable[[int, int], int]
) -> TextChunk:
    """Return the first piece of the rest of a sentence that is too long."""
    reach = longest_prefix(text, start, end, chunk_size=chunk_size, count=count)
    for pattern in _CUTS if reach < end else ():
        # One character more, so that the pattern can look at the text after the cut.
        ends = (match.end() for match in pattern.finditer(text, start, reach + 1))
        cuts = [end for end in ends if end > start]
        for cut in reversed(cuts):
            if boundary_at_or_before(text, cut, start) == cut:
                tokens = count(start, cut)
                # A shorter text may count more, if it ends with bare white space.
                if tokens <= chunk_size:
                    return TextChunk(start, cut, tokens)
    return TextChunk(start, reach, count(start, reach))
