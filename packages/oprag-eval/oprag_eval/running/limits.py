"""A cap on the spending of a run, kept before each call and not after it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from oprag.calls import Price, TokenUsage
from oprag.errors import ModelCallError
from oprag.tokens import TokenCounter
from oprag_eval.errors import SpendingCapError
from oprag_eval.models import Call, Completion, Model
from oprag_eval.running.run_directory import LineFile, read_lines

_NO_TOKENS = TokenUsage()


class Spending:
    """The account of a run: spent, under way, and its caps.

    Args:
        token_counter: Counts prompts before they are sent.
        max_tokens: Tokens of prompts and replies together; None for no cap.
        max_cost: In the currency of the price; None for no cap.
        price: The price of the model; None when it is not known.
        record: File in which every call is entered, so that the spending of a killed
            run counts when it is resumed. None: none is kept.
    """

    def __init__(
        self,
        token_counter: TokenCounter,
        *,
        max_tokens: int | None = None,
        max_cost: float | None = None,
        price: Price | None = None,
        record: Path | None = None,
    ) -> None:
        self.count = token_counter
        self._max_tokens = max_tokens
        self._max_cost = max_cost
        self._price = price
        self._record = record
        lines = read_lines(record) if record else []
        self.used = sum((TokenUsage(**line) for line in lines), _NO_TOKENS)
        """Tokens of all calls."""
        self.under_way: list[TokenUsage] = []
        """The most that calls not settled yet can take."""
        self.settled = asyncio.Event()
        """Set, and replaced, when a call is settled."""

    @property
    def tokens(self) -> int:
        """Tokens spent."""
        return _tokens(self.used)

    def __str__(self) -> str:
        cost = self._cost(self.used)
        tokens = f"{self.tokens:,} tokens"
        return tokens if cost is None else f"{tokens}, cost {cost:,.4f}"

    def settle(self, usage: TokenUsage) -> None:
        """Enter the tokens of a call, and wake all that wait for it."""
        if usage != _NO_TOKENS:
            self.used += usage
            if self._record is not None:
                with LineFile(self._record) as file:
                    file.add(usage.to_dict())
        self.settled.set()
        self.settled = asyncio.Event()

    def passed(self, wanted: Iterable[TokenUsage]) -> SpendingCapError | None:
        """Return the error of the cap that tokens, added, would pass."""
        together = sum(wanted, self.used)
        for option, cap, of in (
            ("--max-tokens", self._max_tokens, _tokens),
            ("--max-cost", self._max_cost, self._cost),
        ):
            taken, spent = of(together), of(self.used)
            if cap is not None and taken is not None and taken > cap:
                # Not the amount spent: calls that are under way will add to it.
                message = (
                    f"{option} {cap:.10g} could be passed by the next call. What is "
                    "answered is kept: run it again with a higher cap to continue."
                )
                return SpendingCapError(message, cap=cap, spent=spent or 0)
        return None

    def _cost(self, used: TokenUsage) -> float | None:
        return None if self._price is None else self._price.cost(used)


class CappedModel(Model):
    """A model whose calls are counted against a cap.

    If a call does not say how many tokens a reply may have, the limit is
    `longest_reply`, because without a limit no cap would hold.
    """

    def __init__(
        self, model: Model, spending: Spending, *, longest_reply: int = 1024
    ) -> None:
        self.name = model.name
        self._longest_reply = longest_reply
        self._model = model
        self._spending = spending

    async def complete(self, call: Call) -> Completion:
        """Reply, if the cap allows it.

        If the cap allows it only when calls under way take less than they can, it waits
        for them.

        Raises:
            SpendingCapError: A cap could be passed, whatever the calls under way take.
        """
        longest = call.max_output_tokens
        if longest is None:
            longest = self._longest_reply
            call = replace(call, max_output_tokens=longest)
        spending = self._spending
        held = TokenUsage(spending.count(call.sent), longest)
        while spending.passed([*spending.under_way, held]) is not None:
            if (error := spending.passed([held])) is not None:
                raise error
            await spending.settled.wait()
        spending.under_way.append(held)
        used = _NO_TOKENS
        try:
            completion = await self._model.complete(call)
            used = completion.usage
        except ModelCallError as error:
            used = TokenUsage(**error.usage)
            raise
        finally:
            spending.under_way.remove(held)
            spending.settle(used)
        return completion


def _tokens(used: TokenUsage) -> int:
    return used.input_tokens + used.output_tokens
