"""The usual case at a fifth of the time: chunks that oprag's own splitters made.

Where all chunks have oprag's own keys, none overlaps another, and the budget is
filled by rank, what `assemble` does comes down to a few columns of numbers. No chunk
or passage is built for that. Wherever anything is otherwise the answer is None, and
`assemble` takes over: it alone says what is right, and the tests hold this to it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from operator import sub
from typing import Any, NamedTuple

from oprag.chunk import Chunk, Passage, Span
from oprag.counting import joint_counter
from oprag.metadata import (
    CHAR_END,
    CHAR_SPANS,
    CHAR_START,
    DOC_KEY,
    DOC_URI,
    PART_INDEX,
    TOKEN_COUNT,
    TOKEN_COUNTER,
)
from oprag.options import ContextOptions
from oprag.tokens import NamedTokenCounter, resolve_token_counter

__all__ = ["PlainCase", "plain_case", "plain_passage"]


class PlainCase(NamedTuple):
    """Chunks in reading order, by their ranks."""

    runs: list[list[int]]
    """Ranks of what goes into one passage: a single one unless chunks are merged."""
    used_all: bool
    """As in `Assembled`."""


def plain_case(
    texts: Sequence[str],
    metadatas: Sequence[Mapping[str, Any]],
    options: ContextOptions,
) -> PlainCase | None:
    """Select and order chunks as `assemble` does, if this is the usual case.

    Args:
        texts: Best first, as they are sent.
        metadatas: One mapping per text.
        options: See `ContextOptions`.

    Returns:
        What `assemble` would choose, in its order; None where it has to be asked.
    """
    plain = texts and _plain_options(options)
    order = _reading_order(texts, metadatas) if plain else None
    if order is None:
        return None
    kept = len(texts) if options.top_n is None else min(options.top_n, len(texts))
    if options.token_budget is None:
        runs = _runs(metadatas, order, kept, options)
        return PlainCase(runs, kept == len(texts)) if runs else None
    counter = resolve_token_counter(options.token_counter)
    counts = _stored_counts(metadatas[:kept], counter)
    if counts is None:
        return None
    kept = _fitting(counts, options.token_budget, counter(options.separator))
    runs = _runs(metadatas, order, kept, options)
    if not runs:
        return None
    needed = sum(counts[:kept]) + _joints(texts, runs, counter, options.separator)
    if needed > options.token_budget:
        return None
    return PlainCase(runs, kept == len(texts))


def plain_passage(
    run: Sequence[int],
    texts: Sequence[str],
    metadatas: Sequence[Mapping[str, Any]],
    sources: Sequence[Any],
) -> Passage:
    """Make the passage of a run of chunks that touch, as `assemble` does.

    But for their tokens, which are not set.

    Args:
        run: Ranks in reading order.
        texts: As given to `plain_case`.
        metadatas: Likewise.
        sources: The framework's objects.
    """
    chunks = []
    for rank in run:
        metadata = metadatas[rank]
        document = metadata[DOC_KEY]
        span = Span(metadata[CHAR_START], metadata[CHAR_END])
        name = metadata.get(DOC_URI) or document
        place = (document, rank, (0, *span), span, None, None, None, name)
        chunks.append(Chunk(texts[rank], *place, metadata, sources[rank]))
    whole = Span(metadatas[run[0]][CHAR_START], metadatas[run[-1]][CHAR_END])
    text = "".join([texts[rank] for rank in run])
    document = metadatas[run[0]][DOC_KEY]
    return Passage(text, document, tuple(chunks), (whole,), exact=True)


def _plain_options(options: ContextOptions) -> bool:
    return (
        options.selection in {"budget", "top_k"}
        and options.overflow == "stop"
        and options.order == "document"
        and options.document_order == "best_rank"
        and options.gap_mark is None
        and options.position_keys is None
        and options.document_key is None
        and options.documents is None
    )


def _reading_order(
    texts: Sequence[str], metadatas: Sequence[Mapping[str, Any]]
) -> list[int] | None:
    """Ranks in reading order, if nothing about the places is doubtful."""
    columns: list[list[Any]] = [
        [metadata.get(key) for metadata in metadatas]
        for key in (DOC_KEY, CHAR_START, CHAR_END)
    ]
    documents, starts, ends = columns
    if (
        set(map(type, documents)) != {str}
        or {*map(type, starts), *map(type, ends)} != {int}
        or any(PART_INDEX in each or CHAR_SPANS in each for each in metadatas)
        or min(starts) < 0
        or list(map(sub, ends, starts)) != list(map(len, texts))
        or min(map(len, texts)) == 0
    ):
        return None
    # Documents stand by their best chunk: as they come.
    place = {name: number for number, name in enumerate(dict.fromkeys(documents))}
    if "" in place or "None" in place:
        return None
    numbers = [place[name] for name in documents]
    placed = sorted(zip(numbers, starts, ends, range(len(texts)), strict=True))
    for (number, _, end, _), (following, start, _, _) in pairwise(placed):
        if number == following and start < end:
            return None
    return [rank for *_, rank in placed]


def _stored_counts(
    metadatas: Sequence[Mapping[str, Any]], counter: NamedTokenCounter
) -> list[int] | None:
    names = [metadata.get(TOKEN_COUNTER) for metadata in metadatas]
    counts: list[Any] = [metadata.get(TOKEN_COUNT) for metadata in metadatas]
    # With others what joints add is not known.
    if not counter.name or not counter.additive_at_spaces:
        return None
    if names.count(counter.name) != len(names):
        return None
    return counts if set(map(type, counts)) == {int} and min(counts) >= 0 else None


def _fitting(counts: Sequence[int], budget: int, join_cost: int) -> int:
    """How many of the best fit; see `fill_budget`."""
    used = -join_cost
    for number, tokens in enumerate(counts):
        used += tokens + join_cost
        if used > budget:
            return number
    return len(counts)


def _runs(
    metadatas: Sequence[Mapping[str, Any]],
    order: Sequence[int],
    kept: int,
    options: ContextOptions,
) -> list[list[int]] | None:
    """What is kept, in order; merged, if at all, where chunks touch.

    None where a small gap would have to be filled.
    """
    if kept < len(order):
        order = [rank for rank in order if rank < kept]
    if not options.merge:
        return [[rank] for rank in order]
    runs: list[list[int]] = []
    document, end = None, 0
    for rank in order:
        metadata = metadatas[rank]
        start = metadata[CHAR_START]
        if metadata[DOC_KEY] != document or start > end + options.max_gap:
            runs.append([rank])
        elif start == end:
            runs[-1].append(rank)
        else:
            return None
        document, end = metadata[DOC_KEY], metadata[CHAR_END]
    return runs


def _joints(
    texts: Sequence[str],
    runs: Sequence[Sequence[int]],
    counter: NamedTokenCounter,
    separator: str,
) -> int:
    """What joining the texts adds to their tokens."""
    joint, glued = joint_counter(counter, separator), joint_counter(counter, "")
    firsts = [texts[run[0]] for run in runs]
    lasts = [texts[run[-1]] for run in runs]
    added = sum(map(joint, lasts, firsts[1:]))
    for run in runs:
        if len(run) > 1:
            inside = [texts[rank] for rank in run]
            added += sum(map(glued, inside, inside[1:]))
    return added
