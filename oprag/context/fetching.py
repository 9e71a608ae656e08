"""How many chunks to ask a store for, so that a token budget can be filled.

The frameworks fetch 4 (LangChain) or 2 (LlamaIndex) chunks by default, too few for any
budget. This does no I/O: the adapters call the store, sync or async.
"""

from __future__ import annotations

_SHORT_CHUNK = 64
"""Tokens that a short chunk has: half of OP-RAG's 128."""
_LEAST = 16
_GROWTH = 2
_PER_UNIT = 8
"""Chunks of a unit of 4,000 tokens, at 512 each."""


class FetchPlan:
    """Asks for as many chunks as would fill the budget, then for twice as many.

    Args:
        token_budget: Tokens to fill; at least 1.
        candidates: Chunks to ask for at least, so that there is something to choose
            from (`candidates_for`); None for none beside what fills the budget.

    Example:
        >>> plan = FetchPlan(token_budget=8_192)
        >>> plan.k
        128
        >>> plan.wants_more(returned=128, used_all=True)
        True
        >>> plan.k
        256
        >>> plan.wants_more(returned=150, used_all=True)  # the store has no more
        False
    """

    def __init__(self, token_budget: int, candidates: int | None = None) -> None:
        self.k = max(_LEAST, -(-token_budget // _SHORT_CHUNK), candidates or 0)
        """Chunks to ask for next."""
        self.exhausted = False
        """Whether the store gave fewer chunks than it was asked for."""

    @classmethod
    def beginning_with(cls, k: int) -> FetchPlan:
        """Return a plan that first asks for `k` chunks, whatever they are to fill."""
        plan = cls(token_budget=1)
        plan.k = k
        return plan

    def wants_more(self, *, returned: int, used_all: bool) -> bool:
        """Whether to ask again, now for `k` chunks (which this doubles).

        Args:
            returned: Chunks that the store gave for the last `k`.
            used_all: Whether all of them fitted the budget.
        """
        self.exhausted = returned < self.k
        if self.exhausted or not used_all:
            return False
        self.k *= _GROWTH
        return True


def chunks_for_units(k: int) -> int:
    """How many chunks to ask for first, so that they are of `k` long units."""
    return max(_LEAST, _PER_UNIT * k)


def unfilled_message(
    component: str, token_budget: int, chunks: int, setting: str
) -> str:
    """Return the warning for a budget that the retriever cannot fill.

    Args:
        component: Class name of the oprag component.
        token_budget: The budget, in tokens.
        chunks: Chunks that came.
        setting: What to change, as the user would write it.
    """
    return (
        f"{component}: all {chunks} retrieved chunks fit into token_budget="
        f"{token_budget}, so the retriever, not the budget, decided how much the model "
        f"reads. To let it fetch more: {setting}."
    )
