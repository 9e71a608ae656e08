"""Self-Route (arXiv 2407.16833): chunks first, the full documents where they fail."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from oprag.calls import Ledger, WindowOverflow
from oprag.chunk import Hit
from oprag.context import ContextOptions, Order
from oprag.errors import InvalidOptionError
from oprag.evaluation.asking import read_reply
from oprag.evaluation.bench import Bench
from oprag.evaluation.data import Question
from oprag.evaluation.splittings import Splitting, SplitUnit
from oprag.evaluation.system import Attempt, Count, Piece, System
from oprag.evaluation.systems.dialogue import BenchModel
from oprag.evaluation.systems.full_document import REPLY_TOKENS, pieces_of
from oprag.routing import (
    RouteOptions,
    Rung,
    RungContext,
    as_rungs,
    chunks_of_documents,
    route,
)


@dataclass(frozen=True)
class SelfRoute(System):
    """Asks with the best chunks, and climbs while the model declines.

    The steps, the fit to the window and the account are the core's
    (`oprag.routing.route`). The last rung's reply is final.
    """

    name: str
    k: int | None
    """Best chunks that the first rungs choose from; None: all, as far as the token
    budget goes."""
    order: Order
    splitting: Splitting
    rungs: tuple[Rung, ...]
    window_overflow: WindowOverflow
    reserved: int

    @property
    def budgeted(self) -> bool:
        """Whether the first rung takes the run's token budget."""
        return self.k is None and any(rung.name == "retrieved" for rung in self.rungs)

    def settings(self) -> dict[str, Any]:
        """Return what is retrieved, the rungs, and how they meet the window."""
        return {
            "k": self.k,
            "order": self.order,
            "splitting": self.splitting.settings(),
            "rungs": [rung.name for rung in self.rungs],
            "window_overflow": self.window_overflow,
            "reserved": self.reserved,
        }

    async def attempt(
        self, question: Question, budget: int | None, bench: Bench
    ) -> Attempt:
        """Climb the ladder.

        Args:
            question: The question.
            budget: Tokens of the first rung; the full documents have none.
            bench: What it works with.

        Raises:
            BudgetTooSmallError: Not even the best chunk fits.
            ContextWindowError: See `oprag.routing.route`.
        """
        ledger = Ledger()
        options = RouteOptions(
            rungs=self._rungs(budget),
            context=ContextOptions(order=self.order, token_counter=bench.counter),
            default_documents=tuple(question.doc_ids or bench.dataset.documents),
            window_overflow=self.window_overflow,
        )
        hits = bench.ranked(question, self.splitting)[: self.k]
        model = BenchModel(question, bench, self.reserved)
        steps = route(hits, options, model, ledger=ledger)
        routed = await model.carry_out(steps)
        outcome = routed.outcome
        reading = read_reply(outcome.text or "", question, bench.answer_style)
        asked = outcome.rung is not None
        return Attempt(
            prediction=reading.prediction,
            answered=outcome.answered,
            reply=outcome.text or "",
            pieces=_pieces(routed.context),
            context_tokens=bench.counter(routed.context.text),
            route="" if outcome.rung is None else outcome.rung.name,
            long_context_tokens=_long_context_tokens(
                hits, options, model, ledger, bench
            )
            if asked
            else None,
            usage={"answer": ledger.usage},
            calls={"answer": sum(entry.model_calls for entry in ledger.entries)},
        )

    def _rungs(self, budget: int | None) -> tuple[Rung, ...]:
        if not self.budgeted:
            return self.rungs
        return tuple(
            Rung("retrieved", token_budget=budget) if rung.name == "retrieved" else rung
            for rung in self.rungs
        )


def _long_context_tokens(
    hits: Sequence[Hit],
    options: RouteOptions,
    model: BenchModel,
    ledger: Ledger,
    bench: Bench,
) -> int | None:
    """Input tokens of the full documents alone; None where no rung has them.

    Of the call that sent them whole, if there was one, else as they are counted here.
    """
    whole = [entry for entry in ledger.entries if entry.whole]
    if whole:
        return whole[-1].usage.input_tokens
    full = next((rung for rung in options.rungs if rung.full), None)
    if full is None:
        return None
    chunks = chunks_of_documents(hits, options.context)
    names = dict.fromkeys(chunk.name or chunk.document for chunk in chunks)
    known = bench.kept("tokens of full documents", dict[str, int])
    size = model.size(full.name)
    tokens = size.with_context("")
    for name in names or options.default_documents:
        if name not in known:
            known[name] = bench.counter(bench.dataset.document(name).text)
        tokens += known[name]
    return tokens if size.window is None else min(tokens, size.window - size.reserved)


def _pieces(context: RungContext) -> tuple[Piece, ...]:
    if context.excerpts:
        return pieces_of(context.excerpts)
    return tuple(
        Piece(chunk.name or chunk.document, *(chunk.span or (None, None)))
        for chunk in context.chunks
    )


def self_route(
    *,
    name: str = "self-route",
    k: Count | None = 5,
    order: Order = "document",
    unit: SplitUnit = "words",
    size: Count = 300,
    rungs: tuple[str, ...] = ("retrieved", "full"),
    window_overflow: WindowOverflow = "order_preserving",
    reserved: Count = REPLY_TOKENS,
) -> SelfRoute:
    """The paper's two steps: 5 chunks of 300 words, then the full documents.

    Args:
        name: Of the system.
        k: Chunks of the first rung; the paper has 1, 5, 10, 50 and 100. None: what
            fits the run's token budget.
        order: `"document"`, or `"score"` as in the paper: best first, each chunk
            behind its number.
        unit: Of the chunks.
        size: Of the chunks, in that unit.
        rungs: As `oprag.routing.as_rungs` takes them; numbers may be written as text.
            Rungs of token budgets choose from all chunks, so they need `k=None`.
        window_overflow: See `oprag.routing.full_context`.
        reserved: Tokens of the window that are kept for the reply.

    Raises:
        InvalidOptionError: The rungs are not possible, or `k` bounds token budgets.
    """
    ladder = as_rungs([int(rung) if rung.isdecimal() else rung for rung in rungs])
    if k is not None and (k < 1 or any(rung.token_budget for rung in ladder)):
        message = (
            f"k={k} is not possible with rungs={list(rungs)}. It takes at least 1, and "
            "token budgets are filled from all chunks: give k=none with them."
        )
        raise InvalidOptionError(message, option="k", value=k)
    return SelfRoute(
        name, k, order, Splitting(unit, size), ladder, window_overflow, reserved
    )
