"""The steps composed: retrieved hits in, ordered passages within a budget out.

    hits -> chunks -> without duplicates -> selected -> in order -> passages

What fits a token budget is decided in `budgeting.py`. `arrange` is the one door, for
plain Python and for both adapters.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from oprag.chunk import Chunk, Hit, Passage
from oprag.context.budgeting import BudgetFiller, Finished, SentText, finish
from oprag.context.lasting import side_by_side, with_lasting_ranks
from oprag.context.neighbours import ALONE, ALONE_RANKS, Neighbours, behind
from oprag.context.options import ContextOptions
from oprag.context.placing import find_places
from oprag.context.problems import with_problem
from oprag.context.results import Result, scores_of, written_ranks
from oprag.context.seen import Seen
from oprag.context.selection import EXPANDING
from oprag.errors import (
    InconsistentChunksError,
    MissingDocumentError,
    OpragError,
    PositionError,
    kind_of,
)
from oprag.metadata import DOC_KEY, RANK
from oprag.positions import (
    check_positions,
    read_chunks,
    read_documents,
    sound_chunks,
    within_one_version,
    without_duplicates,
)


def arrange(
    hits: Sequence[Hit],
    options: ContextOptions,
    *,
    sent_text: SentText | None = None,
    seen: Seen | None = None,
    neighbours: Neighbours = ALONE,
) -> Arranged:
    """Select the best hits, put them in order, and join them into passages.

    Args:
        hits: Best first. Not changed.
        options: See `ContextOptions`.
        sent_text: What the framework sends for a chunk, if not just its text;
            the budget counts this.
        seen: Characters that are cut out before anything is selected, see
            `Seen.divided`; None to cut nothing.
        neighbours: What of the list was not retrieved but stands beside hits
            (`oprag.context.Widening`): `top_n` does not count it, no hit is left out
            for it, and its rank is that of the hit that brought it.

    Raises:
        MissingDocumentError: See `read_documents`.
        PositionError: See `read_chunks`, `check_positions`, `merge_neighbours`.
        BudgetTooSmallError: See `fill_budget`.
        InvalidOptionError: See `ContextOptions.needed_budget`, `document_order`.
    """
    try:
        brought = ALONE_RANKS
        if neighbours is ALONE:
            chunks = _sound(hits, options) or prepared_chunks(hits, options)
        else:
            chunks, _ = _checked_chunks(hits, options, alone=False)
            count = len(hits) - len(neighbours.brought_by)
            own, ranks = _ranked([c for c in chunks if c.rank < count], options)
            beside = [
                c._replace(rank=c.rank - count) for c in chunks if c.rank >= count
            ]
            chunks, brought = behind(own, ranks, beside, neighbours, options)
        return _made(hits, chunks, options, sent_text, seen=seen, brought=brought)
    except InconsistentChunksError:  # of a full text, which is whole or not at all
        raise
    except (MissingDocumentError, PositionError) as error:
        if options.on_problem == "error":
            raise
        problem = error
    found = hits[: len(hits) - len(neighbours.brought_by)]
    return as_retrieved(found, options, problem, sent_text, seen)


def as_retrieved(
    hits: Sequence[Hit],
    options: ContextOptions,
    problem: OpragError,
    sent_text: SentText | None = None,
    seen: Seen | None = None,
) -> Arranged:
    """Keep the order as retrieved, within the budget (`on_problem="warn"`).

    Args:
        hits: Best first. Not changed.
        options: See `ContextOptions`.
        problem: In whose place this is returned.
        sent_text: As `arrange` takes it.
        seen: The same.
    """
    options = options.as_retrieved()
    chunks = _without_doubtful_places(prepared_chunks(hits, options), problem)
    return _made(hits, chunks, options, sent_text, seen=seen, problem=problem)


def _without_doubtful_places(
    chunks: Sequence[Chunk], problem: OpragError
) -> list[Chunk]:
    """The chunks with their problem, and what is known for sure of where they stand."""
    doubtful = getattr(problem, "document", "")
    kind = kind_of(problem)
    return [
        (
            chunk._replace(position=None, span=None, part=None)
            if chunk.document in (doubtful, "")
            else chunk
        )._replace(metadata=with_problem(chunk.metadata, kind, chunk.name))
        for chunk in chunks
    ]


def _made(
    hits: Sequence[Hit],
    chunks: Sequence[Chunk],
    options: ContextOptions,
    sent_text: SentText | None,
    *,
    seen: Seen | None,
    problem: OpragError | None = None,
    brought: Mapping[int, int] = ALONE_RANKS,
) -> Arranged:
    read: list[Chunk] = []
    if seen is not None:
        chunks, read = seen.divided(chunks)
    first = min(brought, default=math.inf)
    own = [chunk for chunk in chunks if chunk.rank < first] if brought else chunks
    best = own if options.top_n is None else _of_best(own, options.top_n)
    left_out = len(best) < len(own)
    if brought:
        kept = {chunk.rank for chunk in best} if left_out else {*brought.values()}
        beside = [c for c in chunks[len(own) :] if brought[c.rank] in kept]
        best = [*best, *beside]
    budget = options.token_budget or options.needed_budget()
    if budget is None:
        read = _before(best, read, used_all=not left_out)
        made = finish(best, options).ranked(brought)
        return Arranged(made, not left_out, hits, options, read, problem)
    filler = BudgetFiller(options, sent_text)
    listed = filler.listed(best, budget, first)
    taken = filler.taken(listed, budget)
    # Segments leave out what is worth nothing; more of the same would not be used.
    used_all = (
        not listed[len(taken) :]
        and all(a.position == b.position for a, b in zip(taken, listed, strict=False))
        and options.selection != "segments"
        and not left_out
    )
    read = _before(taken, read, used_all=used_all)
    made = filler.finished(taken).ranked(brought)
    return Arranged(made, used_all, hits, options, read, problem)


def _of_best(chunks: Sequence[Chunk], top_n: int) -> list[Chunk]:
    """The best chunks, of which each may have come in several slices."""
    ranks = list(dict.fromkeys(chunk.rank for chunk in chunks))[:top_n]
    return [chunk for chunk in chunks if chunk.rank <= ranks[-1]] if ranks else []


def _before(
    taken: Sequence[Chunk], read: list[Chunk], *, used_all: bool
) -> list[Chunk]:
    """What was read of chunks that would have been taken: those before the last."""
    if used_all or not taken:
        return read
    last = max(chunk.rank for chunk in taken)
    return [chunk for chunk in read if chunk.rank <= last]


@dataclass(frozen=True)
class Arranged:
    """What is kept, in reading order, or best first with `order="score"`.

    Together, as the texts are sent and joined by `options.separator`, they take at
    most `options.token_budget` tokens.
    """

    made: Finished
    used_all: bool
    """Whether every chunk was used, so that more could have been: False as soon
    as `top_n` or the budget left one out."""
    hits: Sequence[Hit]
    options: ContextOptions
    read: Sequence[Chunk] = ()
    """What would have been kept, had it not been read before."""
    problem: OpragError | None = None
    """Why the order as retrieved was kept (`on_problem="warn"`); else None."""

    def passages(self) -> list[Passage]:
        """Return the passages. None for no hits."""
        return self.made.passages()

    def results(
        self, make: Callable[[Result], Any], *, rescored: bool = False
    ) -> list[Any]:
        """Return one object of a framework per passage.

        Args:
            make: Makes it.
            rescored: Whether results get scores: from 1 downwards in equal steps, so
                that sorting by them keeps the order.
        """
        hits = {id(hit.source): hit for hit in self.hits}
        passages = self.passages()
        problem = None if self.problem is None else kind_of(self.problem)
        return [
            make(
                Result.of_passage(
                    passage,
                    score=score,
                    whole=self.problem is not None
                    or all(
                        c.metadata is hits[id(c.source)].metadata
                        for c in passage.chunks
                    ),
                    problem=problem,
                    named=self.options.document_key is not None,
                )
            )
            for passage, score in zip(
                passages, scores_of(len(passages), rescored), strict=True
            )
        ]


def prepared_chunks(hits: Sequence[Hit], options: ContextOptions) -> list[Chunk]:
    """Read where hits stand and check it; drop what came twice, or in two versions.

    Args:
        hits: Best first, or as another component handed them out.
        options: Where documents and positions are, and what to do without.

    Returns:
        Chunks best first, ready to be selected.

    Raises:
        MissingDocumentError: See `read_documents`.
        PositionError: See `read_chunks` and `check_positions`.
    """
    chunks, fused = _checked_chunks(hits, options)
    return chunks if fused else _ranked(chunks, options)[0]


def _sound(hits: Sequence[Hit], options: ContextOptions) -> Sequence[Chunk] | None:
    """The same as `prepared_chunks`, where there is nothing to decide."""
    told = options.document_key, options.position_keys
    if told != (None, None) or options.missing_position == "locate" or not hits:
        return None
    # Mostly the first tells: chunks of other splitters have no document key, and
    # results of another component keep the ranks that they have.
    first = hits[0].metadata
    if DOC_KEY not in first or RANK in first:
        return None
    chunks = sound_chunks(hits)
    few = options.selection in EXPANDING and options.top_n is None
    # Where all are looked at, all are made, once.
    return chunks if few or chunks is None else [*chunks]


def _checked_chunks(
    hits: Sequence[Hit], options: ContextOptions, *, alone: bool = True
) -> tuple[list[Chunk], bool]:
    """The chunks of hits, and whether those of several lists were put best first."""
    documents = read_documents(
        hits,
        document_key=options.document_key,
        missing_document=options.missing_document,
        position_keys=options.position_keys,
    )
    chunks = read_chunks(
        hits,
        documents,
        position_keys=options.position_keys,
        missing_position=options.missing_position,
    )
    given = chunks
    if alone and chunks and RANK in chunks[0].metadata:  # mostly the first tells
        chunks = side_by_side(chunks)
    fused = chunks is not given
    chunks = within_one_version(without_duplicates(chunks))
    if options.missing_position == "locate" and (texts := options.source_text()):
        chunks = without_duplicates(find_places(chunks, texts.read))
    else:
        chunks = check_positions(chunks, missing_position=options.missing_position)
    return chunks, fused


def _ranked(
    chunks: list[Chunk], options: ContextOptions
) -> tuple[list[Chunk], dict[int, int]]:
    """The chunks best first, and the rank of each by its place in the list."""
    places = [chunk.rank for chunk in chunks]
    names = [chunk.name for chunk in chunks]
    ranks = written_ranks([chunk.metadata for chunk in chunks], names)
    if ranks is not None:
        ranked = with_lasting_ranks(chunks, ranks, options.document_order)
        if ranked is not chunks:
            return ranked, dict(zip(places, ranks, strict=True))
    return chunks, dict(zip(places, places, strict=True))
