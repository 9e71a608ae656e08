"""How many chunks are asked for, and which are kept: as many as fit a token budget.

The frameworks fetch 4 (LangChain) or 2 (LlamaIndex) chunks by default, which would
starve any budget. What comes is best first, and stays so while it is chosen: cutting
drops the least relevant chunk and not the end of the document. Without I/O: the
adapters do the asking, sync or async.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Literal, TypeAlias

from oprag.chunk import Chunk, Hit
from oprag.errors import BudgetTooSmallError

Selection: TypeAlias = Literal["budget", "recall"]
"""What decides which text is kept; docs/selection.md compares them."""

_CANDIDATES = 1200
"""Chunks to choose from; as many as `benchmarks/recall` was measured with."""
LONG_TOKEN = 8
"""Characters of a token in the longest words: full texts are read on so far."""
_SHORT_CHUNK = 64
"""Tokens that a short chunk has: half of OP-RAG's 128."""
_LEAST = 16
_FILLING_HITS = 20
"""Hits at first where their neighbours fill the budget."""
_COMPETING_HITS = 40
"""The same where text is chosen by position: neighbours may come before hits."""
_GROWTH = 2
_PER_UNIT = 8
"""Chunks of a unit of 4,000 tokens, at 512 each."""


def candidates_for(selection: Selection) -> int | None:
    """Return how many chunks `"recall"` asks a store for, at least.

    None for `"budget"`: there, as many are asked for as fill it.
    """
    return _CANDIDATES if selection == "recall" else None


def fill_budget(
    chunks: Sequence[Chunk],
    token_budget: int,
    *,
    cost: Callable[[Chunk], int],
    reserve: Callable[[Chunk], int] = lambda _: 0,
    join_cost: int = 0,
) -> list[Chunk]:
    """Take chunks in the given order while they fit the budget.

    Args:
        chunks: Best first.
        token_budget: Tokens that the chosen chunks may take together.
        cost: Tokens of one chunk as it is sent. Called in order, up to the first
            chunk that does not fit.
        reserve: Tokens to leave room for besides, of one chunk.
        join_cost: Tokens of the separator, for every chunk but the first.

    Returns:
        The chosen chunks in the given order, with `token_count` set: all before the
        first that does not fit, so that the choice for a small budget is a subset
        of that for a larger one. Empty only when `chunks` is.

    Raises:
        BudgetTooSmallError: The best chunk alone takes more than the budget.

    Source:
        DOS RAG (arXiv:2506.03989), section 3, stops at the first overflow. It
        does not count separators; here they count, so that the text that is
        sent keeps within the budget.
    """
    kept: list[Chunk] = []
    used = 0
    for chunk in chunks:
        tokens = cost(chunk)
        room = tokens + reserve(chunk)
        needed = used + room + (join_cost if kept else 0)
        if needed > token_budget:
            if not kept:
                raise too_small(token_budget, needed)
            break
        kept.append(counted(chunk, tokens))
        used = needed
    return kept


def counted(chunk: Chunk, token_count: int) -> Chunk:
    """Return the same chunk with its tokens counted."""
    return Chunk(*chunk[:7], token_count, *chunk[8:])


def too_small(token_budget: int, needed: int) -> BudgetTooSmallError:
    """The error for a budget that not even one chunk fits."""
    message = (
        f"token_budget={token_budget} holds no chunk: the best takes {needed} tokens "
        "as it is sent. Give a larger budget, or split into smaller chunks."
    )
    return BudgetTooSmallError(message, token_budget=token_budget, needed=needed)


class FetchPlan:
    """Asks for as many chunks as would fill the budget, then for twice as many.

    Args:
        token_budget: Tokens to fill; at least 1.
        candidates: Chunks to ask for at least, so that there is something to choose
            from (`candidates_for`); None for none beside what fills the budget.
        widen: Neighbours that are read beside each hit, see `oprag.context.Widening`.
            Fewer hits fill the budget then.

    Example:
        >>> plan = FetchPlan(token_budget=8_192)
        >>> plan.k
        128
        >>> hits = [Hit(str(number), {"source": "a"}) for number in range(150)]
        >>> plan.wants_more(lambda: hits[:128], returned=128, used_all=True)
        True
        >>> plan.k
        256
        >>> plan.wants_more(lambda: hits, returned=150, used_all=True)  # no more there
        False
    """

    def __init__(
        self,
        token_budget: int,
        candidates: int | None = None,
        widen: int | Literal["fill"] | None = None,
    ) -> None:
        if widen == "fill":
            self.k = _COMPETING_HITS if candidates else _FILLING_HITS
        else:
            fills = -(-token_budget // (_SHORT_CHUNK * (1 + 2 * (widen or 0))))
            self.k = max(_LEAST, fills, 0 if widen else candidates or 0)
        """Chunks to ask for next."""
        self.exhausted = False
        """Whether the store gave fewer chunks than it was asked for, or only such as
        it had given before."""
        self._distinct = 0

    @classmethod
    def beginning_with(cls, k: int) -> FetchPlan:
        """Return a plan that first asks for `k` chunks, whatever they are to fill."""
        plan = cls(token_budget=1)
        plan.k = k
        return plan

    def wants_more(
        self, hits: Callable[[], Iterable[Hit]], *, returned: int, used_all: bool
    ) -> bool:
        """Whether to ask again, now for `k` chunks (which this doubles).

        Args:
            hits: Makes what the store gave for the last `k`; called only where that
                matters. Some stores give the same again, as often as they are asked.
            returned: How many these are.
            used_all: Whether all of them fitted the budget.
        """
        self.exhausted = returned < self.k
        if self.exhausted or not used_all:
            return False
        distinct = len(
            {(h.text, h.document, repr(h.metadata), h.offsets) for h in hits()}
        )
        self.exhausted = distinct <= self._distinct
        if self.exhausted:
            return False
        self._distinct = distinct
        self.k *= _GROWTH
        return True


def chunks_for_units(k: int) -> int:
    """How many chunks to ask for first, so that they are of `k` long units."""
    return max(_LEAST, _PER_UNIT * k)
