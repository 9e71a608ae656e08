"""The options of Self-Route, and its steps."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from oprag.calls import Decline, as_prices
from oprag.context import ContextOptions, SentText, check_option
from oprag.documents import DocumentSource
from oprag.errors import InvalidOptionError, invalid_option, named

DEFAULT_RUNGS = ("retrieved", "full")
"""The two steps of the paper."""

FIRST_TOKENS = 2_000
"""Tokens that a step reads where nobody says how much: the paper has 5 chunks of 300
words, which are about as many."""


@dataclass(frozen=True, slots=True)
class Rung:
    """One step: how much context the model is given."""

    name: str
    """Its name in the route and in the usage."""
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
        InvalidOptionError: There is no rung, one is unknown, or they do not ascend.
    """
    listed = isinstance(rungs, Sequence) and not isinstance(rungs, str)
    made = tuple(map(_rung, rungs)) if listed else ()
    known = tuple(filter(None, made))
    heights = [float("inf") if r.full else r.token_budget or 0 for r in known]
    once = len({str(rung.name) for rung in known}) == len(known)
    if not known or known != made or heights != sorted(set(heights)) or not once:
        takes = (
            'It takes a list of "retrieved", token budgets from small to large, and '
            '"full", in this order, one of them at least, each name once.'
        )
        raise invalid_option("rungs", rungs, takes)
    return known


def _rung(rung: Any) -> Rung | None:
    if rung in DEFAULT_RUNGS:
        return Rung(str(rung), full=rung == "full")
    if type(rung) is int:
        rung = Rung(str(rung), token_budget=rung)
    budget = rung.token_budget if isinstance(rung, Rung) else 0
    return rung if budget is None or (type(budget) is int and budget > 0) else None


def tokens_to_retrieve(rungs: Sequence[Rung]) -> int | None:
    """Return the tokens of chunks that the largest step reads; None if none does."""
    read = [rung.token_budget or FIRST_TOKENS for rung in rungs if not rung.full]
    return max(read, default=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class RouteOptions:
    """The options of a route."""

    rungs: tuple[Rung, ...]
    """As `oprag.routing.as_rungs` gives them."""
    context: ContextOptions
    """Identity, positions, order and the token counter."""
    sent_text: SentText | None = None
    """The text that the framework sends for a chunk, if not just its own."""
    fills: bool = False
    """Whether nobody chose how many chunks are retrieved: a rung without a budget then
    reads `FIRST_TOKENS` of them, but one chunk at least."""
    source: DocumentSource | None = None
    """The full texts. A hit whose file is there, and not its id, is of that file."""
    named: bool = True
    """Whether each full document is named in the prompt."""
    cut: Callable[..., Any] | None = None
    """Cuts full documents that do not fit the window; None for `largest_selection`."""


def no_tools(option: str, model: Any) -> InvalidOptionError:
    """Return the error for a model that cannot decline by a tool."""
    message = (
        f'decline="tool" needs a model that calls tools, and {option}= is '
        f'{named(model)} that takes none. Give decline="word", which all models can.'
    )
    return InvalidOptionError(message, option="decline", value="tool")


def check_route(
    rungs: Sequence[str | int | Rung],
    *,
    documents: Any,
    rung_llms: Any,
    decline: Decline,
    prompts: Any,
    max_context_tokens: Any,
    answer_tokens: int | None,
    prices: Any,
    **_: Any,
) -> tuple[Rung, ...]:
    """Read the rungs, and make sure that all options are possible with them.

    Raises:
        InvalidOptionError: As `as_rungs`; or one is not possible.
    """
    made = as_rungs(rungs)
    sync = callable(decline) and not inspect.iscoroutinefunction(decline)
    if decline not in ("word", "tool") and not sync:
        takes = 'It takes "word", "tool", or a function of the reply to a bool.'
        raise invalid_option("decline", decline, takes)
    as_prices(prices)
    check_option("answer_tokens", answer_tokens)
    names = [rung.name for rung in made]
    if not isinstance(rung_llms or {}, Mapping):
        takes = 'It takes models by the name of the rung: {"full": model}.'
        raise invalid_option("rung_llms", rung_llms, takes)
    several = {"rung_llms": rung_llms, "prompts": prompts}
    several["max_context_tokens"] = windows = max_context_tokens
    for option, given in several.items():
        for name in given if isinstance(given, Mapping) else ():
            if name not in names:
                message = f"{option} names {name!r}, rungs= only {', '.join(names)}."
                raise InvalidOptionError(message, option=option, value=given)
    for window in windows.values() if isinstance(windows, Mapping) else [windows]:
        check_option("max_context_tokens", window)
    if documents is None and any(rung.full for rung in made):
        message = (
            '"full" in rungs= needs documents=, the full texts by document name: a '
            "mapping, a function, a folder, or a store that holds them."
        )
        raise InvalidOptionError(message, option="documents", value=None)
    return made
