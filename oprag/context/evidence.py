"""Additions of a search to a conversation: new text, and pointers to the rest.

The rule of both adapters for agents that search several times. Each character of a
source is written once; for text further up there is a line that says so.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeVar

from oprag.chunk import Hit, Passage
from oprag.context.assembly import Arranged, arrange
from oprag.context.neighbours import ALONE, Neighbours
from oprag.context.numbers import Numbers
from oprag.context.options import ContextOptions
from oprag.context.passages import merge_neighbours
from oprag.context.seen import Seen
from oprag.context.text import GAP_MARK, cited_text, named_place, pointer, with_pointers
from oprag.errors import BudgetTooSmallError
from oprag.ordering import document_order
from oprag.tokens import resolve_token_counter

_T = TypeVar("_T")

NOTHING_FOUND = "No passages were found."
"""The answer of a tool then: no model takes an empty message."""

_FOR_POINTERS = 4
"""The lines for text above take at most this part of a budget: a quarter."""


def search_description(*, repeats: bool = True) -> str:
    """Return the description of a search tool, for a model.

    Args:
        repeats: Whether the tool gives what an earlier search gave once more.
    """
    description = (
        "Searches the documents. Returns passages in the order of their documents, "
        f"each after its source and place; {GAP_MARK} marks text that was left out."
    )
    if not repeats:
        description += " What an earlier search returned is named and not repeated."
    return description


@dataclass(frozen=True)
class Evidence(Arranged[_T]):
    """The new findings of a search, written for the reader of a conversation."""

    text: str = ""
    """The new passages with their places and gap marks, and a line for each that
    is further up."""
    shown: Sequence[Passage] = ()
    """The new passages in it."""


def gather_evidence(
    hits: Sequence[Hit],
    options: ContextOptions,
    seen: Seen,
    neighbours: Neighbours = ALONE,
    numbers: Numbers | None = None,
) -> Evidence[Passage]:
    """Write what hits hold and the reader has not read, within the budget.

    Args:
        hits: Best first, or as another component handed them out.
        options: As for `arrange`. Places and gap marks are always written, and count.
        seen: What the reader has read. Not changed: add the passages to it.
        neighbours: As for `arrange`.
        numbers: Those of the conversation. Not changed: add the passages to them.

    Returns:
        The same text for the same arguments. Lines for what is above are left out,
        those of the worst first, where they took more than a quarter of the budget; of
        nothing new, where they took more than all of it, but for one. Where the best
        new text does not fit, others that do, and where none does, a line that says so.

    Raises:
        OpragError: See `arrange`; but no `BudgetTooSmallError`.
    """
    with contextlib.suppress(BudgetTooSmallError):
        return _gathered(hits, options, seen, neighbours, numbers)
    counter, budget = resolve_token_counter(options.token_counter), options.token_budget
    apart = replace(options, token_budget=None, selection="budget", merge=False)
    found = arrange(hits, apart, seen=seen)
    long = {
        id(passage.chunks[0].source)
        for passage in found.passages
        if counter(cited_text(1, passage)) > (budget or 0)
    }
    with contextlib.suppress(BudgetTooSmallError):
        short = [hit for hit in hits if id(hit.source) not in long]
        evidence = _gathered(short, options, seen, ALONE, numbers)
        if evidence.shown:
            return evidence
    best = min(found.passages, key=lambda passage: passage.rank)
    return Evidence(**vars(found), text=f"[too long to show: {named_place(best)}]")


def _gathered(
    hits: Sequence[Hit],
    options: ContextOptions,
    seen: Seen,
    neighbours: Neighbours,
    numbers: Numbers | None,
) -> Evidence[Passage]:
    options = replace(options, citations=True)
    counter, budget = resolve_token_counter(options.token_counter), options.token_budget
    arranging = partial(
        arrange, hits, seen=seen, neighbours=neighbours, numbers=numbers
    )
    arranged = arranging(options)
    above = _joined(arranged)
    evidence = _written(arranged, above, options)
    if budget is None or not above or counter(evidence.text) <= budget:
        return evidence
    # Where nothing is new, a line has to say so: no model takes an empty message.
    least, most = (0, budget // _FOR_POINTERS) if evidence.shown else (1, budget)
    above.sort(key=lambda passage: passage.rank)
    while len(above) > least and counter(_lines(above, options)) > most:
        above.pop()
    if evidence.shown:
        left = max(1, budget - counter(_lines(above, options)))
        with contextlib.suppress(BudgetTooSmallError):
            less = replace(options, token_budget=left)
            beside = _written(arranging(less), above, options)
            if counter(beside.text) <= budget:
                return beside
        above = []
    return _written(arranged, above, options)


def _joined(arranged: Arranged[Passage]) -> list[Passage]:
    ordered = document_order(arranged.read)
    passages = merge_neighbours(ordered)
    return list({named_place(passage): passage for passage in passages}.values())


def _lines(above: Sequence[Passage], options: ContextOptions) -> str:
    joint = f"{options.separator}{GAP_MARK}{options.separator}"
    return "".join(joint + pointer(passage) for passage in above)


def _written(
    arranged: Arranged[Passage], above: Sequence[Passage], options: ContextOptions
) -> Evidence[Passage]:
    passages = arranged.passages
    text = with_pointers(
        passages,
        above,
        separator=options.separator,
        in_order=options.order == "document",
    )
    return Evidence(**vars(arranged), text=text, shown=passages)
