"""How questions are routed: the options of Self-Route, each alone and all together."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from oprag.calls import (
    CALL_DESCRIPTIONS,
    WindowOverflow,
    as_prices,
    check_count,
    check_window_overflow,
)
from oprag.context import ContextOptions, SentText
from oprag.errors import InvalidOptionError, invalid_option

DEFAULT_RUNGS = ("retrieved", "full")
"""The two steps of the paper."""

FIRST_TOKENS = 2_000
"""Tokens that a step reads where nobody says how much: the paper has 5 chunks of 300
words, which are about as many."""


@dataclass(frozen=True, slots=True)
class Rung:
    """One step: how much context the model is given."""

    name: str
    """What the route and the usage call it."""
    token_budget: int | None = None
    """Tokens of the best chunks in document order; None: no limit of its own."""
    full: bool = False
    """Whether it is the full documents of the retrieved chunks."""


def as_rungs(rungs: Sequence[str | int | Rung]) -> tuple[Rung, ...]:
    """Read a list of rungs: `"retrieved"`, token budgets, `"full"`.

    `["retrieved", "full"]` is the paper's; `[1500, 16000, "full"]` reads more
    each time.

    Args:
        rungs: In the order in which they are tried, each with more context than
            the one before: `"retrieved"` (the chunks as they were retrieved) first,
            then budgets in tokens, ascending, then `"full"`. `Rung`s of one's own
            are taken as they are.

    Returns:
        One `Rung` each; a budget is named by its number.

    Raises:
        InvalidOptionError: There is no rung, one is unknown, two have one name, or
            they do not ascend.
    """
    listed = isinstance(rungs, Sequence) and not isinstance(rungs, str)
    made = tuple(_rung(rung) for rung in rungs) if listed else ()
    if not made:
        takes = 'It takes a list of one or more, such as ["retrieved", "full"].'
        raise invalid_option("rungs", rungs, takes)
    if len({rung.name for rung in made}) < len(made):
        raise invalid_option("rungs", rungs, "Each rung needs a name of its own.")
    for lower, upper in itertools.pairwise(made):
        if _height(lower) >= _height(upper):
            hint = (
                f"{upper.name!r} comes after {lower.name!r} and gives the model no "
                'more to read. Put "retrieved" first, then budgets from small to '
                'large, then "full".'
            )
            raise invalid_option("rungs", rungs, hint)
    return made


def _rung(rung: object) -> Rung:
    if isinstance(rung, Rung):
        return rung
    if rung == "retrieved":
        return Rung("retrieved")
    if rung == "full":
        return Rung("full", full=True)
    if type(rung) is int and rung > 0:
        return Rung(str(rung), token_budget=rung)
    takes = 'A rung is "retrieved", "full", or a token budget of at least 1.'
    raise invalid_option("rungs", rung, takes)


def _height(rung: Rung) -> float:
    return float("inf") if rung.full else rung.token_budget or 0


def tokens_to_retrieve(rungs: Sequence[Rung]) -> int | None:
    """Return the tokens of chunks that the largest step reads; None if none does."""
    read = [rung.token_budget or FIRST_TOKENS for rung in rungs if not rung.full]
    return max(read, default=None)


def only_document(names: Iterable[str]) -> tuple[str, ...]:
    """Return the document to read where nothing was retrieved: one that is alone."""
    found = tuple(itertools.islice(names, 2))
    return found if len(found) == 1 else ()


ROUTE_OPTIONS = (
    *("max_documents", "answer_tokens", "max_context_tokens", "window_overflow"),
    *("prices", "structured_output", "rung_llms"),
)
"""Options of Self-Route that `check_route_option` checks."""

ROUTE_DESCRIPTIONS = {
    "documents": "Full texts by document name: anything that `document_source` takes. "
    'Needed where a rung is `"full"`. A store is read through the filter of the '
    "search, other texts are given to whoever asks. If one alone is known to be there, "
    "it is read even where nothing was retrieved.",
    "rungs": "What the model is given to read, in turn, until it answers: "
    '`"retrieved"` (as many chunks as the retriever was told to return, by a count or '
    "a budget of its own; else about 2,000 tokens of them), numbers of tokens, "
    '`"full"`; see `oprag.routing.as_rungs`.',
    "rung_llms": 'Other models, by the rung\'s name: `{"full": long_context_model}`.',
    "sentinel": "What the model is told to write if it refuses, or several such "
    "words, of which the first stands in the prompts; None for those of "
    "`decline_rules`.",
    "decline_rules": 'How a refusal is recognised. `"lenient"`: a reply of at most two '
    "sentences that only says that nothing was found is one, also without the "
    "sentinel. Or `oprag.routing.DeclineRules`.",
    "structured_output": "Have the model fill in `answerable` and `answer` instead of "
    "writing a sentinel. A streamed answer then comes in one piece.",
    "window_overflow": "When the full documents do not fit the window: "
    '`"order_preserving"` (as much as fits, in document order), `"truncate_middle"` '
    'or `"error"`.',
    "max_documents": "Documents to read in full, of the best; None for all that were "
    "retrieved.",
    "order": 'Of what was retrieved: `"document"`, or `"score"`: best first, each '
    "behind its number, as in the paper.",
    **CALL_DESCRIPTIONS,
}
"""What is said of the options that Self-Route has in both frameworks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RouteOptions:
    """How questions are routed; the same for every question."""

    rungs: tuple[Rung, ...]
    """As `oprag.routing.as_rungs` gives them."""
    context: ContextOptions
    """Identity, positions, order, separators and the token counter."""
    sent_text: SentText | None = None
    """What the framework sends for a chunk, if not just its text."""
    max_documents: int | None = None
    """Documents to read in full, by their best chunk; None for all."""
    default_documents: tuple[str, ...] = ()
    """Names of the documents that are read in full if nothing was retrieved."""
    window_overflow: WindowOverflow = "order_preserving"
    """What to do with documents that do not fit the window."""
    retrieved_tokens: int | None = None
    """Tokens that a rung without a budget reads, but one chunk at least; None: all
    that was retrieved, because its number was chosen by someone."""
    widened: bool = False
    """Whether the hits come as a retriever gave them that widens (`widen=`)."""
    named: bool = True
    """Whether each full document is named in the prompt."""


def check_route_option(option: str, value: Any) -> None:
    """Make sure that an option has a value that is possible by itself.

    Args:
        option: One of `ROUTE_OPTIONS`.
        value: What was given.

    Raises:
        InvalidOptionError: It is not possible.
    """
    if option == "prices":
        as_prices(value)
    elif option == "window_overflow":
        check_window_overflow(value)
    elif option == "structured_output":
        if type(value) is not bool:
            raise invalid_option(option, value, "It takes True or False.")
    elif option == "rung_llms":
        if value is not None and not isinstance(value, Mapping):
            takes = 'It takes models by the name of the rung: {"full": model}.'
            raise invalid_option(option, value, takes)
    else:
        for number in value.values() if isinstance(value, Mapping) else [value]:
            check_count(option, number)


def check_route(
    rungs: Sequence[str | int | Rung],
    *,
    documents: Any,
    rung_llms: Mapping[str, Any] | None,
    max_context_tokens: int | Mapping[str, int] | None,
) -> tuple[Rung, ...]:
    """Read the rungs, and make sure that the options agree with them.

    Args:
        rungs: As `as_rungs` takes them.
        documents: Full texts; None where there are none.
        rung_llms: Models by the rung's name.
        max_context_tokens: A number, or one by the rung's name.

    Raises:
        InvalidOptionError: As `as_rungs`; or they do not agree.
    """
    made = as_rungs(rungs)
    windows = max_context_tokens if isinstance(max_context_tokens, Mapping) else None
    names = [rung.name for rung in made]
    for option, given in (("rung_llms", rung_llms), ("max_context_tokens", windows)):
        foreign = [name for name in given or {} if name not in names]
        if foreign:
            message = (
                f"{option} names {foreign!r}, and rungs= has only: {', '.join(names)}."
            )
            raise InvalidOptionError(message, option=option, value=given)
    if documents is None and any(rung.full for rung in made):
        message = (
            '"full" in rungs= needs documents=: a mapping from document names to full '
            "texts, a function, a folder, or a store that holds them. Without it, give "
            'rungs= without "full".'
        )
        raise InvalidOptionError(message, option="documents", value=None)
    return made
