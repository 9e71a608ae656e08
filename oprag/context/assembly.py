"""The steps composed: retrieved hits in, ordered passages within a budget out.

    hits -> chunks -> without duplicates -> selected -> in order -> passages

What fits a token budget is decided in `budget.py`. Plain Python and both
adapters call `arrange`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import pairwise
from operator import is_, itemgetter
from typing import Any, Generic, TypeVar

from oprag.chunk import Chunk, Hit, Passage
from oprag.context.async_texts import awaited
from oprag.context.budget import BudgetFiller, SentText
from oprag.context.neighbours import ALONE, Neighbours
from oprag.context.numbers import Numbers
from oprag.context.options import ContextOptions, TextsByName
from oprag.context.passages import finish, taken_apart
from oprag.context.places import find_places
from oprag.context.problems import Problems
from oprag.context.seen import Seen
from oprag.errors import (
    InvalidOptionError,
    MissingDocumentError,
    OpragError,
    PositionError,
)
from oprag.metadata import HASH, PROBLEM, RANK, UNNAMED
from oprag.ordering import document_order, rank_order
from oprag.positions import (
    as_number,
    check_positions,
    divided_files,
    read_chunks,
    read_documents,
    within_one_version,
    without_duplicates,
    without_place,
)
from oprag.tokens import Do

_T = TypeVar("_T")
_Made = TypeVar("_Made")


def arrange(
    hits: Sequence[Hit],
    options: ContextOptions,
    *,
    sent_text: SentText | None = None,
    seen: Seen | None = None,
    neighbours: Neighbours = ALONE,
    numbers: Numbers | None = None,
) -> Arranged[Passage]:
    """Select the best hits, put them in order, and join them into passages.

    Args:
        hits: Best first. Not changed.
        options: See `ContextOptions`.
        sent_text: What the framework sends for a chunk, if not just its text;
            the budget counts this.
        seen: Characters that are cut out before anything is selected, see
            `Seen.divided`; None to cut nothing.
        neighbours: How many at the end of the list are neighbours, which were read from
            beside the others, or hits that come after these (`oprag.context.Widening`):
            `top_n` does not count them, and `why` does not name them.
        numbers: The passage numbers of the conversation so far; not changed.
    """
    if (texts := options.source_text()) is not None:
        hits = texts.source.named_by_file(hits)
    chunks, problems = _checked_chunks(hits, options, texts)
    while True:
        try:
            found, first = _with_neighbours(
                hits, _marked(chunks, problems), neighbours, options
            )
            passages, why, used_all, read = _kept(
                found, first, options, sent_text=sent_text, seen=seen, numbers=numbers
            )
        except PositionError as error:  # the full text differs at a span
            hopeless = error.kind != "invalid_span" or error.document in problems
            if options.on_problem == "error" or hopeless:
                raise
            problems[error.document] = error
            chunks = [
                without_place(c) if c.document == error.document else c for c in chunks
            ]
        else:
            count = len(hits) - neighbours.number
            if same := count - sum(chunk.rank < count for chunk in chunks):
                why["duplicates"] = same
            bad = tuple(problems.values())
            if options.document_key is None and options.order == "document":
                bad += (*divided_files(hits, by_file=texts is not None),)
            return Arranged(passages, used_all, read, bad, neighbours.lacking, why=why)


def _with_neighbours(
    hits: Sequence[Hit],
    chunks: list[Chunk],
    neighbours: Neighbours,
    options: ContextOptions,
) -> tuple[list[Chunk], float]:
    """The chunks best first, and the rank of the first that is a neighbour."""
    by_position = options.selection == "recall" and options.documents is not None
    if neighbours is ALONE and not by_position:
        return _ranked(chunks, options), math.inf
    count = len(hits) - neighbours.number
    own = _ranked([chunk for chunk in chunks if chunk.rank < count], options)
    first = max([count, *(chunk.rank + 1 for chunk in own)])
    beside = _numbered([c for c in chunks if c.rank >= count], first)
    if by_position or neighbours.beside:
        # Imported here: most contexts do not need it.
        from oprag.context.slices import slices_beside

        best = own[: options.top_n]
        ranks = {chunk.rank for chunk in best} if by_position else neighbours.beside
        reach = "fill" if by_position else neighbours.widen or "fill"
        slices = slices_beside([*best, *beside], ranks, reach, options)
        beside += _numbered(slices, first + len(beside))
    return [*own, *beside], first


def _numbered(chunks: Sequence[Chunk], first: int) -> list[Chunk]:
    return [chunk._replace(rank=rank) for rank, chunk in enumerate(chunks, first)]


def _marked(chunks: list[Chunk], problems: Mapping[str, OpragError]) -> list[Chunk]:
    """The chunks, with what is wrong with each; without a name they have no place."""
    if not problems and not any(c.document.startswith(UNNAMED) for c in chunks):
        return chunks
    marked = []
    for chunk in chunks:
        kind = None
        if chunk.document.startswith(UNNAMED):
            chunk, kind = without_place(chunk), MissingDocumentError.kind  # noqa: PLW2901 -- the same chunk
        elif chunk.position is None and chunk.document in problems:
            kind = problems[chunk.document].kind
        metadata = {PROBLEM: kind, **chunk.metadata}
        marked.append(chunk._replace(metadata=metadata) if kind else chunk)
    return without_duplicates(marked)


def _kept(
    chunks: Sequence[Chunk],
    first: float,
    options: ContextOptions,
    *,
    sent_text: SentText | None,
    seen: Seen | None,
    numbers: Numbers | None,
) -> tuple[list[Passage], dict[str, Any], bool, list[Chunk]]:
    """The passages, why these, whether all was used, and the chunks seen before."""
    seen_before: list[Chunk] = []
    if options.merges:
        chunks = taken_apart(chunks)
    left = {"": _ranks(chunks, first)}
    if seen is not None:
        chunks, seen_before = seen.divided(chunks)
        # Gaps are not filled from full texts: what lies there may have been read.
        options = replace(options, documents=None)
        left["seen"] = _ranks(chunks, first)
    kept = chunks
    if options.top_n is not None:
        ranks = dict.fromkeys(chunk.rank for chunk in chunks if chunk.rank < first)
        best = {*[*ranks][: options.top_n]}  # all slices of each, and every neighbour
        kept = [c for c in chunks if c.rank in best or c.rank >= first]
        left["top_n"] = _ranks(kept, first)
    used_all = len(kept) == len(chunks)
    why: dict[str, Any] = {}
    if (budget := options.needed_budget()) is None:
        passages = finish(kept, options)
        if numbers is not None:
            passages = numbers.numbered(passages)
    else:
        listed = kept
        if options.selection == "recall":
            # Imported here: most contexts do not need it.
            from oprag.context.recall import expanded_order

            listed = expanded_order(kept, beside=first, budget=budget)
        filler = BudgetFiller(options, sent_text, numbers)
        kept, passages, tokens = filler.filled(listed, budget)
        left["token_budget"] = _ranks(kept, first)
        why = {"token_budget": budget, "tokens": tokens, "left": budget - tokens}
        # A chunk that was cut has another position.
        used_all = (
            used_all
            and len(kept) == len(listed)
            and all(a.position == b.position for a, b in zip(kept, listed, strict=True))
        )
    if kept and not used_all:  # drop seen chunks ranked below the last kept
        last = max(chunk.rank for chunk in kept)
        seen_before = [chunk for chunk in seen_before if chunk.rank <= last]
    dropped = {
        reason: [rank for rank in before if rank not in after]
        for (_, before), (reason, after) in pairwise(left.items())
    }
    dropped = {reason: ranks for reason, ranks in dropped.items() if ranks}
    why = {"kept": [*left.popitem()[1]], "dropped": dropped, **why}
    return passages, why, used_all, seen_before


def _ranks(chunks: Sequence[Chunk], first: float) -> dict[int, None]:
    """The ranks of hits, the best first."""
    return dict.fromkeys(sorted(chunk.rank for chunk in chunks if chunk.rank < first))


def with_texts(options: ContextOptions, work: Callable[[ContextOptions], Any]) -> Do:
    """Return work that may need full texts, to be done now or awaited.

    Args:
        options: `later()` awaits their `documents`; `now()` reads them directly.
        work: Has no effect but its result; it may be done several times.
    """
    return Do(partial(work, options), partial(awaited, options, work))


@dataclass(frozen=True)
class Arranged(Generic[_T]):
    """The passages kept, in reading order, or best first with `order="score"`.

    Together, as the texts are sent and joined by `options.separator`, they take at
    most `options.token_budget` tokens.
    """

    passages: list[_T]
    """Empty without hits. Adapters hold one object per passage."""
    used_all: bool
    """Whether every chunk was used: False as soon as `top_n` or the budget left one
    out or cut it."""
    read: Sequence[Chunk] = ()
    """Chunks left out only because they were seen before."""
    problems: tuple[OpragError, ...] = ()
    """One for each document that cannot be put in order (`on_problem="warn"`), and for
    each file of several documents."""
    lacking: InvalidOptionError | None = None
    """Why `widen` could read no neighbours."""
    came: int = 0
    """The number of chunks, if all were used and more may exist; else 0."""
    why: Mapping[str, Any] = field(default_factory=dict)
    """As plain data: the ranks `kept`, those `dropped` by each step, and, if there
    are any, `duplicates` and the budget's tokens."""

    def made(self, make: Callable[[_T], _Made]) -> Arranged[_Made]:
        """Return the same with an object of a framework for each passage."""
        return replace(self, passages=list(map(make, self.passages)))  # type: ignore[arg-type,return-value]  # of another type

    def reported(self, problems: Problems) -> list[_T]:
        """Return what is read; warn of what is wrong with it."""
        budget = self.why.get("token_budget")
        unfilled = (budget, self.came) if budget and self.came else None
        if self.problems or self.lacking or unfilled:
            problems.tell(self.problems, self.lacking, unfilled)
        return self.passages


def _checked_chunks(
    hits: Sequence[Hit], options: ContextOptions, texts: TextsByName | None
) -> tuple[list[Chunk], dict[str, OpragError]]:
    """Read positions; drop duplicates and other text versions; check the rest.

    Returns:
        The chunks, ranked by list order, and the errors by document key (empty unless
        `on_problem="warn"`).
    """
    errors: dict[str, OpragError] = {}
    warns = options.on_problem == "warn"
    # Full texts may still resolve these errors.
    collected = None if texts is None and not warns else errors
    documents = read_documents(
        hits,
        document_key=options.document_key,
        position_keys=options.position_keys,
        problems=errors if warns else None,
        by_file=texts is not None,
    )
    chunks = read_chunks(
        hits, documents, position_keys=options.position_keys, problems=collected
    )
    chunks = within_one_version(without_duplicates(chunks))
    recorded = {c.rank: c.span for c in chunks if c.part is None} if texts else {}
    chunks = check_positions(chunks, problems=collected)
    if texts is not None:
        chunks = find_places(
            chunks, texts.read, errors, compared=texts.at_hand, recorded=recorded
        )
        chunks = without_duplicates(chunks)
        texts.check()
    if errors and not warns:
        raise next(iter(errors.values()))
    return [_unmarked(c) if PROBLEM in c.metadata else c for c in chunks], errors


def _unmarked(chunk: Chunk) -> Chunk:
    """The chunk; only a result that still has no place keeps its problem."""
    if chunk.position is None and HASH in chunk.metadata:
        return chunk
    metadata = {k: v for k, v in chunk.metadata.items() if k != PROBLEM}
    return chunk._replace(metadata=metadata)


def by_rank(
    found: Sequence[_T], hits: Sequence[Hit], options: ContextOptions
) -> list[_T]:
    """Return what was found best first: a component's results by their ranks."""
    if not hits or HASH not in hits[0].metadata:
        return [*found]
    by, keys = options.document_key, options.position_keys
    documents = read_documents(hits, document_key=by, position_keys=keys, problems={})
    chunks = read_chunks(hits, documents, position_keys=keys, problems={})
    ranks = _written_ranks(chunks, options) or range(len(found))
    return [
        found[number] for number in sorted(range(len(found)), key=ranks.__getitem__)
    ]


def _ranked(chunks: list[Chunk], options: ContextOptions) -> list[Chunk]:
    """The chunks best first.

    A list in the order that a component returned keeps the ranks written on it; of
    several such lists of other documents, joined, the best of each comes first. Any
    other list is ranked by list order.
    """
    ranks = _written_ranks(chunks, options)
    if ranks is None:
        return chunks
    pairs = zip(chunks, ranks, strict=True)
    return rank_order([chunk._replace(rank=rank) for chunk, rank in pairs])


def _written_ranks(
    chunks: Sequence[Chunk], options: ContextOptions
) -> list[int] | None:
    """The ranks on results in their component's order; None for other lists."""
    if not chunks or HASH not in chunks[0].metadata:
        return None
    own = [chunk for chunk in chunks if HASH in chunk.metadata]
    ranks = [rank for c in own if (rank := as_number(c.metadata.get(RANK))) is not None]
    if len(ranks) < len(chunks):
        return None
    pairs = [*zip(ranks, chunks, strict=True)]
    if ranks != sorted(ranks):
        ranked = [chunk._replace(rank=rank) for rank, chunk in pairs]
        if not _in_order(ranked, options):
            return None
    # Slices of one hit share a rank; so do hits of joined lists, of other documents.
    hits = [(rank, chunk.document) for rank, chunk in pairs]
    if len({*hits}) == len({*ranks}):
        return ranks
    best = dict.fromkeys(sorted(hits, key=itemgetter(0)))
    numbers = {hit: number for number, hit in enumerate(best)}
    return [numbers[hit] for hit in hits]


def _in_order(ranked: Sequence[Chunk], options: ContextOptions) -> bool:
    """Whether chunks are in a component's output order."""
    best_first = rank_order(ranked)
    return any(
        all(map(is_, document_order(best_first, document_order=how), ranked))
        for how in ("best_rank", options.document_order)
    )
