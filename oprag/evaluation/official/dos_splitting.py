"""How the code of the DOS RAG paper (arXiv 2506.03989) splits a document."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from oprag.chunk import Span
from oprag.splitting import punkt_sentence_spans
from oprag.tokens import TokenCounter

_CLAUSE_END = re.compile(r"(?<=[,;:])\s")
_WORD = re.compile(r"\S+")


class OfficialChunk(NamedTuple):
    """One chunk: parts of a text, joined by single blanks."""

    text: str
    """Not always a slice of the source."""
    spans: tuple[Span, ...]
    """The parts as they stand in the source, ascending; together they may be over
    the limit, and other chunks may stand between them."""


def split_officially(
    text: str,
    chunk_size: int,
    counter: TokenCounter,
    *,
    sentence_spans: Callable[[str], list[tuple[int, int]]] = punkt_sentence_spans,
) -> list[OfficialChunk]:
    """Split a text as the authors do, over-long chunks and lost order included.

    Whole sentences are put together while the sum of their tokens, each counted alone
    with a blank before it, is within the limit. A sentence over the limit is cut
    behind every comma, semicolon and colon that white space follows, and its clauses
    go on like sentences. A clause over the limit is cut every `chunk_size` *words*;
    these pieces come out at once, before the chunk that is open.

    Args:
        text: Any text.
        chunk_size: Tokens, and words of such a piece.
        counter: Counts tokens; the authors' is cl100k.
        sentence_spans: Finds the sentences.

    Returns:
        The chunks in the order in which they come out, which is what the authors take
        for the order of the document.

    Source:
        `split_text` of github.com/alex-laitenberger/dos-rag-eval; reproduced from its
        behaviour, none of its code.
    """
    chunks: list[OfficialChunk] = []
    pending: list[Span] = []
    size = 0
    for part in _parts(text, sentence_spans(text), chunk_size, counter):
        if isinstance(part, list):
            chunks.append(_chunk(text, part))
            continue
        span, tokens = part
        if size + tokens > chunk_size and pending:
            chunks.append(_chunk(text, pending))
            pending = []
        if not pending:
            size = 0
        pending.append(span)
        size += tokens
    if pending:
        chunks.append(_chunk(text, pending))
    return chunks


def _parts(
    text: str,
    sentences: list[tuple[int, int]],
    chunk_size: int,
    counter: TokenCounter,
) -> Iterator[tuple[Span, int] | list[Span]]:
    """Yield sentences and clauses with their tokens, lists of words as they are."""
    for start, end in sentences:
        tokens = counter(" " + text[start:end])
        if tokens <= chunk_size:
            yield Span(start, end), tokens
            continue
        for clause in _clauses(text, start, end):
            tokens = counter(" " + text[slice(*clause)])
            if tokens <= chunk_size:
                yield clause, tokens
                continue
            words = [Span(*match.span()) for match in _WORD.finditer(text, *clause)]
            for first in range(0, len(words), chunk_size):
                yield words[first : first + chunk_size]


def _clauses(text: str, start: int, end: int) -> Iterator[Span]:
    sentence = text[start:end]
    begin = 0
    for match in _CLAUSE_END.finditer(sentence):
        yield Span(start + begin, start + match.start())
        begin = match.end()
    yield Span(start + begin, end)


def _chunk(text: str, parts: list[Span]) -> OfficialChunk:
    joined = " ".join(text[slice(*part)] for part in parts)
    return OfficialChunk(joined, tuple(_runs(text, parts)))


def _runs(text: str, parts: list[Span]) -> Iterator[Span]:
    """Join parts between which there is nothing but white space."""
    run = parts[0]
    for part in parts[1:]:
        if text[run.end : part.start].strip():
            yield run
            run = part
        else:
            run = Span(run.start, part.end)
    yield run
