"""The usual case in a fifth of the time: chunks that oprag's own splitters made.

Where all chunks have oprag's own keys, none overlaps another, and the budget is
filled by rank, the steps of `assembly.py` come down to a few columns of numbers. No
chunk or passage is built for that. If anything is otherwise the answer is None. Tests
compare the results with those of the steps.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise, repeat
from operator import add, contains, itemgetter, methodcaller, sub
from typing import Any, NamedTuple

from oprag.chunk import Passage
from oprag.context.lasting import handed_out
from oprag.context.options import ContextOptions
from oprag.context.results import (
    Arranged,
    Result,
    place_metadata,
    scores_of,
    written_citation,
    written_ranks,
)
from oprag.metadata import (
    CHAR_END,
    CHAR_SPANS,
    CHAR_START,
    DOC_KEY,
    DOC_VERSION,
    NAMED_BY,
    PART_INDEX,
    TOKEN_COUNT,
    TOKEN_COUNTER,
    UNKNOWN_COUNTER,
    named_by,
    own_name,
    told_counter,
    version_text,
)
from oprag.tokens import (
    SPACE_JOINT,
    NamedTokenCounter,
    added_by_joining,
    joint_counter,
    resolve_token_counter,
)

_VERSION = itemgetter(DOC_VERSION)
_COUNTED_BY = (TOKEN_COUNTER, DOC_VERSION, *NAMED_BY)

HEAD_JOINT = "\n\n"
"""Between what is sent before a text, and the text."""

IN_USE = True
"""For tests, which compare what is made with this and without."""


def _own_name(metadata: Mapping[str, Any]) -> str | None:
    try:
        return named_by(*map(metadata.get, NAMED_BY))
    except TypeError:  # a list is no name
        return own_name(metadata)


class Columns(NamedTuple):
    """Hits, best first, before any of them is made."""

    objects: Sequence[Any]
    """What was retrieved: `Hit.source`."""
    texts: Sequence[str]
    """`Hit.text`."""
    metadatas: Sequence[Mapping[str, Any]]
    """`Hit.metadata`."""
    heads: Callable[[int], Sequence[str] | None] | None = None
    """Tells what is sent before each of so many of the best texts, with `HEAD_JOINT`
    between, and white space at the text's end left out; `""` for nothing, where the
    text is sent as it is. None where it cannot tell. Asked only when there is a
    budget, and it matters. Without `heads` nothing is sent before any text."""


@dataclass(frozen=True)
class InColumns(Arranged):
    """What is kept, in order, as columns."""

    runs: Sequence[Sequence[int]]
    """The chunks of each passage, by their places in the columns: one, unless chunks
    that touch are merged."""
    texts: Sequence[str]
    """The text of each passage."""
    used_all: bool
    """See `Arranged`."""
    columns: Columns
    """What they are chosen from, best first."""
    steps: Callable[[], Arranged]
    """Makes the same with all its passages."""
    written: Sequence[int] | None = None
    """The rank that each of the columns has; None for its place in them."""

    def passages(self) -> list[Passage]:
        """Return the passages."""
        return self.steps().passages()

    def results(
        self, make: Callable[[Result], Any], *, rescored: bool = False
    ) -> list[Any]:
        """Return one object of a framework per passage."""
        (objects, _, metadatas, _), made = self.columns, []
        ranks = list(map(min, self.runs))
        if self.written is not None:
            ranks = list(map(self.written.__getitem__, ranks))
        scores = scores_of(len(ranks), rescored)
        for run, text, rank, score in zip(
            self.runs, self.texts, ranks, scores, strict=True
        ):
            first = metadatas[run[0]]
            span = first[CHAR_START], metadatas[run[-1]][CHAR_END]
            name = _own_name(first) or first[DOC_KEY]
            citation = written_citation(first, span, name)
            if citation is None:
                citation = f"{name}, characters {span[0]}-{span[1]}"
            place = place_metadata(rank, citation, (span,))
            parts, best = [objects[each] for each in run], objects[min(run)]
            result = Result(parts, best, text, first, place, score, name=name)
            made.append(make(result))
        return made


class _Kept(NamedTuple):
    """The first fields of `InColumns`."""

    runs: Sequence[Sequence[int]]
    texts: Sequence[str]
    used_all: bool


class _Line(NamedTuple):
    """All documents laid end to end, the best one first, too far apart to merge."""

    order: Sequence[int]
    """Ranks in reading order."""
    gaps: Sequence[int]
    """Characters between each chunk and the next, in that order; never negative."""
    starts: Sequence[int]
    """Where on the line each chunk begins, by rank."""
    ends: Sequence[int]
    """Where it ends, by rank."""
    documents: Sequence[str]
    """Of which document it is, by rank."""

    def reads_on(self) -> bool:
        """Whether what was given stands in reading order."""
        return list(self.order) == list(range(len(self.order)))


def arranged(
    columns: Columns, options: ContextOptions, steps: Callable[[], Arranged]
) -> InColumns | None:
    """Select, order and join hits, if this is the usual case; else return None.

    Args:
        columns: Of the hits.
        options: See `ContextOptions`.
        steps: What to do where passages are asked for.
    """
    if not IN_USE or not _usual(options):
        return None
    line, lasting = _laid_out(columns, options), written_ranks(columns.metadatas)
    if line is not None and lasting is not None:
        if not handed_out(lasting, line.documents, line.reads_on):
            return None
        if lasting != sorted(lasting):
            columns, lasting = _best_first(columns, lasting), sorted(lasting)
            line = _laid_out(columns, options)
    kept = None if line is None else _kept(columns, line, options)
    return None if kept is None else InColumns(*kept, columns, steps, lasting)


def _best_first(columns: Columns, ranks: Sequence[int]) -> Columns:
    """The columns in the order of ranks that they have."""
    order = sorted(range(len(ranks)), key=ranks.__getitem__)
    heads = columns.heads

    def of_best(count: int) -> Sequence[str] | None:
        found = None if heads is None else heads(len(order))
        return None if found is None else [found[place] for place in order[:count]]

    return Columns(
        [columns.objects[place] for place in order],
        [columns.texts[place] for place in order],
        [columns.metadatas[place] for place in order],
        None if heads is None else of_best,
    )


def _kept(columns: Columns, line: _Line, options: ContextOptions) -> _Kept | None:
    texts = columns.texts
    kept = len(texts) if options.top_n is None else min(options.top_n, len(texts))
    if options.token_budget is None:
        if _mixed(columns, line, kept):
            return None
        return _joined(texts, line, kept, options)
    counter = resolve_token_counter(options.token_counter)
    counts = _stored_counts(columns.metadatas[:kept], counter)
    if counts is None:
        return None
    kept = _fitting(
        counts, options.token_budget, joint_counter(counter, options.separator).tokens
    )
    heads = [] if columns.heads is None else columns.heads(min(kept + 1, len(counts)))
    if heads is None or _mixed(columns, line, kept):
        return None
    return _within_budget(texts, line, counts, heads, options, counter=counter)


def _within_budget(
    texts: Sequence[str],
    line: _Line,
    counts: Sequence[int],
    heads: Sequence[str],
    options: ContextOptions,
    *,
    counter: NamedTokenCounter,
) -> _Kept | None:
    """Choose what fits the budget with what is sent before it."""
    budget, joint = options.token_budget or 0, joint_counter(counter, options.separator)
    added = _added_by_heads(heads, texts, counts, counter) if any(heads) else []
    kept = _fitting(list(map(add, counts, added)) or counts, budget, joint.tokens)
    # White space that is not sent can leave room for more than were asked for.
    more = kept == len(added) < len(counts)
    found = _joined(texts, line, kept, options)
    if found is None or more or (added and not _merge_behind_heads(texts, found.runs)):
        return None
    needed = sum(counts[:kept]) + _glued(texts, found.runs, counter)
    parts = found.texts
    if added:
        firsts = [run[0] for run in found.runs]
        needed += sum([added[rank] for rank in firsts])
        parts = list(map(sent_behind, [heads[rank] for rank in firsts], parts))
    needed += joint.between(parts)
    return found if needed <= budget else None


def _merge_behind_heads(texts: Sequence[str], runs: Sequence[Sequence[int]]) -> bool:
    """Whether what a head adds is the same for a text alone and with others joined.

    White space at the end of a text is not sent where it is the end; and a text without
    a place to tell its ends apart is read together with what is on both sides.
    """
    merged = [run for run in runs if len(run) > 1]
    return all(SPACE_JOINT.search(texts[run[0]]) for run in merged) and not any(
        texts[rank][-1].isspace() for run in merged for rank in run
    )


def sent_behind(head: str, text: str) -> str:
    """The text as it is sent behind its head."""
    return f"{head}{HEAD_JOINT}{text}".rstrip() if head else text


def _usual(options: ContextOptions) -> bool:
    return (
        options.selection in {"budget", "top_k"}
        and options.overflow == "stop"
        and options.order == "document"
        and options.document_order == "best_rank"
        and options.gap_mark is None
        and not options.citations
        and options.position_keys is None
        and options.document_key is None
        and options.documents is None
    )


def _laid_out(columns: Columns, options: ContextOptions) -> _Line | None:
    """All documents on one line, if nothing about the places is doubtful."""
    metadatas = columns.metadatas
    # What else may be a mapping may make up values, or keep them.
    if set(map(type, metadatas)) != {dict}:
        return None
    found = _values(metadatas, DOC_KEY, CHAR_START, CHAR_END)
    if found is None:
        return None
    documents, starts, ends = found
    lengths = list(map(len, columns.texts))
    if (
        set(map(type, documents)) != {str}
        or {*map(type, starts), *map(type, ends)} != {int}
        or any(map(contains, metadatas, repeat(PART_INDEX)))
        or any(map(contains, metadatas, repeat(CHAR_SPANS)))
        or min(starts) < 0
        or 0 in lengths
        or list(map(sub, ends, starts)) != lengths
    ):
        return None
    apart = max(ends) + options.max_gap + 1
    # Documents stand by their best chunk: as they come.
    places = {name: apart * i for i, name in enumerate(dict.fromkeys(documents))}
    if "" in places or "None" in places:
        return None
    if len(places) > 1:
        offsets = list(map(places.__getitem__, documents))
        starts = list(map(add, starts, offsets))
        ends = list(map(add, ends, offsets))
    order = sorted(range(len(starts)), key=starts.__getitem__)
    gaps = _gaps(order, starts, ends)
    if min(gaps, default=0) < 0:
        return None
    return _Line(order, gaps, starts, ends, documents)


def _mixed(columns: Columns, line: _Line, kept: int) -> bool:
    """Whether the best are of several texts of a document, as their versions say."""
    metadatas, documents = columns.metadatas[:kept], line.documents[:kept]
    try:
        versions = list(map(_VERSION, metadatas))
    except KeyError:
        return any(map(contains, metadatas, repeat(DOC_VERSION)))
    of_each = dict(zip(documents, versions, strict=False))
    if list(map(of_each.__getitem__, documents)) == versions:
        return False
    texts = {*zip(documents, map(version_text, versions), strict=True)}
    return len(texts) > len(of_each)


def _gaps(
    order: Sequence[int], starts: Sequence[int], ends: Sequence[int]
) -> list[int]:
    """Characters between each chunk and the next; negative where they overlap."""
    following = map(starts.__getitem__, order[1:])
    return list(map(sub, following, map(ends.__getitem__, order)))


def _values(
    metadatas: Sequence[Mapping[str, Any]], *keys: str
) -> list[list[Any]] | None:
    """The values of some keys; None where one is missing."""
    try:
        return [list(map(itemgetter(key), metadatas)) for key in keys]
    except KeyError:
        return None


def _stored_counts(
    metadatas: Sequence[Mapping[str, Any]], counter: NamedTokenCounter
) -> Sequence[int] | None:
    # With others what joints add is not known.
    if not counter.name or counter.additive_at is None:
        return None
    found = _values(metadatas, TOKEN_COUNT)
    if found is None or _counters(metadatas) != {counter.name}:
        return None
    (counts,) = found
    return counts if set(map(type, counts)) == {int} and min(counts) >= 0 else None


def _counters(metadatas: Sequence[Mapping[str, Any]]) -> set[Any] | None:
    """`counter_of` each; None where there is more than can be told here."""
    columns = [map(methodcaller("get", key), metadatas) for key in _COUNTED_BY]
    try:
        facts = {*zip(*columns, strict=True)}
        return {
            told_counter(key, named_by(uri, key, *files), version)
            if written is None
            else written
            for written, version, uri, key, *files in facts
        } - {UNKNOWN_COUNTER}
    except TypeError:  # a list is none of these
        return None


def _added_by_heads(
    heads: Sequence[str],
    texts: Sequence[str],
    counts: Sequence[int],
    counter: NamedTokenCounter,
) -> list[int]:
    """What the heads add to the tokens of each text."""
    of_head = {head: counter(head) for head in dict.fromkeys(heads)}
    joint = joint_counter(counter, HEAD_JOINT)
    added = []
    for head, text, tokens, joined in zip(
        heads, texts, counts, joint.known(heads, texts[: len(heads)]), strict=False
    ):
        if not head:
            added.append(0)
        elif text[-1].isspace():
            added.append(counter(sent_behind(head, text)) - tokens)
        else:
            more = joint(head, text) if joined is None else joined
            added.append(of_head[head] + more)
    return added


def _fitting(costs: Sequence[int], budget: int, join_cost: int) -> int:
    """How many of the best fit; see `fill_budget`."""
    used = -join_cost
    for number, tokens in enumerate(costs):
        used += tokens + join_cost
        if used > budget:
            return number
    return len(costs)


def _joined(
    texts: Sequence[str], line: _Line, kept: int, options: ContextOptions
) -> _Kept | None:
    """What is kept, in order; merged, if at all, where chunks touch.

    None where nothing is kept, or a small gap would have to be filled.
    """
    if not kept:
        return None
    order, used_all = line.order, kept == len(texts)
    if not used_all:
        order = [rank for rank in order if rank < kept]
    if not options.merge:
        apart = list(map(texts.__getitem__, order))
        return _Kept(list(zip(order)), apart, used_all)
    gaps = line.gaps if used_all else _gaps(order, line.starts, line.ends)
    if any(0 < gap <= options.max_gap for gap in set(gaps)):
        return None
    breaks = [place for place, gap in enumerate(gaps, start=1) if gap]
    runs = [order[first:last] for first, last in pairwise([0, *breaks, kept])]
    joined = [
        "".join([texts[rank] for rank in run]) if len(run) > 1 else texts[run[0]]
        for run in runs
    ]
    return _Kept(runs, joined, used_all)


def _glued(
    texts: Sequence[str], runs: Sequence[Sequence[int]], counter: NamedTokenCounter
) -> int:
    """What joining the texts of each passage adds to their tokens."""
    merged = [run for run in runs if len(run) > 1]
    ordered = [texts[rank] for run in merged for rank in run]
    firsts = {0, *accumulate(map(len, merged))}
    inside = [place for place in range(1, len(ordered)) if place not in firsts]
    joint = joint_counter(counter, "")
    known: list[int | None] = [0] * len(ordered)  # nothing between two passages
    befores, behinds = [ordered[i - 1] for i in inside], [ordered[i] for i in inside]
    for place, added in zip(inside, joint.known(befores, behinds), strict=True):
        known[place - 1] = added
    return added_by_joining(ordered, [joint] * len(known), known) if merged else 0
