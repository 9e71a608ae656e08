"""Write the additions of a search to a conversation: new text, a pointer to the rest.

The rule of both adapters for agents that search several times. Each character of a
source is written once; for text further up there is a line that says so.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeVar

from oprag.chunk import Hit, Passage
from oprag.citations import UNKNOWN_DOCUMENT, as_line
from oprag.context import (
    NO_NEIGHBOURS,
    CandidateTail,
    CitationNumbers,
    ContextOptions,
    OrderedContext,
    Seen,
    arrange,
    cite_text,
    render,
)
from oprag.errors import BudgetTooSmallError
from oprag.marks import GAP_MARK, SEE_ABOVE
from oprag.tokens import resolve_token_counter

_T = TypeVar("_T")
_Made = TypeVar("_Made")

NOTHING_FOUND = "No passages were found."
"""The answer of a tool that finds nothing: no model takes an empty message."""

TOO_LONG = "[too long to show: "
"""The beginning of the line if no found passage fits the budget."""

_QUOTED = 60
"""Characters of a text that take the place of its name."""

_FOR_POINTER = 4
"""The line for text above takes at most this part of a budget: a quarter."""


def search_description(*, repeats: bool = True) -> str:
    """Return the description of a search tool, for a model.

    Args:
        repeats: Whether the tool repeats passages that an earlier search gave.
    """
    description = (
        "Searches the documents. Returns passages in the order of their documents, "
        f"each after its source and place; {GAP_MARK} marks text that was left out."
    )
    if not repeats:
        description += " What an earlier search returned is named and not repeated."
    return description


def see_above_line(numbers: Iterable[int]) -> str:
    """Write in which passages further up the reader finds the rest."""
    named = ", ".join(f"[{number}]" for number in sorted(numbers))
    return f"{SEE_ABOVE}: {named}]" if named else f"{SEE_ABOVE}]"


def _name_place(passage: Passage) -> str:
    """Name the place of a passage; quote its beginning if it has no name or place."""
    if passage.citation != UNKNOWN_DOCUMENT:
        return passage.citation
    text = as_line(" ".join(passage.text.split()), None)
    return f'"{text}"' if len(text) <= _QUOTED else f'"{text[:_QUOTED].rstrip()}…"'


@dataclass(frozen=True)
class ToolAnswer(OrderedContext[_T]):
    """The new findings of a search, written for the reader of a conversation."""

    text: str = ""
    """The new passages with their places and gap marks, and a line for those
    further up."""
    shown: Sequence[Passage] = ()
    """The new passages in it."""
    line: str = ""
    """The line for passages further up, or for one too long to show; or nothing."""

    def map(self, make: Callable[[_T], _Made]) -> ToolAnswer[_Made]:
        """Return the same answer with a framework's object for each passage."""
        return replace(self, passages=list(map(make, self.passages)))  # type: ignore[arg-type,return-value]  # of another type


def write_new_passages(
    hits: Sequence[Hit],
    options: ContextOptions,
    seen: Seen,
    neighbours: CandidateTail = NO_NEIGHBOURS,
    numbers: CitationNumbers | None = None,
) -> ToolAnswer[Passage]:
    """Write the text of hits that the reader has not read, within the budget.

    Args:
        hits: Best first, or as another component handed them out.
        options: As for `arrange`. Places and gap marks are always written, and count.
        seen: The text that the reader has read. Not changed: add the passages to it.
        neighbours: As for `arrange`.
        numbers: Those of the conversation. Not changed: add the passages to them.

    Returns:
        The same text for the same arguments. After it comes a line with the numbers of
        the passages above that hold found text. The worst of these are left out if the
        line took more than a quarter of the budget, or more than all of it if nothing
        is new. If the best new text does not fit, others that do are written; if none
        does, a line says so.

    Raises:
        OpragError: See `arrange`; but no `BudgetTooSmallError`.
    """
    with contextlib.suppress(BudgetTooSmallError):
        return _write_within_budget(hits, options, seen, neighbours, numbers)
    counter, budget = resolve_token_counter(options.token_counter), options.token_budget
    apart = replace(options, token_budget=None, selection="budget", merge=False)
    found = arrange(hits, apart, seen=seen)
    long = {
        id(passage.chunks[0].source)
        for passage in found.passages
        if counter(cite_text(len(numbers or ()) + 1, passage)) > (budget or 0)
    }
    with contextlib.suppress(BudgetTooSmallError):
        short = [hit for hit in hits if id(hit.source) not in long]
        evidence = _write_within_budget(short, options, seen, NO_NEIGHBOURS, numbers)
        if evidence.shown:
            return evidence
    best = min(found.passages, key=lambda passage: passage.rank)
    line = f"{TOO_LONG}{_name_place(best)}]"
    return ToolAnswer(**vars(found), text=line, line=line)


def _write_within_budget(
    hits: Sequence[Hit],
    options: ContextOptions,
    seen: Seen,
    neighbours: CandidateTail,
    numbers: CitationNumbers | None,
) -> ToolAnswer[Passage]:
    options = replace(options, citations=True)
    counter, budget = resolve_token_counter(options.token_counter), options.token_budget
    arranging = partial(
        arrange, hits, seen=seen, neighbours=neighbours, numbers=numbers
    )
    arranged = arranging(options)
    above = seen.numbers_of(arranged.seen_before)
    evidence = _write_answer(
        arranged, see_above_line(above) if arranged.seen_before else "", options
    )
    if budget is None or not arranged.seen_before or counter(evidence.text) <= budget:
        return evidence
    most = budget // _FOR_POINTER if evidence.shown else budget
    while above and counter(see_above_line(above)) > most:
        above.pop()
    line = see_above_line(above)
    if not evidence.shown:
        return _write_answer(arranged, line, options)
    left = max(1, budget - counter(options.separator + line))
    with contextlib.suppress(BudgetTooSmallError):
        beside = _write_answer(
            arranging(replace(options, token_budget=left)), line, options
        )
        if counter(beside.text) <= budget:
            return beside
    return _write_answer(arranged, "", options)


def _write_answer(
    arranged: OrderedContext[Passage], line: str, options: ContextOptions
) -> ToolAnswer[Passage]:
    passages, separator = arranged.passages, options.separator
    # If nothing is new, a line has to say so: no model takes an empty message.
    written = render(passages, separator=separator, citations=True) if passages else ""
    text = separator.join(part for part in (written, line) if part)
    return ToolAnswer(**vars(arranged), text=text, shown=passages, line=line)
