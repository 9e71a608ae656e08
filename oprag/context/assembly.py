"""Turn retrieved hits into ordered passages within a budget, step by step.

    _check     hits -> chunks with their places, without duplicates
    _select    chunks, best first, and their neighbours -> without those seen before
               -> the best `top_n` -> those that fit the budget -> passages in order
    _explain   the reasons why each hit was kept or dropped

`budget.py` decides which chunks fit a token budget: it puts them in order and joins
them to count their tokens. Plain Python and both adapters call `arrange`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
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
from oprag.context.ranks import RankedChunks, rank_chunks
from oprag.context.seen import Seen
from oprag.effects import Effect
from oprag.errors import InvalidOptionError, OpragError, PositionError
from oprag.positions import find_shared_names
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
    and for each name that several files share."""
    lacking: InvalidOptionError | None = None
    """Why `widen` could read no neighbours."""
    too_few: int | None = None
    """The number of chunks, if all of them were used and the retriever may have more;
    else None. `arrange` leaves it at None: only its callers know the retriever."""
    why: Mapping[str, Any] = field(default_factory=dict)
    """Plain data: the hits `kept` and those `dropped` by each step (`duplicate`,
    `version`, `blank` for white space without a place, `seen`, `top_n`,
    `token_budget`), each hit once, by its place in the list of the search. (For
    results of another component that is not the rank written on them.) If there are
    any, also `doubts`, the ranks `chained` by other
    chunks of the document (their `overlaps`, `links` or `numbers`), the `ids` of the
    chunks in each merged passage by its rank, and the budget's tokens."""

    def map(self, make: Callable[[_T], _Made]) -> OrderedContext[_Made]:
        """Return the same context with a framework's object for each passage."""
        return replace(self, passages=list(map(make, self.passages)))  # type: ignore[arg-type,return-value]  # of another type

    def warn_and_return(self, problems: Problems) -> list[_T]:
        """Return the passages, and warn of their problems."""
        budget = self.why.get("token_budget")
        unfilled = None
        if budget and self.too_few:
            unfilled = budget, self.too_few
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
        neighbours: How many of the last `hits` take the room that the others leave, and
            where more text is read from full texts. `top_n` does not count these, and
            `why` names only those of them that were retrieved.
        numbers: The passage numbers of the conversation so far; not changed.
    """
    checked = _check(hits, options, neighbours.length)
    checked.warn_of_versions()
    while True:
        try:
            return _select(
                checked,
                hits,
                options,
                sent_text=sent_text,
                seen=seen,
                neighbours=neighbours,
                numbers=numbers,
            )
        except PositionError as error:
            # A full text contradicts a chunk, so no place in this document can be
            # trusted: drop them all and select again. Each document is dropped at most
            # once, so this ends.
            is_invalid = error.kind == "invalid_span"
            may_drop = is_invalid and error.document not in checked.problems
            if options.on_problem == "error" or not may_drop:
                raise
            checked = checked.drop_places(error)


def _check(
    hits: Sequence[Hit], options: ContextOptions, n_neighbours: int
) -> CheckedHits:
    """Check the hits; an error says first which option is better left out."""
    try:
        return check_hits(hits, options, options.source_text(), n_neighbours)
    except OpragError as error:
        # Imported here: most contexts do not need it.
        from oprag.context.needless_options import say_what_is_needless

        raise say_what_is_needless(error, hits, options) from error.__cause__


def _select(
    checked: CheckedHits,
    hits: Sequence[Hit],
    options: ContextOptions,
    *,
    sent_text: SentText | None,
    seen: Seen | None,
    neighbours: CandidateTail,
    numbers: CitationNumbers | None,
) -> OrderedContext[Passage]:
    """Cut out seen text, keep the best, fill the budget, and join passages."""
    checked = checked.mark_problems()
    ranked = _list_best_first(checked, neighbours, options)
    chunks = split_merged(ranked.chunks) if options.merges else ranked.chunks
    candidates = _Candidates(chunks)
    if seen is not None:
        candidates.cut_seen(seen)
        # Gaps are not filled from full texts: the text there may have been read.
        options = replace(options, documents=None)
    if options.top_n is not None:
        candidates.keep_best(options.top_n)
    budget = options.require_budget()
    if budget is not None:
        filler = BudgetFiller(options, sent_text, numbers)
        passages = candidates.fill_budget(filler, budget, options)
    else:
        passages = build_passages(candidates.chunks, options)
        if numbers is not None:
            passages = numbers.assign(passages)
    return OrderedContext(
        passages,
        candidates.used_all,
        candidates.seen_before,
        (*checked.problems.values(), *find_shared_names(checked.chunks)),
        neighbours.lacking,
        why=_explain(
            checked,
            candidates,
            passages,
            hits,
            options,
            ranked=ranked,
            n_read=neighbours.n_read,
        ),
    )


def _list_best_first(
    checked: CheckedHits, neighbours: CandidateTail, options: ContextOptions
) -> RankedChunks:
    """List the chunks of hits, then their neighbours from the store and full texts."""
    chunks = checked.chunks
    behind = [chunk for chunk in chunks if chunk.is_neighbour]
    ranked = rank_chunks([c for c in chunks if not c.is_neighbour], options)
    # All text of a document may be worth reading if good hits are around it.
    fills = options.selection == "recall" and options.documents is not None
    if not (behind or neighbours.beside or fills):
        return ranked
    of_hits, places = ranked
    if places is None:
        places = {chunk.rank: [chunk.rank] for chunk in of_hits}
    next_rank = max([checked.n_retrieved, *(chunk.rank + 1 for chunk in of_hits)])
    beside = _rank_from(next_rank, behind)
    for read, chunk in zip(behind, beside, strict=True):
        places[chunk.rank] = [read.rank]

    best = of_hits[: options.top_n]
    ranks, reach = {chunk.rank for chunk in best}, neighbours.widen
    if fills:
        reach = "fill"
    else:
        ranks = {r for r in ranks if not neighbours.beside.isdisjoint(places[r])}
    if ranks:
        # Imported here: most contexts do not need it.
        from oprag.context.slices import cut_neighbours

        slices = cut_neighbours([*best, *beside], ranks, reach, options)
        beside += _rank_from(next_rank + len(beside), slices)
    return RankedChunks([*of_hits, *beside], places)


def _rank_from(first: int, chunks: Iterable[Chunk]) -> list[Chunk]:
    """Rank chunks one after another."""
    return [
        chunk if chunk.rank == rank else chunk._replace(rank=rank)
        for rank, chunk in enumerate(chunks, first)
    ]


class _Candidates:
    """The chunks that are left, and the reasons why others are not.

    Each step leaves some out.

    Args:
        chunks: Best first.
    """

    def __init__(self, chunks: Sequence[Chunk]) -> None:
        self.chunks = chunks
        self.dropped: dict[str, list[int]] = {}
        """The ranks that each step left out."""
        self.used_all = True
        """Whether `top_n` and the budget left none out and cut none."""
        self.tokens: int | None = None
        """Those of the passages; None without a budget."""
        self.seen_before: Sequence[Chunk] = ()
        """Those that were left out only because they were seen before: of others that
        were seen, `top_n` or the budget would have come to an end before."""

    @property
    def ranks(self) -> list[int]:
        """Ranks of the chunks that are left, ascending."""
        return sorted({chunk.rank for chunk in self.chunks})

    def cut_seen(self, seen: Seen) -> None:
        """Cut out the text that a reader has read."""
        unread, self.seen_before = seen.partition(self.chunks)
        self._keep(unread, "seen")

    def keep_best(self, top_n: int) -> None:
        """Keep all slices of the best hits, and every neighbour."""
        ranks = dict.fromkeys(c.rank for c in self.chunks if not c.is_neighbour)
        best = {*islice(ranks, top_n)}
        kept = [c for c in self.chunks if c.is_neighbour or c.rank in best]
        if len(kept) < len(self.chunks):
            self.used_all = False
            last = max(best)
            self.seen_before = [
                c for c in self.seen_before if c.is_neighbour or c.rank <= last
            ]
        self._keep(kept, "top_n")

    def fill_budget(
        self, filler: BudgetFiller, budget: int, options: ContextOptions
    ) -> list[Passage]:
        """Keep the chunks that fit the budget, and return their passages."""
        best_first = self.chunks
        if options.selection == "recall":
            # Imported here: most contexts do not need it.
            from oprag.context.recall import rank_segments

            best_first = rank_segments(self.chunks, budget=budget)
        kept, passages, self.tokens = filler.fill(best_first, budget)
        if not _are_whole(kept, best_first):
            self.used_all = False
            last = max(chunk.rank for chunk in kept)
            self.seen_before = [c for c in self.seen_before if c.rank <= last]
        self._keep(kept, "token_budget")
        return passages

    def _keep(self, chunks: Sequence[Chunk], step: str) -> None:
        """Go on with these chunks; note the ranks that a step dropped."""
        before, self.chunks = self.ranks, chunks
        after = {*self.ranks}
        if dropped := [rank for rank in before if rank not in after]:
            self.dropped[step] = dropped


def _are_whole(kept: Sequence[Chunk], best_first: Sequence[Chunk]) -> bool:
    """Return whether all were kept and none was cut: a slice has another position."""
    if len(kept) != len(best_first):
        return False
    pairs = zip(kept, best_first, strict=True)
    return all(one.position == other.position for one, other in pairs)


def _explain(
    checked: CheckedHits,
    candidates: _Candidates,
    passages: Sequence[Passage],
    hits: Sequence[Hit],
    options: ContextOptions,
    *,
    ranked: RankedChunks,
    n_read: int,
) -> dict[str, Any]:
    """Say which hits were kept, and why others were not; see `OrderedContext.why`."""
    n_before = checked.n_retrieved
    left_out = {**checked.dropped}
    for step, ranks in candidates.dropped.items():
        left_out[step] = ranked.list_places(ranks)
    kept = _list_retrieved(ranked.list_places(candidates.ranks), n_before, n_read)
    dropped = {}
    for reason, places in left_out.items():
        if numbers := _list_retrieved(places, n_before, n_read):
            dropped[reason] = numbers
    why: dict[str, Any] = {"kept": kept, "dropped": dropped}
    budget, tokens = options.token_budget, candidates.tokens
    if budget is not None and tokens is not None:
        why.update(token_budget=budget, tokens=tokens, left=budget - tokens)
        why.update(describe_counter(options.token_counter))
    if checked.doubts:
        why["doubts"] = checked.doubts
    if ids := _list_merged_ids(passages, hits):
        why["ids"] = ids
    if chained := _list_chained(checked.chunks, hits):
        why["chained"] = chained
    return why


def _list_retrieved(places: Sequence[int], n_before: int, n_read: int) -> list[int]:
    """Return places in the list of the search, without chunks read between its hits."""
    if not n_read:
        return [*places]
    before = [place for place in places if place < n_before]
    behind = [place - n_read for place in places if place >= n_before + n_read]
    return before + behind


def _list_chained(chunks: Sequence[Chunk], hits: Sequence[Hit]) -> dict[str, list[int]]:
    """Return the ranks of the chunks that others put in order, by the kind of proof."""
    listed: dict[str, list[int]] = {}
    for chunk in chunks:
        if chunk.proof == "chained" and not chunk.is_neighbour:
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
