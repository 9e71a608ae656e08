"""Turn retrieved hits into ordered passages within a budget, step by step.

    check_hits   hits -> chunks with their places, without duplicates
    _select      without those seen before -> the best `top_n` -> those that fit the
                 budget -> passages in order

`budget.py` decides which chunks fit a token budget: it puts them in order and joins
them to count their tokens. Plain Python and both adapters call `arrange`.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Generic, TypeVar

from oprag.chunk import Chunk, Hit, Passage
from oprag.context.async_texts import aload_texts_then
from oprag.context.budget import BudgetFiller, SentText
from oprag.context.checked_hits import CheckedHits, check_hits
from oprag.context.neighbours import NO_NEIGHBOURS, CandidateTail
from oprag.context.numbers import CitationNumbers
from oprag.context.options import ContextOptions
from oprag.context.passages import build_passages, split_merged
from oprag.context.problems import Problems
from oprag.context.ranks import rank_chunks
from oprag.context.seen import Seen
from oprag.effects import Effect
from oprag.errors import (
    InvalidOptionError,
    MissingDocumentError,
    OpragError,
    PositionError,
)
from oprag.metadata import UNNAMED
from oprag.positions import deduplicate, drop_place, find_shared_names
from oprag.tokens import describe_counter

_T = TypeVar("_T")
_Made = TypeVar("_Made")


@dataclass(frozen=True)
class OrderedContext(Generic[_T]):
    """The passages kept, in reading order, or best first with `order="rank"`.

    Together, as the texts are sent and joined by `options.separator`, they take at
    most `options.token_budget` tokens.
    """

    passages: list[_T]
    """Empty without hits. Adapters hold one object per passage."""
    used_all: bool
    """Whether every chunk was used: False as soon as `top_n` or the budget left one
    out or cut it."""
    seen_before: Sequence[Chunk] = ()
    """Chunks left out only because they were seen before."""
    problems: tuple[OpragError, ...] = ()
    """One error for each document that cannot be put in order (`on_problem="warn"`),
    and for each file of several documents."""
    lacking: InvalidOptionError | None = None
    """Why `widen` could read no neighbours."""
    came: int = 0
    """The number of chunks, if all were used and more may exist; else 0. `arrange`
    leaves it at 0: only its callers know whether more may exist."""
    why: Mapping[str, Any] = field(default_factory=dict)
    """Plain data: the ranks `kept` and those `dropped` by each step (`duplicate`,
    `version`, `blank` for white space without a place, `seen`, `top_n`,
    `token_budget`). If there are any, also `doubts`, the ranks `chained` by other
    chunks of the document (their `overlaps`, `links` or `numbers`), the `ids` of the
    chunks in each merged passage by its rank, and the budget's tokens."""

    def map(self, make: Callable[[_T], _Made]) -> OrderedContext[_Made]:
        """Return the same context with a framework's object for each passage."""
        return replace(self, passages=list(map(make, self.passages)))  # type: ignore[arg-type,return-value]  # of another type

    def warn_and_return(self, problems: Problems) -> list[_T]:
        """Return the passages, and warn of their problems."""
        budget = self.why.get("token_budget")
        unfilled = (budget, self.came) if budget and self.came else None
        if self.problems or self.lacking or unfilled:
            problems.warn(self.problems, self.lacking, unfilled)
        return self.passages


def arrange(
    hits: Sequence[Hit],
    options: ContextOptions,
    *,
    sent_text: SentText | None = None,
    seen: Seen | None = None,
    neighbours: CandidateTail = NO_NEIGHBOURS,
    numbers: CitationNumbers | None = None,
) -> OrderedContext[Passage]:
    """Select the best hits, put them in order, and join them into passages.

    Args:
        hits: Best first. Not changed.
        options: See `ContextOptions`.
        sent_text: Gives the text that the framework sends for a chunk, if not just
            the chunk's own; the budget counts this text.
        seen: Characters that are cut out before anything is selected, see
            `Seen.partition`; None to cut nothing.
        neighbours: The end of `hits` that is not to be counted as retrieved: chunks
            that were read from beside hits, then hits ranked below these
            (`oprag.context.NeighbourSearch`). `top_n` does not count them, and `why`
            does not name them.
        numbers: The passage numbers of the conversation so far; not changed.
    """
    texts = options.source_text()
    try:
        checked = check_hits(hits, options, texts)
    except OpragError as error:
        # Imported here: most contexts do not need it.
        from oprag.context.needless_options import say_what_is_needless

        raise say_what_is_needless(error, hits, options) from error.__cause__
    checked.warn_of_versions()
    chunks, problems = checked.chunks, checked.problems
    while True:
        try:
            marked = _mark_problems(chunks, problems)
            candidates = _rank_candidates(hits, marked, neighbours, options)
            arranged = _select(
                candidates, options, sent_text=sent_text, seen=seen, numbers=numbers
            )
            break
        except PositionError as error:
            # A full text contradicts a chunk, so no place in this document can be
            # trusted: drop them all and select again. Each document is dropped at most
            # once, so this ends.
            may_repeat = error.kind == "invalid_span" and error.document not in problems
            if options.on_problem == "error" or not may_repeat:
                raise
            problems[error.document] = error
            chunks = [
                drop_place(c) if c.document_key == error.document else c for c in chunks
            ]
    found = [*problems.values(), *find_shared_names(chunks)]
    why = _explain(arranged.why, checked, len(hits) - neighbours.length)
    if ids := _list_merged_ids(arranged.passages, hits):
        why["ids"] = ids
    retrieved = hits[: len(hits) - neighbours.length]
    if chained := _list_chained(chunks, retrieved):
        why["chained"] = chained
    return replace(arranged, problems=tuple(found), lacking=neighbours.lacking, why=why)


def _explain(
    why: Mapping[str, Any], checked: CheckedHits, retrieved: int
) -> dict[str, Any]:
    """Add the hits that were left out before any selection, and doubts."""
    dropped: dict[str, list[int]] = {}
    for reason, ranks in checked.dropped.items():
        if of_hits := [rank for rank in ranks if rank < retrieved]:
            dropped[reason] = of_hits
    explained = {**why, "dropped": {**dropped, **why["dropped"]}}
    if checked.doubts:
        explained["doubts"] = checked.doubts
    return explained


def _list_chained(chunks: Sequence[Chunk], hits: Sequence[Hit]) -> dict[str, list[int]]:
    """Return the ranks of the chunks that others put in order, by the kind of proof."""
    listed: dict[str, list[int]] = {}
    for chunk in chunks:
        if chunk.proof == "chained" and chunk.rank < len(hits):
            links = "links" if hits[chunk.rank].links else "numbers"
            by = links if chunk.is_linked else "overlaps"
            listed.setdefault(by, []).append(chunk.rank)
    return listed


def _list_merged_ids(
    passages: Sequence[Passage], hits: Sequence[Hit]
) -> dict[int, tuple[str, ...]]:
    """Return the ids of the hits in each merged passage, by its rank."""
    listed: dict[int, tuple[str, ...]] = {}
    merged = [passage for passage in passages if len(passage.chunks) > 1]
    if not merged:
        return listed
    known = {id(hit.source): hit.id for hit in hits if hit.id is not None}
    for passage in merged:
        ids = [known.get(id(chunk.source)) for chunk in passage.chunks]
        told = [*listed.get(passage.rank, ()), *(each for each in ids if each)]
        if told:
            listed[passage.rank] = tuple(dict.fromkeys(told))
    return listed


class _Candidates:
    """The chunks that are left, best first, and the ranks that each step dropped.

    Args:
        chunks: Hits, then their neighbours.
        first_neighbour: The first rank of the neighbours.
    """

    def __init__(
        self, chunks: Sequence[Chunk], first_neighbour: float = math.inf
    ) -> None:
        self.chunks = chunks
        self.first_neighbour = first_neighbour
        self.dropped: dict[str, list[int]] = {}

    @property
    def ranks(self) -> list[int]:
        """Ranks of the hits, ascending."""
        return sorted({c.rank for c in self.chunks if c.rank < self.first_neighbour})

    def keep(self, chunks: Sequence[Chunk], step: str) -> None:
        """Go on with these chunks; note the ranks that a step dropped."""
        before, self.chunks = self.ranks, chunks
        after = {*self.ranks}
        if dropped := [rank for rank in before if rank not in after]:
            self.dropped[step] = dropped

    def list_best(self, top_n: int) -> list[Chunk]:
        """List all slices of the best hits, and every neighbour."""
        ranks_best_first = dict.fromkeys(c.rank for c in self.chunks)
        of_hits = [rank for rank in ranks_best_first if rank < self.first_neighbour]
        best = {*of_hits[:top_n]}
        return [
            c for c in self.chunks if c.rank in best or c.rank >= self.first_neighbour
        ]


def _rank_candidates(
    hits: Sequence[Hit],
    chunks: list[Chunk],
    neighbours: CandidateTail,
    options: ContextOptions,
) -> _Candidates:
    """Rank the hits, then add their neighbours.

    First the neighbours that were read from the store, then slices cut from full texts.
    """
    fills_from_texts = options.selection == "recall" and options.documents is not None
    if neighbours is NO_NEIGHBOURS and not fills_from_texts:
        return _Candidates(rank_chunks(chunks, options))
    retrieved = len(hits) - neighbours.length
    hit_chunks = rank_chunks([c for c in chunks if c.rank < retrieved], options)
    first_neighbour = max([retrieved, *(chunk.rank + 1 for chunk in hit_chunks)])
    neighbour_chunks = _assign_ranks(
        [c for c in chunks if c.rank >= retrieved], first_neighbour
    )
    if fills_from_texts or neighbours.beside:
        # Imported here: most contexts do not need it.
        from oprag.context.slices import cut_neighbours

        best = hit_chunks[: options.top_n]
        ranks = (
            {chunk.rank for chunk in best} if fills_from_texts else neighbours.beside
        )
        reach = "fill" if fills_from_texts else neighbours.widen or "fill"
        slices = cut_neighbours([*best, *neighbour_chunks], ranks, reach, options)
        neighbour_chunks += _assign_ranks(
            slices, first_neighbour + len(neighbour_chunks)
        )
    return _Candidates([*hit_chunks, *neighbour_chunks], first_neighbour)


def _assign_ranks(chunks: Sequence[Chunk], first: int) -> list[Chunk]:
    return [
        chunk if chunk.rank == rank else chunk._replace(rank=rank)
        for rank, chunk in enumerate(chunks, first)
    ]


def _select(
    candidates: _Candidates,
    options: ContextOptions,
    *,
    sent_text: SentText | None,
    seen: Seen | None,
    numbers: CitationNumbers | None,
) -> OrderedContext[Passage]:
    """Cut out seen text, keep the best, fill the budget, and join passages."""
    seen_before: list[Chunk] = []
    if options.merges:
        candidates.chunks = split_merged(candidates.chunks)
    if seen is not None:
        unread, seen_before = seen.partition(candidates.chunks)
        candidates.keep(unread, "seen")
        # Gaps are not filled from full texts: the text there may have been read.
        options = replace(options, documents=None)
    offered = len(candidates.chunks)
    if options.top_n is not None:
        candidates.keep(candidates.list_best(options.top_n), "top_n")
    used_all = len(candidates.chunks) == offered
    spent: dict[str, Any] = {}
    if (budget := options.require_budget()) is None:
        passages = build_passages(candidates.chunks, options)
        if numbers is not None:
            passages = numbers.assign(passages)
    else:
        filler = BudgetFiller(options, sent_text, numbers)
        passages, spent, is_whole = _fill_budget(candidates, options, filler, budget)
        used_all &= is_whole
    if candidates.chunks and not used_all:
        # Selection stopped at `last`: chunks that were read before and rank lower would
        # not have been used either.
        last = max(chunk.rank for chunk in candidates.chunks)
        seen_before = [chunk for chunk in seen_before if chunk.rank <= last]
    why = {"kept": candidates.ranks, "dropped": candidates.dropped, **spent}
    return OrderedContext(passages, used_all, seen_before, why=why)


def _fill_budget(
    candidates: _Candidates, options: ContextOptions, filler: BudgetFiller, budget: int
) -> tuple[list[Passage], dict[str, Any], bool]:
    """Keep the candidates that fit the budget.

    Returns:
        Their passages; the tokens, for `why`; and whether all were kept whole.
    """
    best_first = _rank_for_budget(candidates, options, budget)
    kept, passages, tokens = filler.fill(best_first, budget)
    candidates.keep(kept, "token_budget")
    spent = {"token_budget": budget, "tokens": tokens, "left": budget - tokens}
    spent |= describe_counter(options.token_counter)
    return passages, spent, _are_whole(kept, best_first)


def _rank_for_budget(
    candidates: _Candidates, options: ContextOptions, budget: int
) -> Sequence[Chunk]:
    """Order the candidates by rank, or by rank and neighbours."""
    if options.selection == "budget":
        return candidates.chunks
    # Imported here: most contexts do not need it.
    from oprag.context.recall import rank_segments

    first = candidates.first_neighbour
    return rank_segments(candidates.chunks, beside=first, budget=budget)


def _are_whole(kept: Sequence[Chunk], best_first: Sequence[Chunk]) -> bool:
    """Return whether all were kept and none was cut: a slice has another position."""
    if len(kept) != len(best_first):
        return False
    pairs = zip(kept, best_first, strict=True)
    return all(one.position == other.position for one, other in pairs)


def _mark_problems(
    chunks: list[Chunk], problems: Mapping[str, OpragError]
) -> list[Chunk]:
    """Record on each chunk the error that `on_problem="warn"` did not raise.

    Chunks of unnamed documents lose their place.
    """
    if not problems and not any(c.document_key.startswith(UNNAMED) for c in chunks):
        return chunks
    marked = []
    at_place = Counter((chunk.document_key, chunk.position) for chunk in chunks)
    for chunk in chunks:
        shares_place = at_place[chunk.document_key, chunk.position] > 1
        kind = _find_problem_kind(chunk, problems, shares_place=shares_place)
        is_unnamed = chunk.document_key.startswith(UNNAMED)
        kept = drop_place(chunk) if is_unnamed else chunk
        marked.append(kept._replace(problem=kept.problem or kind))
    return deduplicate(marked)


def _find_problem_kind(
    chunk: Chunk, problems: Mapping[str, OpragError], *, shares_place: bool
) -> str | None:
    """Return the kind of error that concerns a chunk; None if none does."""
    if chunk.document_key.startswith(UNNAMED):
        return MissingDocumentError.kind
    error = problems.get(chunk.document_key)
    if error is None:
        return None
    return error.kind if chunk.position is None or shares_place else None


def load_texts_then(
    options: ContextOptions, work: Callable[[ContextOptions], Any]
) -> Effect:
    """Return work that may need full texts, to be done now or awaited.

    Args:
        options: `later()` awaits their `documents`; `now()` reads them directly.
        work: Has no effect but its result; it may be called several times.
    """

    def load_then_work() -> Any:
        return work(options)

    async def aload_then_work() -> Any:
        return await aload_texts_then(options, work)

    return Effect(load_then_work, aload_then_work)
