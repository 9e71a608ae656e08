"""Tokens and money of a run, at the user's prices."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from oprag.calls import Price, TokenUsage
from oprag.errors import invalid_option


class Spending(NamedTuple):
    """What the model calls of some questions took together."""

    usage: TokenUsage
    """The sum over all calls."""
    questions: int
    """Questions that they were made for, at least one."""
    cost: float | None
    """In the currency of the price; None where the user gave no price."""

    @property
    def input_per_question(self) -> float:
        """Mean input tokens: what the papers draw quality against."""
        return self.usage.input_tokens / self.questions

    @property
    def cost_per_question(self) -> float | None:
        """Mean cost; None where the user gave no price."""
        return None if self.cost is None else self.cost / self.questions


def spending(
    usages: Iterable[TokenUsage], *, questions: int, price: Price | None = None
) -> Spending:
    """Add up model calls and price them.

    cost = (fresh input · price of input + cached input · price of cached input +
    output · price of output) / 1,000,000.

    Args:
        usages: One per call; a question may take several, or none.
        questions: How many questions the calls answered.
        price: Per million tokens, in any currency. None: no cost.

    Raises:
        InvalidOptionError: There is no question.
    """
    if questions < 1:
        raise invalid_option("questions", questions, "Means need at least one.")
    total = sum(usages, TokenUsage())
    return Spending(total, questions, None if price is None else price.cost(total))


def token_share(used: int, long_context: int) -> float:
    """Return Self-Route's token share: input tokens used / those of the full documents.

    Args:
        used: Input tokens of all steps, over all questions.
        long_context: Input tokens of the same questions asked with the full
            documents; at least 1.

    Returns:
        0.3839 stands for the 38.39 % of the paper. Over 1 where routing cost more.

    Raises:
        InvalidOptionError: The divisor is not at least 1.

    Source:
        Self-Route (arXiv:2407.16833), section 5: "token %".
    """
    if long_context < 1:
        takes = "It takes at least 1 token."
        raise invalid_option("long_context", long_context, takes)
    return used / long_context
