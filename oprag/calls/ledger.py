"""The usage of one answer: tokens, calls, seconds and money, step by step."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from oprag.calls.usage import TokenUsage, as_prices

_NO_TOKENS = TokenUsage()

RungDecision: TypeAlias = Literal["answered", "declined", "skipped", "failed"]


@dataclass(frozen=True, slots=True)
class RungEntry:
    """What happened at one step."""

    rung: str
    """The step's name."""
    decision: RungDecision
    """`"skipped"` without a model call; `"failed"` when the model gave no reply."""
    usage: TokenUsage = _NO_TOKENS
    """Tokens of all its model calls."""
    model: str | None = None
    """The model's name, as the prices name it; None when unknown."""
    model_calls: int = 0
    """Calls that were made, retries by the client not included."""
    seconds: float = 0.0
    """Time from sending to the end of the reply."""
    note: str | None = None
    """Why it was skipped, how it was cut, or that the window is unknown."""
    whole: bool = False
    """Whether it sent the whole documents."""


class Ledger:
    """The usage of one question, step by step.

    Args:
        prices: As `as_prices` takes them.
        on_entry: Called with each entry, as soon as it is known; None for nothing.

    Raises:
        InvalidOptionError: As `as_prices` raises it.
    """

    def __init__(
        self,
        prices: Mapping[str, Sequence[float]] | None = None,
        *,
        on_entry: Callable[[RungEntry], None] | None = None,
    ) -> None:
        self._prices = as_prices(prices)
        self._entries: list[RungEntry] = []
        self._on_entry = on_entry

    @property
    def entries(self) -> tuple[RungEntry, ...]:
        """The steps so far, in the order in which they were tried."""
        return tuple(self._entries)

    def record(self, entry: RungEntry) -> None:
        """Add what happened at a step."""
        self._entries.append(entry)
        if self._on_entry is not None:
            self._on_entry(entry)

    @property
    def usage(self) -> TokenUsage:
        """All tokens of all steps."""
        return sum((entry.usage for entry in self._entries), _NO_TOKENS)

    @property
    def cost(self) -> float | None:
        """What all steps cost; None when the price of a model is not known."""
        costs = [self._cost(entry) for entry in self._entries if entry.model_calls]
        known = [cost for cost in costs if cost is not None]
        return sum(known) if self._prices and len(known) == len(costs) else None

    def to_dict(self) -> dict[str, Any]:
        """Return the usage as plain values, fit for JSON.

        Returns:
            `rungs` (a list), the totals `input_tokens`, `cached_tokens`,
            `output_tokens`, `estimated`, `model_calls`, `seconds`, `cost`.
        """
        return {
            "rungs": [self._entry_dict(entry) for entry in self._entries],
            **self.usage.to_dict(),
            "model_calls": sum(entry.model_calls for entry in self._entries),
            "seconds": sum(entry.seconds for entry in self._entries),
            "cost": self.cost,
        }

    def _cost(self, entry: RungEntry) -> float | None:
        price = self._prices.get(entry.model or "")
        return price.cost(entry.usage) if price else None

    def _entry_dict(self, entry: RungEntry) -> dict[str, Any]:
        return {
            "rung": entry.rung,
            "decision": entry.decision,
            "model": entry.model,
            **entry.usage.to_dict(),
            "model_calls": entry.model_calls,
            "seconds": entry.seconds,
            "cost": self._cost(entry) if entry.model_calls else 0.0,
            "note": entry.note,
        }
