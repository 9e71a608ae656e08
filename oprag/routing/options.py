"""The options of Self-Route, and its steps."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from oprag.calls import Decline, read_prices
from oprag.chunk import Chunk
from oprag.context import ContextOptions, check_option
from oprag.documents import DocumentSource
from oprag.errors import COUNTS, InvalidOptionError, describe_type, invalid_option

_ON_RETRIEVER = "Set it on the retriever, which finds what the first step reads."
OF_RETRIEVERS = {
    "token_budget": 'Give it as a step: steps=[2000, "full"].',
    **dict.fromkeys((*COUNTS, "top_k", "merge", "selection"), _ON_RETRIEVER),
    **dict.fromkeys(("widen", "bm25", "filter", "filters"), _ON_RETRIEVER),
    **dict.fromkeys(("search_kwargs", "sort_documents"), _ON_RETRIEVER),
    "base_retriever": "Did you mean 'retriever'?",
    "vectorstore": "Did you mean 'retriever'? It may be a store.",
    "separator": "A blank line is written between texts: leave it out.",
    "citations": "No places are written: leave it out.",
}
"""Advice for options of retrievers that are given to Self-Route."""
DEFAULT_STEPS = ("retrieved", "full")
"""The two steps of the paper."""

FIRST_TOKENS = 2_000
"""Tokens that a step reads if nobody says how much: the paper has 5 chunks of 300
words, which are about as many."""


@dataclass(frozen=True, slots=True)
class Step:
    """One step: how much context the model is given."""

    name: str
    """Its name in the route and in the usage."""
    token_budget: int | None = None
    """Tokens of the best chunks in document order; None for no limit of the step."""
    full: bool = False
    """Whether it is the full documents of the retrieved chunks."""


def read_steps(steps: Sequence[str | int | Step]) -> tuple[Step, ...]:
    """Read a list of steps: `"retrieved"`, token budgets, `"full"`.

    `["retrieved", "full"]` is the paper's; `[1500, 16000, "full"]` reads more
    each time.

    Args:
        steps: In the order in which they are tried, each with more context than
            the one before: `"retrieved"` (the chunks as they were retrieved) first,
            then budgets in tokens, ascending, then `"full"`. Your own `Step`s are
            taken unchanged.

    Returns:
        One `Step` each; a budget is named by its number.

    Raises:
        InvalidOptionError: There is no step, one is unknown, or they do not ascend.
    """
    listed = isinstance(steps, Sequence) and not isinstance(steps, str)
    made = tuple(map(_step, steps)) if listed else ()
    known = tuple(filter(None, made))
    heights = [float("inf") if r.full else r.token_budget or 0 for r in known]
    once = len({str(step.name) for step in known}) == len(known)
    if not known or known != made or heights != sorted(set(heights)) or not once:
        takes = (
            'It takes a list of "retrieved", token budgets from small to large, and '
            '"full", in this order, one of them at least, each name once.'
        )
        raise invalid_option("steps", steps, takes)
    return known


def _step(step: Any) -> Step | None:
    if step in DEFAULT_STEPS:
        return Step(str(step), full=step == "full")
    if type(step) is int:
        step = Step(str(step), token_budget=step)
    budget = step.token_budget if isinstance(step, Step) else 0
    return step if budget is None or (type(budget) is int and budget > 0) else None


def tokens_to_retrieve(steps: Sequence[Step]) -> int | None:
    """Return the tokens of chunks that the largest step reads; None if none does."""
    read = [step.token_budget or FIRST_TOKENS for step in steps if not step.full]
    return max(read, default=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class RouteOptions:
    """The options of a route."""

    steps: tuple[Step, ...]
    """As `oprag.routing.read_steps` gives them."""
    context: ContextOptions
    """Identity, positions, order and the token counter."""
    sent_text: Callable[[Chunk, str], str] | None = None
    """The text that the framework sends for a chunk, if not just its own."""
    fills: bool = False
    """Whether nobody chose how many chunks are retrieved: a step without a budget then
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
        f'{describe_type(model)} that takes none. Give decline="word", '
        "which all models can."
    )
    return InvalidOptionError(message, option="decline", value="tool")


def no_text(option: str, model: Any) -> InvalidOptionError:
    """Return the error for a model that gives objects, so that it cannot decline."""
    message = (
        f"{option}= is {describe_type(model)} that gives objects instead of text, as "
        "with_structured_output, as_structured_llm and parsers make them: it cannot "
        "decline. Give the model itself, and let a step behind Self-Route make an "
        "object of the answer."
    )
    return InvalidOptionError(message, option=option, value=model)


def check_route(
    steps: Sequence[str | int | Step],
    *,
    documents: Any,
    step_llms: Any,
    decline: Decline,
    prompts: Any,
    max_context_tokens: Any,
    answer_tokens: int | None,
    prices: Any,
    **_: Any,
) -> tuple[Step, ...]:
    """Read the steps, and make sure that all options are possible with them.

    Raises:
        InvalidOptionError: As `read_steps`; or one is not possible.
    """
    made = read_steps(steps)
    sync = callable(decline) and not inspect.iscoroutinefunction(decline)
    if decline not in ("word", "tool") and not sync:
        takes = 'It takes "word", "tool", or a function of the reply to a bool.'
        raise invalid_option("decline", decline, takes)
    read_prices(prices)
    check_option("answer_tokens", answer_tokens)
    names = [step.name for step in made]
    if not isinstance(step_llms or {}, Mapping):
        takes = 'It takes models by the name of the step: {"full": model}.'
        raise invalid_option("step_llms", step_llms, takes)
    several = {"step_llms": step_llms, "prompts": prompts}
    several["max_context_tokens"] = windows = max_context_tokens
    for option, given in several.items():
        for name in given if isinstance(given, Mapping) else ():
            if name not in names:
                message = f"{option} names {name!r}, steps= only {', '.join(names)}."
                raise InvalidOptionError(message, option=option, value=given)
    for window in windows.values() if isinstance(windows, Mapping) else [windows]:
        check_option("max_context_tokens", window)
    if documents is None and any(step.full for step in made):
        message = (
            '"full" in steps= needs documents=, the full texts by document name: a '
            "mapping, a function, a folder, or a store that holds them."
        )
        raise InvalidOptionError(message, option="documents", value=None)
    return made
