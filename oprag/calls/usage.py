"""Tokens of model calls, and what they cost at the user's prices."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from oprag.errors import InvalidOptionError
from oprag.tokens import TokenCounter

_PER = 1_000_000
_PRICE_PARTS = 3


@dataclass(frozen=True, slots=True)
class TokenUsage:
    """Tokens of one or more model calls."""

    input_tokens: int = 0
    """Tokens of the prompts, those read from a cache included."""
    output_tokens: int = 0
    """Tokens of the replies, reasoning included where the provider bills it."""
    cached_tokens: int = 0
    """Input tokens that the provider read from its prompt cache."""
    estimated: bool = False
    """Whether any of it was counted here instead of reported by the provider."""

    @classmethod
    def counted(
        cls, prompt: str, reply: str, token_counter: TokenCounter
    ) -> TokenUsage:
        """Count what the provider did not report; marked as estimated."""
        return cls(token_counter(prompt), token_counter(reply), estimated=True)

    def __add__(self, other: TokenUsage) -> TokenUsage:
        return TokenUsage(
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            self.cached_tokens + other.cached_tokens,
            self.estimated or other.estimated,
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the figures as plain values."""
        return {
            "input_tokens": self.input_tokens,
            "cached_tokens": self.cached_tokens,
            "output_tokens": self.output_tokens,
            "estimated": self.estimated,
        }


class Price(NamedTuple):
    """Price of a million tokens, in any currency."""

    input: float
    cached_input: float
    output: float

    def cost(self, usage: TokenUsage) -> float:
        """Return what the tokens cost, in that currency."""
        fresh = max(0, usage.input_tokens - usage.cached_tokens)
        return (
            fresh * self.input
            + usage.cached_tokens * self.cached_input
            + usage.output_tokens * self.output
        ) / _PER


def as_prices(prices: Mapping[str, Sequence[float]] | None) -> dict[str, Price]:
    """Read the user's prices: model name → (input, cached input, output).

    Args:
        prices: Per million tokens. None: no prices, so no costs.

    Raises:
        InvalidOptionError: A price is not three numbers of at least 0.
    """
    checked = {}
    for model, parts in (prices or {}).items():
        if not _is_price(parts):
            raise InvalidOptionError(
                f"The price of {model!r} is {parts!r}. It takes three numbers per "
                "million tokens: input, cached input, output.",
                option="prices",
                value=prices,
            )
        checked[model] = Price(*parts)
    return checked


def _is_price(parts: Any) -> bool:
    return (
        isinstance(parts, (list, tuple))
        and len(parts) == _PRICE_PARTS
        and all(isinstance(part, (int, float)) and part >= 0 for part in parts)
    )
