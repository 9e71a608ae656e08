"""Vanilla RAG and DOS RAG (arXiv 2506.03989) as the authors' code runs them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from oprag.chunk import Hit, Span
from oprag.errors import BudgetTooSmallError
from oprag.splitting import punkt_sentence_spans
from oprag.tokens import NamedTokenCounter, TokenCounter
from oprag_eval.data import Document
from oprag_eval.splittings import Splitting
from oprag_eval.system import Piece

_CLAUSE_END = re.compile(r"(?<=[,;:])\s")
_WORD = re.compile(r"\S+")


class OfficialChunk(NamedTuple):
    """One chunk: parts of a text, joined by single blanks."""

    text: str
    """Not always a slice of the source."""
    spans: tuple[Span, ...]
    """The parts in the order of the source; together they may be over
    the limit, and other chunks may be between them."""


def split_officially(
    text: str, chunk_size: int, counter: TokenCounter
) -> list[OfficialChunk]:
    """Split a text as the authors do, over-long chunks and lost order included.

    Whole sentences are put together while the sum of their tokens, each counted alone
    with a blank before it, is within the limit. A sentence over the limit is cut
    after every comma, semicolon and colon that white space follows, and its clauses
    go on like sentences. A clause over the limit is cut every `chunk_size` *words*;
    these pieces come out at once, before the chunk that is open.

    Returns:
        The chunks in the order in which they come out. The authors take this for the
        order of the document.

    Source:
        `split_text` of github.com/alex-laitenberger/dos-rag-eval; reproduced from its
        behaviour, none of its code.
    """
    chunks: list[OfficialChunk] = []
    pending: list[Span] = []
    size = 0
    for part in _parts(text, chunk_size, counter):
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
    text: str, chunk_size: int, counter: TokenCounter
) -> Iterator[tuple[Span, int] | list[Span]]:
    """Yield sentences and clauses with their tokens, and lists of words alone."""
    for start, end in punkt_sentence_spans(text):
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


TOKENS_PER_CHUNK = 50
"""Tokens of the budget, for each chunk that may be taken."""
_SEPARATOR = " \n\n"


def fill_officially(
    ranked: Sequence[Hit], token_budget: int, counter: TokenCounter
) -> list[Hit]:
    """Choose chunks as the authors do.

    Candidates are the `token_budget / 50` best (rounded down). They are taken until
    the sum of the chunks' own tokens would pass the budget. Text between chunks is not
    counted, so the context may be over the budget.

    Returns:
        The chosen, best first.

    Raises:
        BudgetTooSmallError: It is below the best chunk's tokens, or below 50.

    Source:
        `RAG.retrieve` of github.com/alex-laitenberger/dos-rag-eval and the settings of
        its runs; reproduced from its behaviour, none of its code.
    """
    kept: list[Hit] = []
    used = 0
    for each in ranked[: token_budget // TOKENS_PER_CHUNK]:
        used += counter(each.text)
        if used > token_budget:
            break
        kept.append(each)
    if ranked and not kept:
        tokens = counter(ranked[0].text)
        needed = max(TOKENS_PER_CHUNK, tokens)
        message = (
            f"token_budget={token_budget} holds no chunk by the authors' rules, which "
            f"take one for each {TOKENS_PER_CHUNK} tokens of the budget: the best has "
            f"{tokens}. Give a budget of at least {needed}."
        )
        raise BudgetTooSmallError(message, token_budget=token_budget, needed=needed)
    return kept


def join_officially(chosen: Sequence[Hit]) -> str:
    """Join chunks as the authors do: line breaks inside a chunk become blanks."""
    return _SEPARATOR.join(each.text.replace("\n", " ") for each in chosen)


class OfficialSplitting(Splitting):
    """The authors' chunks, for the search."""

    def hits(self, document: Document, counter: NamedTokenCounter) -> list[Hit]:
        """Return a document's chunks, each with its number and its spans."""
        found = split_officially(document.text, self.size, counter)
        return [
            Hit(
                chunk.text,
                {"doc_uri": document.doc_id, "number": number, "spans": chunk.spans},
            )
            for number, chunk in enumerate(found)
        ]


def pieces_of(hit: Hit) -> tuple[Piece, ...]:
    """Return the slices of its document that a chunk is of."""
    facts = hit.metadata
    spans = facts.get("spans") or [(facts["char_start"], facts["char_end"])]
    return tuple(Piece(facts["doc_uri"], *span) for span in spans)
