"""What is compared: a splitting, retrievers, and the options that choose the text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from benchmarks.recall.books import Book
from benchmarks.recall.measuring import Kept
from benchmarks.recall.rankings import Ranked, fused, rank_chunks
from oprag.chunk import Hit, Passage
from oprag.context import ContextOptions, NeighbourSearch, arrange, render
from oprag.retrieving import FetchPlan
from oprag.stores import StoredChunk, chunk_key
from oprag.tokens import NamedTokenCounter, resolve_token_counter

BUDGETS = (1_500, 5_000, 10_000, 20_000, 30_000, 40_000)
_TEXTS = 50_000
"""Texts whose counts are kept."""
_RECALL = {"selection": "recall"}
_RECURSIVE = ("recursive-1000",)
_ONE = ("sentences-128",)
_TWO = ("sentences-64", "sentences-256")
_LLAMA_INDEX = ("llama_index-1024",)


@dataclass(frozen=True)
class Arm:
    """One line of the table."""

    name: str
    splitting: Sequence[str]
    options: Mapping[str, Any] = field(default_factory=dict)
    retrievers: str = "hybrid"
    """`"hybrid"`, `"dense"` or `"bm25"`."""
    widened: bool = False
    """Whether chunks beside those that were found are read from the store
    (`widen="fill"`)."""
    against: Sequence[str] = ()
    """Arms that it is compared with, question by question."""


DEFAULT = "default: recursive chunks, dense, by rank"
_LLAMA_INDEX_DEFAULT = "default: LlamaIndex's 1,024 tokens, dense, by rank"
_FUSED = "whole sentences, fused, by rank"
_RIVALS = (_FUSED, DEFAULT)
ARMS = (
    Arm(DEFAULT, _RECURSIVE, retrievers="dense"),
    Arm(_LLAMA_INDEX_DEFAULT, _LLAMA_INDEX, retrievers="dense"),
    Arm(_FUSED, _ONE),
    Arm("whole sentences, dense, by rank", _ONE, retrievers="dense"),
    Arm("whole sentences, BM25, by rank", _ONE, retrievers="bm25"),
    Arm("two sizes, fused, by rank", _TWO),
    Arm("recursive chunks, fused, by rank", _RECURSIVE),
    Arm("LlamaIndex's 1,024 tokens, fused, by rank", _LLAMA_INDEX),
    Arm("whole sentences, fused, recall", _ONE, _RECALL, against=_RIVALS),
    Arm(
        "whole sentences, dense, recall",
        _ONE,
        _RECALL,
        retrievers="dense",
        against=("whole sentences, dense, by rank", DEFAULT),
    ),
    Arm(
        "whole sentences, BM25, recall",
        _ONE,
        _RECALL,
        retrievers="bm25",
        against=("whole sentences, BM25, by rank",),
    ),
    Arm(
        "two sizes, fused, recall",
        _TWO,
        _RECALL,
        against=(*_RIVALS, "two sizes, fused, by rank"),
    ),
    Arm(
        "recursive chunks, fused, recall",
        _RECURSIVE,
        _RECALL,
        against=(*_RIVALS, "recursive chunks, fused, by rank"),
    ),
    Arm(
        "LlamaIndex's 1,024 tokens, dense, recall",
        _LLAMA_INDEX,
        _RECALL,
        retrievers="dense",
        against=(_LLAMA_INDEX_DEFAULT,),
    ),
    Arm(
        "LlamaIndex's 1,024 tokens, fused, recall",
        _LLAMA_INDEX,
        _RECALL,
        against=(_LLAMA_INDEX_DEFAULT, "LlamaIndex's 1,024 tokens, fused, by rank"),
    ),
    Arm(
        "whole sentences, fused, widened, recall",
        _ONE,
        _RECALL,
        widened=True,
        against=(*_RIVALS, "whole sentences, fused, recall"),
    ),
    Arm(
        "two sizes, fused, widened, recall",
        _TWO,
        _RECALL,
        widened=True,
        against=(*_RIVALS, "two sizes, fused, recall"),
    ),
)


def measure_book(job: tuple[Arm, Book, Path]) -> list[list[Kept]]:
    """Rank and measure one arm on one book; the vectors are in the folder."""
    arm, book, cache = job
    return measure(arm, book, _ranked(book, tuple(arm.splitting), cache), _counter())


@lru_cache(1)
def _counter() -> NamedTokenCounter:
    return remembering(resolve_token_counter("cl100k_base"))


@lru_cache(8)
def _ranked(book: Book, splitting: tuple[str, ...], cache: Path) -> Ranked:
    return rank_chunks(book, splitting, _counter(), cache)


def remembering(counter: NamedTokenCounter) -> NamedTokenCounter:
    """Return a counter that does not count again: many questions bring one text."""
    return replace(counter, count=lru_cache(_TEXTS)(counter.count))


def measure(
    arm: Arm, book: Book, ranked: Ranked, counter: NamedTokenCounter
) -> list[list[Kept]]:
    """What each budget keeps of the evidence of each question."""
    options = ContextOptions.from_options({**arm.options, "token_counter": counter})
    depth = None
    if options.selection == "recall":  # two sizes hold the same text twice
        depth = FetchPlan.to_fill(1, "recall").k * max(1, len(arm.splitting))
    hits = _hits(book, ranked, counter)
    keys = [chunk_key(hit.metadata) for hit in hits]
    chunks = [StoredChunk(hit.text, hit.metadata) for hit in hits]
    stored = {k: chunk for k, chunk in zip(keys, chunks, strict=True) if k}

    def count(passages: Sequence[Passage]) -> int:
        return counter(render(passages, separator=options.separator))

    def found(number: int, depth: int | None) -> list[Hit]:
        return [hits[n] for n in fused(ranked, number, arm.retrievers, depth)]

    rows = []
    for number, question in enumerate(book.questions):
        every = found(number, depth)
        row = []
        for budget in BUDGETS:
            limited = replace(options, token_budget=budget)
            if arm.widened:
                k = FetchPlan.to_fill(budget, "recall", "fill").k
                passages = _widened(found(number, k)[:k], stored, limited)
            else:
                passages = arrange(every, limited).passages
            row.append(Kept.of(book, question, passages, count(passages) / budget))
        rows.append(row)
    return rows


def _widened(
    best: Sequence[Hit],
    stored: Mapping[tuple[str, str, int], StoredChunk],
    options: ContextOptions,
) -> Sequence[Passage]:
    """What is kept of hits and their neighbours, which are read as from a store."""
    widening = NeighbourSearch(best, "fill", options, fills=False)
    asked = widening.requests()
    near = widening.neighbours([stored[key] for key in asked if key in stored])
    read = [Hit(chunk.text, chunk.metadata) for _, chunk in near]
    listed, neighbours = widening.combine(best, read, stored=True)
    arranged = arrange(listed, options, neighbours=neighbours)
    return arranged.passages


def _hits(book: Book, ranked: Ranked, counter: NamedTokenCounter) -> list[Hit]:
    hits: list[Hit] = []
    size = index = 0
    for before, chunk in zip((None, *ranked.chunks), ranked.chunks, strict=False):
        index += 1
        if before is None or chunk.start < before.start:  # the next size begins
            size, index = size + 1, 0
        metadata = {
            "source": book.name,
            "doc_key": book.name,
            "doc_version": f"{size}-text",
            "chunk_index": index,
            "char_start": chunk.start,
            "char_end": chunk.end,
            "token_count": chunk.token_count,
            "token_counter": counter.name,
        }
        hits.append(Hit(book.text[chunk.start : chunk.end], metadata))
    return hits
