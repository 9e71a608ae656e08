"""A cap on what a run may spend, kept before each call and not after it."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

from oprag.calls import Price, TokenUsage
from oprag.errors import UnreadableFileError
from oprag.files import LineFile, cut_half_line
from oprag.tokens import TokenCounter
from oprag_eval.errors import SpendingCapError
from oprag_eval.models import Call, Completion, Model

_NO_TOKENS = TokenUsage()
_NO_PRICES: Mapping[str, Price] = MappingProxyType({})
_REPLY = 1024
"""Tokens that a reply is taken to have at most, where a call does not say."""


class Spending:
    """What a run has spent, what is under way, and what it may spend.

    Args:
        token_counter: Counts prompts before they are sent.
        max_tokens: Tokens of prompts and replies together; None for no cap.
        max_cost: In the currency of `price`; None for no cap.
        price: Of the model; None when it is not known.
        prices: Of other models that take part, by their names.
        record: File that every call is entered in, so that what a killed run had
            spent counts when it is resumed; None: none is kept.
    """

    def __init__(
        self,
        token_counter: TokenCounter,
        *,
        max_tokens: int | None = None,
        max_cost: float | None = None,
        price: Price | None = None,
        prices: Mapping[str, Price] = _NO_PRICES,
        record: Path | None = None,
    ) -> None:
        self._prices = prices
        self._used = _recorded(record)
        self._under_way: dict[str, TokenUsage] = {}
        self._count = token_counter
        self._max_tokens = max_tokens
        self._max_cost = max_cost
        self._price = price
        self._record = record
        self._lock = threading.Lock()
        self.waiting: list[asyncio.Future[None]] = []
        """Calls, of whatever model, that wait until another one is settled."""

    @property
    def usage(self) -> TokenUsage:
        """Everything spent, whatever the model."""
        return sum(self._used.values(), _NO_TOKENS)

    @property
    def tokens(self) -> int:
        """Tokens spent."""
        return _tokens(self.usage)

    @property
    def cost(self) -> float | None:
        """Money spent; None without a price."""
        return self._cost(self._used)

    def reserve(self, call: Call, model: str = "") -> TokenUsage | None:
        """Keep free what a call of a model can take at most.

        Returns:
            What was kept free, for `settle`. None where calls under way may take what
            is left: these mostly take less than they can, so ask again once one of
            them is settled.

        Raises:
            SpendingCapError: With it, a cap could be passed, whatever the calls under
                way take.
        """
        reply = _REPLY if call.max_output_tokens is None else call.max_output_tokens
        most = TokenUsage(self._count(call.prompt), reply)
        with self._lock:
            wanted = _added(self._used, {model: most})
            passed = self.passed(wanted)
            if passed is not None:
                raise passed
            if self.passed(_added(wanted, self._under_way)) is not None:
                return None
            self._under_way = _added(self._under_way, {model: most})
        return most

    def settle(self, reserved: TokenUsage, usage: TokenUsage, model: str = "") -> None:
        """Put what a call took in the place of what was kept free for it."""
        with self._lock:
            held = self._under_way.get(model, _NO_TOKENS)
            self._under_way[model] = less(held, reserved)
            self._used = _added(self._used, {model: usage})
            if self._record is not None and usage != _NO_TOKENS:
                named = {"model": model} if model in self._prices else {}
                with LineFile(self._record) as file:
                    file.add({**usage.to_dict(), **named})

    def passed(self, wanted: Mapping[str, TokenUsage]) -> SpendingCapError | None:
        """The error of the cap that this would pass; None where it passes none.

        Args:
            wanted: Tokens by the model's name; those without a price of their own
                have that of the run's model.
        """
        tokens = sum(map(_tokens, wanted.values()))
        if self._max_tokens is not None and tokens > self._max_tokens:
            return _reached("max_tokens", self._max_tokens, self.tokens)
        cost, spent = self._cost(wanted), self._cost(self._used)
        if self._max_cost is None or cost is None or spent is None:
            return None
        if cost > self._max_cost:
            return _reached("max_cost", self._max_cost, spent)
        return None

    def _cost(self, used: Mapping[str, TokenUsage]) -> float | None:
        if (usual := self._price) is None:
            return None
        return sum(self._prices.get(n, usual).cost(usage) for n, usage in used.items())


class CappedModel(Model):
    """A model whose calls are counted against a cap.

    Args:
        model: Who replies.
        spending: The account.
        longest_reply: Tokens that a reply may have where a call does not say: without
            an end to it no cap would hold.
    """

    def __init__(
        self, model: Model, spending: Spending, *, longest_reply: int = _REPLY
    ) -> None:
        self.name = model.name
        self._longest_reply = longest_reply
        self._model = model
        self._spending = spending

    async def complete(self, call: Call) -> Completion:
        """Reply, if the cap allows it.

        Where it does only if calls under way take less than they can, it waits for
        them.

        Raises:
            SpendingCapError: A cap could be passed.
        """
        if call.max_output_tokens is None:
            call = replace(call, max_output_tokens=self._longest_reply)
        reserved = await self._reserve(call)
        used = _NO_TOKENS
        try:
            completion = await self._model.complete(call)
            used = completion.usage
        finally:
            self._spending.settle(reserved, used, self.name)
            self._wake()
        return completion

    async def _reserve(self, call: Call) -> TokenUsage:
        while (reserved := self._spending.reserve(call, self.name)) is None:
            settled = asyncio.get_running_loop().create_future()
            self._spending.waiting.append(settled)
            await settled
        return reserved

    def _wake(self) -> None:
        """Let all who wait ask again, in the order in which they came."""
        waiting, self._spending.waiting = self._spending.waiting, []
        for settled in waiting:
            if not settled.done():  # it is, where the call was cancelled
                settled.set_result(None)


def _added(
    first: Mapping[str, TokenUsage], second: Mapping[str, TokenUsage]
) -> dict[str, TokenUsage]:
    names = dict.fromkeys([*first, *second])
    return {
        name: first.get(name, _NO_TOKENS) + second.get(name, _NO_TOKENS)
        for name in names
    }


def _recorded(record: Path | None) -> dict[str, TokenUsage]:
    """Add up the file by model; a line that a kill cut off was not settled."""
    used: dict[str, TokenUsage] = {}
    if record is None or not record.exists():
        return used
    cut_half_line(record)
    lines = record.read_text("utf-8", "replace").splitlines()
    try:
        for values in map(json.loads, lines):
            name = values.pop("model", "")
            used = _added(used, {name: TokenUsage(**values)})
    except (AttributeError, TypeError, ValueError) as error:
        message = (
            f"{record} is damaged. Remove it; what was spent before then no longer "
            "counts towards a cap."
        )
        raise UnreadableFileError(
            message, path=str(record), reason="is damaged"
        ) from error
    return used


def less(usage: TokenUsage, other: TokenUsage) -> TokenUsage:
    """Return the tokens of the first without those of the second."""
    return TokenUsage(
        usage.input_tokens - other.input_tokens,
        usage.output_tokens - other.output_tokens,
        usage.cached_tokens - other.cached_tokens,
        estimated=usage.estimated,
    )


def _tokens(usage: TokenUsage) -> int:
    return usage.input_tokens + usage.output_tokens


def _reached(option: str, cap: float, spent: float) -> SpendingCapError:
    # Not what was spent: calls that are under way will add to it.
    message = (
        f"{option}={cap:.10g} could be passed by the next call. What is answered is "
        "kept: run it again with a higher cap to continue."
    )
    return SpendingCapError(message, cap=cap, spent=spent)
