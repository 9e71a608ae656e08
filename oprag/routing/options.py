"""The options of Self-Route, and its steps."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from oprag.calls import CALL_DESCRIPTIONS, PromptSize, as_prices, check_count
from oprag.chunk import Chunk
from oprag.context import ContextOptions, SentText
from oprag.errors import InvalidOptionError, invalid_option
from oprag.routing.declining import Decline, check_decline
from oprag.routing.full_documents import FullContext, Layout, full_context
from oprag.tokens import NamedTokenCounter

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
        InvalidOptionError: There is no rung, one is unknown, or they do not ascend.
    """
    listed = isinstance(rungs, Sequence) and not isinstance(rungs, str)
    made = tuple(map(_rung, rungs)) if listed else ()
    if not made:
        takes = 'It takes a list of one or more, such as ["retrieved", "full"].'
        raise invalid_option("rungs", rungs, takes)
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
    if rung in DEFAULT_RUNGS:
        return Rung(str(rung), full=rung == "full")
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


ROUTE_DESCRIPTIONS = {
    "documents": "Full texts by document name: anything that `document_source` takes. "
    'Needed where a rung is `"full"`. A store is read through the filter of the '
    "search, other texts are given to anyone who asks. If one alone is known to be "
    "there, it is read even where nothing was retrieved.",
    "rungs": "What the model is given to read, in turn, until it answers: "
    '`"retrieved"` (as many chunks as the retriever is set to return, by a count or '
    "a budget of its own; else about 2,000 tokens of them), numbers of tokens, "
    '`"full"`; see `oprag.routing.as_rungs`.',
    "rung_llms": 'Other models, by the rung\'s name: `{"full": long_context_model}`.',
    "decline": 'How a refusal is recognised. `"word"`: the reply begins or ends with '
    "the word *unanswerable*, alone. Or a function from the reply to a bool, such as "
    "`oprag.routing.word_in_reply`, the paper's rule; a stream is then held back "
    "until the reply ends.",
    "prompts": "Prompts in the place of the built-in one: one for all rungs, or "
    "prompts by the rung's name.",
    "max_context_tokens": "Tokens of prompt and answer that the model takes, or one "
    "number by the rung's name; None for what the model says of itself.",
    "order": 'Of what was retrieved: `"document"`, or `"score"`: best first, each '
    "behind its number, as in the paper.",
    **CALL_DESCRIPTIONS,
}
"""Descriptions of the options that Self-Route has in both frameworks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RouteOptions:
    """How questions are routed."""

    rungs: tuple[Rung, ...]
    """As `oprag.routing.as_rungs` gives them."""
    context: ContextOptions
    """Identity, positions, order and the token counter."""
    sent_text: SentText | None = None
    """What the framework sends for a chunk, if not just its text."""
    default_documents: tuple[str, ...] = ()
    """Names of the documents that are read in full if nothing was retrieved."""
    retrieved_tokens: int | None = None
    """Tokens that a rung without a budget reads, but one chunk at least; None: all
    that was retrieved, because somebody chose how many."""
    widened: bool = False
    """Whether the hits come from a retriever with `widen=`."""
    named: bool = True
    """Whether each full document is named in the prompt."""
    full_context: Callable[
        [Layout, Sequence[Chunk], PromptSize, NamedTokenCounter], FullContext
    ] = full_context
    """Cuts full documents that do not fit the window."""


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
) -> tuple[Rung, ...]:
    """Read the rungs, and make sure that all options are possible with them.

    Raises:
        InvalidOptionError: As `as_rungs`; or one is not possible.
    """
    made = as_rungs(rungs)
    check_decline(decline)
    as_prices(prices)
    check_count("answer_tokens", answer_tokens)
    by_rung = {
        "rung_llms": rung_llms,
        "prompts": prompts,
        "max_context_tokens": max_context_tokens,
    }
    names = [rung.name for rung in made]
    for option, given in by_rung.items():
        foreign = [*given] if isinstance(given, Mapping) else []
        foreign = [name for name in foreign if name not in names]
        if foreign:
            message = (
                f"{option} names {foreign!r}, and rungs= has only: {', '.join(names)}."
            )
            raise InvalidOptionError(message, option=option, value=given)
    several = isinstance(max_context_tokens, Mapping)
    for window in max_context_tokens.values() if several else [max_context_tokens]:
        check_count("max_context_tokens", window)
    if rung_llms is not None and not isinstance(rung_llms, Mapping):
        takes = 'It takes models by the name of the rung: {"full": model}.'
        raise invalid_option("rung_llms", rung_llms, takes)
    if documents is None and any(rung.full for rung in made):
        message = (
            '"full" in rungs= needs documents=, the full texts by document name: a '
            "mapping, a function, a folder, or a store that holds them."
        )
        raise InvalidOptionError(message, option="documents", value=None)
    return made
