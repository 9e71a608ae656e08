"""What is compared: a splitting, retrievers, and the options that choose the text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.recall.books import Book
from benchmarks.recall.measuring import Kept, evidence_kept
from benchmarks.recall.rankings import Ranked, Scores, fused, rank_chunks
from oprag.chunk import Hit
from oprag.context import ContextOptions, Widening, arrange, candidates_for
from oprag.context.assembly import prepared_chunks
from oprag.context.budgeting import BudgetFiller, finish
from oprag.documents import StoredChunk
from oprag.tokens import NamedTokenCounter, resolve_token_counter

BUDGETS = (1_500, 5_000, 10_000, 20_000, 30_000, 40_000)
_TEXTS = 50_000
"""Texts whose counts are kept."""
_UNIFORM = ("uniform-128",)
_SENTENCES = ("sentences-128",)
_TWO_SIZES = ("sentences-64", "sentences-128")


@dataclass(frozen=True)
class Arm:
    """One line of the table."""

    name: str
    splitting: Sequence[str]
    options: Mapping[str, Any] = field(default_factory=dict)
    dense_only: bool = False
    full_texts: bool = False
    """Whether `documents=` is given."""
    borrows: bool = False
    """The first try: half of the better neighbour's score before fusing."""
    fills: int | None = None
    """Hits of each retriever, and of both together, that are widened until the budget
    is full (`widen="fill"`); None for `candidates_for` without their neighbours."""
    counts: str = "context"
    """`"chunks"`: separators do not count, as in the reference measurement."""


ARMS = (
    Arm("uniform, separators not counted", _UNIFORM, counts="chunks"),
    Arm("whole sentences, separators not counted", _SENTENCES, counts="chunks"),
    Arm(
        "whole sentences, neighbours' scores before fusing, separators not counted",
        _SENTENCES,
        counts="chunks",
        borrows=True,
    ),
    Arm("uniform, budget", _UNIFORM),
    Arm("whole sentences, budget", _SENTENCES),
    Arm("whole sentences, segments", _SENTENCES, {"selection": "segments"}),
    Arm("whole sentences, recall", _SENTENCES, {"selection": "recall"}),
    Arm("whole sentences, budget, 20 hits and neighbours", _SENTENCES, fills=20),
    Arm(
        "whole sentences, recall, 20 hits and neighbours",
        _SENTENCES,
        {"selection": "recall"},
        fills=20,
    ),
    Arm(
        "whole sentences, recall, 40 hits and neighbours",
        _SENTENCES,
        {"selection": "recall"},
        fills=40,
    ),
    Arm("two sizes, budget", _TWO_SIZES, {"merge": True}),
    Arm(
        "two sizes, dense only, recall",
        _TWO_SIZES,
        {"selection": "recall"},
        dense_only=True,
    ),
    Arm("two sizes, recall", _TWO_SIZES, {"selection": "recall"}),
)


def measure_book(job: tuple[Arm, Book, Path]) -> list[list[Kept]]:
    """Rank and measure one arm on one book; the vectors are in the folder."""
    arm, book, cache = job
    counter = remembering(resolve_token_counter("cl100k_base"))
    return measure(arm, book, rank_chunks(book, arm.splitting, counter, cache), counter)


def remembering(counter: NamedTokenCounter) -> NamedTokenCounter:
    """Return a counter that does not count again: many questions bring one text."""
    return replace(counter, count=lru_cache(_TEXTS)(counter.count))


def measure(
    arm: Arm, book: Book, ranked: Ranked, counter: NamedTokenCounter
) -> list[list[Kept]]:
    """What each budget keeps of the evidence of each question."""
    options = ContextOptions.from_options(
        {
            **arm.options,
            "token_counter": counter,
            "documents": {book.name: book.text} if arm.full_texts else None,
        }
    )
    depth = arm.fills or candidates_for(options.selection)
    if depth is not None and not arm.fills:  # two sizes hold the same text twice
        depth *= max(1, len(arm.splitting))
    hits = [_hit(book, chunk, counter) for chunk in ranked.chunks]
    if arm.fills:  # chunks of one size, in order
        numbers = {"doc_key": book.name, "n_chunks": len(hits)}
        hits = [
            hit._replace(metadata={**hit.metadata, **numbers, "chunk_index": index})
            for index, hit in enumerate(hits)
        ]
    rows = []
    for number, question in enumerate(book.questions):
        scores = [s[number] for s in (ranked.dense, ranked.sparse)][
            : 2 - arm.dense_only
        ]
        if arm.borrows:
            scores = [_with_neighbours(column) for column in scores]
        best_first = [hits[n] for n in fused(scores, ranked, depth)]
        if arm.fills:
            best = best_first[: arm.fills]
            spans = [_widened(best, hits, options, budget) for budget in BUDGETS]
        else:
            spans = _spans(arm, best_first, options)
        rows.append([evidence_kept(question, each) for each in spans])
    return rows


def _spans(
    arm: Arm, hits: Sequence[Hit], options: ContextOptions
) -> list[list[tuple[int, int]]]:
    """What each budget keeps: by the same steps as `oprag.context.arrange`."""
    if arm.counts == "chunks":
        return [_plain(hits, budget) for budget in BUDGETS]
    filler = BudgetFiller(options)
    chunks = prepared_chunks(hits, options)
    listed = filler.listed(chunks, BUDGETS[0])
    kept = []
    for budget in BUDGETS:
        if options.selection == "segments":
            listed = filler.listed(chunks, budget)
        passages = finish(filler.taken(listed, budget), options).passages()
        kept.append([(s.start, s.end) for passage in passages for s in passage.spans])
    return kept


def _widened(
    best: Sequence[Hit], hits: Sequence[Hit], options: ContextOptions, budget: int
) -> list[tuple[int, int]]:
    """What is kept of hits and their neighbours, which are read as from a store."""
    options = replace(options, token_budget=budget)
    widening = Widening(best, "fill", options, fills=False)
    stored = [
        StoredChunk(hits[index].text, hits[index].metadata)
        for _, _, index in widening.requests()
    ]
    near = widening.neighbours(stored)
    arranged = arrange(
        [*best, *(Hit(each.chunk.text, each.chunk.metadata) for each in near)],
        options,
        neighbours=widening.behind([each.hit for each in near], stored=True),
    )
    return [(s.start, s.end) for p in arranged.passages() for s in p.spans]


def _plain(hits: Sequence[Hit], budget: int) -> list[tuple[int, int]]:
    spans = []
    for hit in hits:
        budget -= hit.metadata["token_count"]
        if budget < 0:
            break
        spans.append((hit.metadata["char_start"], hit.metadata["char_end"]))
    return spans


def _hit(book: Book, chunk: Any, counter: NamedTokenCounter) -> Hit:
    metadata = {
        "source": book.name,
        "char_start": chunk.start,
        "char_end": chunk.end,
        "token_count": chunk.token_count,
        "token_counter": counter.name,
    }
    return Hit(book.text[chunk.start : chunk.end], metadata)


def _with_neighbours(scores: Scores) -> Scores:
    before = np.concatenate([scores[:1], scores[:-1]])
    after = np.concatenate([scores[1:], scores[-1:]])
    borrowed: Scores = scores + 0.5 * np.maximum(before, after)
    return borrowed
