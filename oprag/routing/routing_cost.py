"""Notices, over many questions, that routing costs more than it saves."""

from __future__ import annotations

import threading
import warnings

from oprag.calls import Ledger
from oprag.errors import RoutingCostWarning

_LOCK = threading.Lock()
"""One for all monitors, so that a monitor can be copied and pickled."""


class RoutingCostMonitor:
    """Compares what questions took with what the long context would have taken.

    Routing does not pay when tokens(step 1) + P(declined) · tokens(long context)
    exceeds tokens(long context), in the mean over the questions: then step 1 reads
    too much or declines too often. Money is compared instead of input tokens once
    every question has both costs. It warns once.

    Threads may share one; a chain keeps one for all its questions.

    Args:
        min_questions: Questions before it judges. A single one that is routed on
            always costs more, so a few say nothing.
    """

    def __init__(self, min_questions: int = 20) -> None:
        self.min_questions = min_questions
        self.questions = 0
        """Questions whose long-context tokens were known."""
        self.declined = 0
        """Those of them whose first reply declined."""
        self._tokens = self._long_tokens = 0
        self._cost = self._long_cost = 0.0
        self._priced = True
        self._warned = False

    @property
    def share(self) -> float | None:
        """What routing took, as a share of the long context; None before the first.

        In money where every question had both costs, else in input tokens.
        """
        if self._priced and self._long_cost:
            return self._cost / self._long_cost
        return self._tokens / self._long_tokens if self._long_tokens else None

    def observe(self, ledger: Ledger, *, stacklevel: int = 2) -> None:
        """Take a finished question into account.

        Args:
            ledger: Its account. One that does not know the long context's tokens,
                or in which no model was called, is left out.
            stacklevel: Whose line the warning names, as `warnings.warn` counts.

        Warns:
            RoutingCostWarning: Once, when routing has cost more than the long
                context alone would have, over at least `min_questions`.
        """
        message = None
        with _LOCK:
            self._add(ledger)
            share = self.share
            judged = self.questions >= self.min_questions and not self._warned
            if judged and share is not None and share > 1:
                self._warned = True
                message = self._message(share)
        if message:
            warnings.warn(message, RoutingCostWarning, stacklevel=stacklevel)

    def _add(self, ledger: Ledger) -> None:
        called = [entry for entry in ledger.entries if entry.model_calls]
        alone = ledger.long_context_usage
        if alone is None or not called:
            return
        self.questions += 1
        self.declined += called[0].decision == "declined"
        self._tokens += ledger.usage.input_tokens
        self._long_tokens += alone.input_tokens
        cost, long_cost = ledger.cost, ledger.long_context_cost
        if cost is None or long_cost is None:
            self._priced = False
        else:
            self._cost += cost
            self._long_cost += long_cost

    def _message(self, share: float) -> str:
        return (
            f"Over {self.questions} questions routing took {share:.0%} of what the "
            f"full documents alone would have taken; the first rung declined "
            f"{self.declined / self.questions:.0%} of them. Retrieve fewer or better "
            "chunks for the first rung, or send the full documents at once."
        )
