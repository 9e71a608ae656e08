"""Which chunks are kept: the best `top_n`, and as many as fit a token budget.

Selection always works on the best-first list and never changes its order, so
that cutting drops the least relevant chunk and not the end of the document.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal, TypeAlias

from oprag.chunk import Chunk
from oprag.errors import BudgetTooSmallError

Overflow: TypeAlias = Literal["stop", "skip"]

Selection: TypeAlias = Literal["top_k", "budget", "segments", "expand", "recall"]
"""What decides which text is kept; docs/selection.md compares them."""

EXPANDING = ("expand", "recall")
"""Selections that read what stands beside good chunks; the second merges, too."""

BY_POSITION = ("segments", *EXPANDING)
"""Selections that choose text for a number of tokens, by rank and position."""

_CANDIDATES: dict[str, int] = {"segments": 400, "expand": 1200, "recall": 1200}
"""Chunks to choose from; as many as `benchmarks/recall` was measured with."""


def candidates_for(selection: Selection) -> int | None:
    """Chunks that a store is asked for, for a selection that chooses by position.

    None for those that take chunks in rank order: there, as many are asked for as
    fill the budget.
    """
    return _CANDIDATES.get(selection)


def fill_budget(
    chunks: Sequence[Chunk],
    token_budget: int,
    *,
    cost: Callable[[Chunk], int],
    join_cost: int = 0,
    overflow: Overflow = "stop",
) -> list[Chunk]:
    """Take chunks in the given order while they fit the budget.

    Args:
        chunks: Best first.
        token_budget: Tokens that the chosen chunks may take together.
        cost: Tokens of one chunk as it is sent. Called in order, and with
            `"stop"` for no chunk after the first that does not fit.
        join_cost: Tokens of the separator, for every chunk but the first.
        overflow: `"stop"` at the first chunk that does not fit, so that the
            choice for a small budget is a subset of that for a larger one; or
            `"skip"` it and go on with the next.

    Returns:
        The chosen chunks in the given order, with `token_count` set. Empty only
        when `chunks` is.

    Raises:
        BudgetTooSmallError: With `"stop"` the best chunk alone takes more than
            the budget; with `"skip"` every chunk does.

    Source:
        DOS RAG (arXiv:2506.03989), section 3, stops at the first overflow. It
        does not count separators; here they count, so that the text that is
        sent keeps within the budget.
    """
    kept: list[Chunk] = []
    used = 0
    smallest: int | None = None
    for chunk in chunks:
        tokens = cost(chunk)
        needed = used + tokens + (join_cost if kept else 0)
        if needed <= token_budget:
            kept.append(chunk.with_tokens(tokens))
            used = needed
            continue
        smallest = tokens if smallest is None else min(smallest, tokens)
        if overflow == "stop":
            break
    if chunks and not kept:
        raise too_small(token_budget, smallest or 0)
    return kept


def too_small(token_budget: int, needed: int) -> BudgetTooSmallError:
    """The error for a budget that not even one chunk fits."""
    message = (
        f"token_budget={token_budget} holds no chunk: the smallest that may be used "
        f"takes {needed} tokens as it is sent. Give a larger budget or split into "
        'smaller chunks; overflow="skip" passes over chunks that are too long.'
    )
    return BudgetTooSmallError(message, token_budget=token_budget, needed=needed)
