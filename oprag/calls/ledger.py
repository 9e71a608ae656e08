"""The usage of one answer: tokens, calls, seconds and money, step by step."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from math import inf
from typing import Any, Literal, NamedTuple, TypeAlias

from oprag.errors import InvalidOptionError, invalid_option, safe_repr


@dataclass(frozen=True, slots=True)
class TokenUsage:
    """Tokens of one or more model calls."""

    input_tokens: int = 0
    """Tokens of the prompts, those read from a cache included."""
    output_tokens: int = 0
    """Tokens of the replies, reasoning included if the provider bills it."""
    cached_tokens: int = 0
    """Input tokens that the provider read from its prompt cache."""
    estimated: bool = False
    """Whether any of it was counted here instead of reported by the provider."""

    @classmethod
    def reported(cls, usage: Mapping[str, Any]) -> TokenUsage:
        """Read reported usage in the form of LangChain's `UsageMetadata`."""
        cached = (usage.get("input_token_details") or {}).get("cache_read")
        return cls(usage["input_tokens"], usage["output_tokens"], cached or 0)

    def __add__(self, other: TokenUsage) -> TokenUsage:
        return TokenUsage(
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            self.cached_tokens + other.cached_tokens,
            self.estimated or other.estimated,
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the figures as plain values."""
        return asdict(self)


class Price(NamedTuple):
    """Price of a million tokens, in any currency."""

    input: float
    cached_input: float
    output: float

    def cost(self, usage: TokenUsage) -> float:
        """Return the cost of the tokens, in that currency."""
        fresh = max(0, usage.input_tokens - usage.cached_tokens)
        return (
            fresh * self.input
            + usage.cached_tokens * self.cached_input
            + usage.output_tokens * self.output
        ) / 1_000_000


def read_prices(prices: Mapping[str, Sequence[float]] | None) -> dict[str, Price]:
    """Read the user's prices: model name → (input, cached input, output).

    Args:
        prices: Per million tokens. None: no prices, so no costs.

    Raises:
        InvalidOptionError: A price is not three numbers of at least 0.
    """
    if not isinstance(prices or {}, Mapping):
        takes = "It takes prices by model: {name: (input, cached input, output)}."
        raise invalid_option("prices", prices, takes)
    checked = {}
    for model, parts in (prices or {}).items():
        listed = parts if isinstance(parts, (list, tuple)) else ()
        sound = [p for p in listed if type(p) in (int, float) and 0 <= p < inf]
        if not len(sound) == len(listed) == len(Price._fields):
            message = (
                f"The price of {model!r} is {safe_repr(parts)}. It takes three "
                "numbers, for a million tokens each: (input, cached input, output)."
            )
            raise InvalidOptionError(message, option="prices", value=prices)
        checked[model] = Price(*parts)
    return checked


_NO_TOKENS = TokenUsage()
UNKNOWN_TOKENS = TokenUsage(estimated=True)
"""The usage of a call that failed before any of its reply came."""

StepDecision: TypeAlias = Literal["answered", "declined", "skipped", "failed"]


@dataclass(frozen=True, slots=True)
class StepEntry:
    """A record of one step."""

    step: str
    """The step's name."""
    decision: StepDecision
    """`"skipped"` without a model call; `"failed"` when the model gave no reply, an
    empty one, or a call of a tool that nobody carries out."""
    usage: TokenUsage = _NO_TOKENS
    """Tokens of all its model calls."""
    model: str | None = None
    """The model's name, as the prices name it; None when unknown."""
    seconds: float = 0.0
    """Time from sending to the end of the reply."""
    finish: str | None = None
    """How the reply ended, if not normally; see `Reply`."""
    note: str | None = None
    """Why it was skipped, that it was cut, or that the window is unknown."""


class Ledger:
    """The usage of one question, step by step."""

    def __init__(self, prices: Mapping[str, Sequence[float]] | None = None) -> None:
        self._prices = read_prices(prices)
        self.entries: list[StepEntry] = []
        """The steps so far, in the order in which they were tried."""
        self.reply_so_far: Callable[[], Any] | None = None
        """Returns the reply so far of the call under way; None between calls."""

    def record(self, step: str, decision: StepDecision, **facts: Any) -> None:
        """Add the outcome of a step; see `StepEntry`."""
        self.entries.append(StepEntry(step, decision, **facts))
        self.reply_so_far = None

    @property
    def usage(self) -> TokenUsage:
        """All tokens of all steps."""
        return sum((entry.usage for entry in self.entries), _NO_TOKENS)

    def to_dict(self) -> dict[str, Any]:
        """Return the usage as plain values, fit for JSON.

        Returns:
            `steps` (a list), the totals `input_tokens`, `cached_tokens`,
            `output_tokens`, `estimated`, `model_calls` (retries by the client not
            included), `seconds`, `cost` (None if a price is unknown, or a call failed).
        """
        steps = [*map(self._row, self.entries)]
        costs = [row["cost"] for row in steps if row["model_calls"]]
        return {
            "steps": steps,
            **self.usage.to_dict(),
            "model_calls": len(costs),
            "seconds": sum(entry.seconds for entry in self.entries),
            "cost": sum(costs) if self._prices and None not in costs else None,
        }

    def _row(self, entry: StepEntry) -> dict[str, Any]:
        row = asdict(entry)
        usage, called = row.pop("usage"), entry.decision != "skipped"
        price = self._prices.get(entry.model or "")
        known = entry.usage != UNKNOWN_TOKENS
        cost = price.cost(entry.usage) if price and known else None
        counted = {"model_calls": int(called), "cost": cost if called else 0.0}
        return {**row, **usage, **counted}
