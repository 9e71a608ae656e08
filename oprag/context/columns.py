"""The usual case at a tenth of the time: chunks that oprag's own splitters made.

Where all chunks have oprag's own keys, none overlaps another, and the budget is
filled by rank, what `assemble` does comes down to a few columns of numbers. No chunk
or passage is built for that. Wherever anything is otherwise the answer is None, and
`assemble` takes over: it alone says what is right, and the tests hold this to it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import accumulate, pairwise, repeat
from operator import add, contains, itemgetter, sub
from typing import Any, NamedTuple

from oprag.context.options import ContextOptions
from oprag.metadata import (
    CHAR_END,
    CHAR_SPANS,
    CHAR_START,
    DOC_KEY,
    PART_INDEX,
    TOKEN_COUNT,
    TOKEN_COUNTER,
)
from oprag.tokens import (
    SPACE_JOINT,
    NamedTokenCounter,
    added_by_joining,
    joint_counter,
    resolve_token_counter,
)

HEAD_JOINT = "\n\n"
"""Between what is sent before a text, and the text."""


class PlainCase(NamedTuple):
    """Passages in reading order."""

    runs: Sequence[Sequence[int]]
    """Ranks of the chunks of each passage: one, unless chunks that touch are merged."""
    texts: Sequence[str]
    """The text of each passage."""
    used_all: bool
    """As in `Assembled`."""


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


def plain_case(
    texts: Sequence[str],
    metadatas: Sequence[Mapping[str, Any]],
    options: ContextOptions,
    *,
    heads: Callable[[int], Sequence[str] | None] | None = None,
) -> PlainCase | None:
    """Select, order and join chunks as `assemble` does, if this is the usual case.

    Args:
        texts: Best first.
        metadatas: One mapping per text.
        options: See `ContextOptions`.
        heads: Tells what is sent before each of so many of the best texts, with
            `HEAD_JOINT` between, and white space at the text's end left out; `""` for
            nothing, where the text is sent as it is. None where it cannot tell.
            Asked only when there is a budget, and it matters. Without `heads`
            nothing is sent before any text.

    Returns:
        What `assemble` would choose, in its order; None where it has to be asked.
    """
    line = _laid_out(texts, metadatas, options) if _plain_options(options) else None
    if line is None:
        return None
    kept = len(texts) if options.top_n is None else min(options.top_n, len(texts))
    if options.token_budget is None:
        return _passages(texts, line, kept, options)
    counter = resolve_token_counter(options.token_counter)
    counts = _stored_counts(metadatas[:kept], counter)
    if counts is None:
        return None
    kept = _fitting(counts, options.token_budget, counter(options.separator))
    before = [] if heads is None else heads(min(kept + 1, len(counts)))
    if before is None:
        return None
    return _within_budget(texts, line, counts, before, options, counter=counter)


def _within_budget(
    texts: Sequence[str],
    line: _Line,
    counts: Sequence[int],
    before: Sequence[str],
    options: ContextOptions,
    *,
    counter: NamedTokenCounter,
) -> PlainCase | None:
    """Choose what fits the budget with what is sent before it."""
    budget, join_cost = options.token_budget or 0, counter(options.separator)
    added = _added_by_heads(before, texts, counts, counter) if any(before) else []
    kept = _fitting(list(map(add, counts, added)) or counts, budget, join_cost)
    # White space that is not sent can leave room for more than were asked for.
    more = kept == len(added) < len(counts)
    found = _passages(texts, line, kept, options)
    if found is None or more or (added and not _merge_behind_heads(texts, found.runs)):
        return None
    needed = sum(counts[:kept]) + _glued(texts, found.runs, counter)
    parts = found.texts
    if added:
        firsts = [run[0] for run in found.runs]
        needed += sum([added[rank] for rank in firsts])
        heads = [before[rank] for rank in firsts]
        parts = list(map(sent_behind, heads, parts))
    needed += joint_counter(counter, options.separator).between(parts)
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


def _laid_out(
    texts: Sequence[str],
    metadatas: Sequence[Mapping[str, Any]],
    options: ContextOptions,
) -> _Line | None:
    """All documents on one line, if nothing about the places is doubtful."""
    columns = _columns(metadatas, DOC_KEY, CHAR_START, CHAR_END)
    if columns is None:
        return None
    documents, starts, ends = columns
    lengths = list(map(len, texts))
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
    order = sorted(range(len(texts)), key=starts.__getitem__)
    gaps = _gaps(order, starts, ends)
    return None if min(gaps, default=0) < 0 else _Line(order, gaps, starts, ends)


def _gaps(
    order: Sequence[int], starts: Sequence[int], ends: Sequence[int]
) -> list[int]:
    """Characters between each chunk and the next; negative where they overlap."""
    following = [starts[rank] for rank in order[1:]]
    return list(map(sub, following, [ends[rank] for rank in order]))


def _columns(
    metadatas: Sequence[Mapping[str, Any]], *keys: str
) -> list[list[Any]] | None:
    """The values of some keys; None where one is missing."""
    # What else may be a mapping may make up values, or keep them.
    if set(map(type, metadatas)) != {dict}:
        return None
    try:
        return [list(map(itemgetter(key), metadatas)) for key in keys]
    except KeyError:
        return None


def _stored_counts(
    metadatas: Sequence[Mapping[str, Any]], counter: NamedTokenCounter
) -> Sequence[int] | None:
    # With others what joints add is not known.
    if not counter.name or not counter.additive_at_spaces:
        return None
    columns = _columns(metadatas, TOKEN_COUNTER, TOKEN_COUNT)
    if columns is None:
        return None
    names, counts = columns
    if names.count(counter.name) != len(names):
        return None
    return counts if set(map(type, counts)) == {int} and min(counts) >= 0 else None


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


def _passages(
    texts: Sequence[str], line: _Line, kept: int, options: ContextOptions
) -> PlainCase | None:
    """What is kept, in order; merged, if at all, where chunks touch.

    None where nothing is kept, or a small gap would have to be filled.
    """
    if not kept:
        return None
    order, used_all = line.order, kept == len(texts)
    if not used_all:
        order = [rank for rank in order if rank < kept]
    if not options.merge:
        return PlainCase(list(zip(order)), [texts[rank] for rank in order], used_all)
    gaps = line.gaps if used_all else _gaps(order, line.starts, line.ends)
    close = {gap for gap in set(gaps) if gap <= options.max_gap}
    if not close <= {0}:
        return None
    breaks = [place for place, gap in enumerate(gaps, start=1) if gap]
    bounds = pairwise([0, *breaks, kept])
    runs = [order[first:last] for first, last in bounds]
    joined = [
        "".join([texts[rank] for rank in run]) if len(run) > 1 else texts[run[0]]
        for run in runs
    ]
    return PlainCase(runs, joined, used_all)


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
