"""Vanilla RAG and DOS RAG (arXiv 2506.03989) as the authors' code runs them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, TypeVar

from oprag.chunk import Span
from oprag.errors import BudgetTooSmallError
from oprag.splitting import punkt_sentence_spans
from oprag.tokens import TokenCounter
from oprag_eval.bench import Bench, query_text
from oprag_eval.data import Document, Question
from oprag_eval.single_call import Reader
from oprag_eval.system import Context, Piece
from oprag_eval.vectors import Matrix, best_first

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
    text: str, sentences: list[tuple[int, int]], chunk_size: int, counter: TokenCounter
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


Ranked = TypeVar("Ranked")

TOKENS_PER_CHUNK = 50
"""Of the budget, for each chunk that may be taken."""
_SEPARATOR = " \n\n"


def fill_officially(
    ranked: Sequence[tuple[Ranked, str]], token_budget: int, counter: TokenCounter
) -> list[Ranked]:
    """Choose chunks as the authors do.

    Of the `token_budget / 50` best (rounded down) those up to the first with which the
    sum of the chunks' own tokens would pass the budget. Text between chunks is
    not counted, so the context may be over the budget; a budget below the best
    chunk's tokens, or below 50, gives none.

    Returns:
        The chosen, best first.

    Source:
        `RAG.retrieve` of github.com/alex-laitenberger/dos-rag-eval and the settings of
        its runs; reproduced from its behaviour, none of its code.
    """
    kept: list[Ranked] = []
    used = 0
    for chosen, text in ranked[: token_budget // TOKENS_PER_CHUNK]:
        used += counter(text)
        if used > token_budget:
            break
        kept.append(chosen)
    return kept


def join_officially(texts: Sequence[str]) -> str:
    """Join chunks as the authors do: line breaks inside a chunk become blanks."""
    return _SEPARATOR.join(text.replace("\n", " ") for text in texts)


@dataclass(frozen=True)
class OfficialRag(Reader):
    """Splits, fills the budget and joins by the authors' rules .

    The prompts are this project's, and the query the question with its options below
    it. Several documents follow one another in the order of the set.
    """

    name: str
    size: int
    order: Literal["document", "score"]

    def settings(self) -> dict[str, Any]:
        """Return the size of chunks and the order."""
        return {"compat": "official", "size": self.size, "order": self.order}

    def context(self, question: Question, budget: int | None, bench: Bench) -> Context:
        """Choose and order."""
        chunks: list[tuple[str, OfficialChunk]] = []
        scores: list[float] = []
        query = bench.vectors.of_query(query_text(question))
        for document in bench.documents(question):
            if found := official_chunks(document, self.size, bench):
                chunks += [(document.doc_id, chunk) for chunk in found]
                vectors = official_vectors(document, self.size, bench)
                scores += (vectors @ query).tolist()
        ranked = [(place, chunks[place][1].text) for place in best_first(scores)]
        kept = official_choice(ranked, budget, bench)
        if self.order == "document":
            kept = sorted(kept)
        text = join_officially([chunks[place][1].text for place in kept])
        pieces = tuple(
            Piece(chunks[place][0], *span)
            for place in kept
            for span in chunks[place][1].spans
        )
        return Context(text, pieces, bench.counter(text))


def official_chunks(document: Document, size: int, bench: Bench) -> list[OfficialChunk]:
    """Return the authors' chunks of a document, which are RAPTOR's leaves too."""
    return bench.kept(
        ("official chunks", size),
        document.doc_id,
        lambda: split_officially(document.text, size, bench.counter),
    )


def official_vectors(document: Document, size: int, bench: Bench) -> Matrix:
    """Return one row per chunk of `official_chunks`, in the same order."""
    return bench.kept(
        ("official vectors", size),
        document.doc_id,
        lambda: bench.vectors.of_texts(
            [chunk.text for chunk in official_chunks(document, size, bench)]
        ),
    )


def official_choice(
    ranked: Sequence[tuple[Ranked, str]], budget: int | None, bench: Bench
) -> list[Ranked]:
    """Choose as `fill_officially` does; without a budget, all."""
    if budget is None:
        return [chosen for chosen, _ in ranked]
    kept = fill_officially(ranked, budget, bench.counter)
    if ranked and not kept:
        raise _nothing_fits(budget, bench.counter(ranked[0][1]))
    return kept


def _nothing_fits(budget: int, tokens: int) -> BudgetTooSmallError:
    needed = max(TOKENS_PER_CHUNK, tokens)
    message = (
        f"token_budget={budget} holds no chunk by the authors' rules, which take one "
        f"for each {TOKENS_PER_CHUNK} tokens of the budget: the best has {tokens}. "
        f"Give a budget of at least {needed}."
    )
    return BudgetTooSmallError(message, token_budget=budget, needed=needed)
