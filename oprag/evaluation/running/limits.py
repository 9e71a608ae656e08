"""A cap on what a run may spend, kept before each call and not after it."""

from __future__ import annotations

import asyncio
import json
import threading
from dataclasses import replace
from pathlib import Path

from oprag.calls import Price, TokenUsage
from oprag.errors import UnreadableFileError
from oprag.evaluation.errors import SpendingCapError
from oprag.evaluation.models import Call, Completion, Model
from oprag.evaluation.safe_files import LineFile, cut_half_line
from oprag.tokens import TokenCounter

_NO_TOKENS = TokenUsage()
_REPLY = 1024
"""Tokens that a reply is taken to have at most, where a call does not say."""


class Spending:
    """What a run has spent, what is under way, and what it may spend.

    Args:
        token_counter: Counts prompts before they are sent.
        max_tokens: Tokens of prompts and replies together; None for no cap.
        max_cost: In the currency of `price`; None for no cap.
        price: Of the model; None when it is not known.
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
        record: Path | None = None,
    ) -> None:
        self.usage = _recorded(record)
        self._under_way = _NO_TOKENS
        self._count = token_counter
        self._max_tokens = max_tokens
        self._max_cost = max_cost
        self._price = price
        self._record = record
        self._lock = threading.Lock()

    @property
    def tokens(self) -> int:
        """Tokens spent."""
        return _tokens(self.usage)

    @property
    def cost(self) -> float | None:
        """Money spent; None without a price."""
        return None if self._price is None else self._price.cost(self.usage)

    def reserve(self, call: Call) -> TokenUsage | None:
        """Keep free what a call can take at most.

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
            passed = self.passed(self.usage + most)
            if passed is not None:
                raise passed
            if self.passed(self.usage + self._under_way + most) is not None:
                return None
            self._under_way += most
        return most

    def settle(self, reserved: TokenUsage, usage: TokenUsage) -> None:
        """Put what a call took in the place of what was kept free for it."""
        with self._lock:
            held = self._under_way
            self._under_way = TokenUsage(
                held.input_tokens - reserved.input_tokens,
                held.output_tokens - reserved.output_tokens,
            )
            self.usage += usage
            if self._record is not None and usage != _NO_TOKENS:
                with LineFile(self._record) as file:
                    file.add(usage.to_dict())

    def passed(self, wanted: TokenUsage) -> SpendingCapError | None:
        """The error of the cap that this would pass; None where it passes none."""
        if self._max_tokens is not None and _tokens(wanted) > self._max_tokens:
            return _reached("max_tokens", self._max_tokens, self.tokens)
        if self._max_cost is None or self._price is None:
            return None
        if self._price.cost(wanted) > self._max_cost:
            spent = self._price.cost(self.usage)
            return _reached("max_cost", self._max_cost, spent)
        return None


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
        self._waiting: list[asyncio.Future[None]] = []

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
            self._spending.settle(reserved, used)
            self._wake()
        return completion

    async def _reserve(self, call: Call) -> TokenUsage:
        while (reserved := self._spending.reserve(call)) is None:
            settled = asyncio.get_running_loop().create_future()
            self._waiting.append(settled)
            await settled
        return reserved

    def _wake(self) -> None:
        """Let all who wait ask again, in the order in which they came."""
        waiting, self._waiting = self._waiting, []
        for settled in waiting:
            if not settled.done():  # it is, where the call was cancelled
                settled.set_result(None)


def _recorded(record: Path | None) -> TokenUsage:
    """Add up the file; a line that a kill cut off was not settled."""
    if record is None or not record.exists():
        return _NO_TOKENS
    cut_half_line(record)
    lines = record.read_text("utf-8", "replace").splitlines()
    try:
        return sum((TokenUsage(**json.loads(line)) for line in lines), _NO_TOKENS)
    except (TypeError, ValueError) as error:
        message = (
            f"{record} is damaged. Remove it; what was spent before then no longer "
            "counts towards a cap."
        )
        raise UnreadableFileError(
            message, path=str(record), reason="is damaged"
        ) from error


def _tokens(usage: TokenUsage) -> int:
    return usage.input_tokens + usage.output_tokens


def _reached(option: str, cap: float, spent: float) -> SpendingCapError:
    # Not what was spent: calls that are under way will add to it.
    message = (
        f"{option}={cap:.10g} could be passed by the next call. What is answered is "
        "kept: run it again with a higher cap to continue."
    )
    return SpendingCapError(message, cap=cap, spent=spent)
