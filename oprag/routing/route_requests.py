"""What Self-Route asks of an adapter, and what an adapter tells it."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

from oprag.calls import Ledger, RungEntry, WindowOverflow
from oprag.context import ContextOptions, SentText
from oprag.routing.ladder import Outcome, Rung
from oprag.routing.rung_context import PromptSize, RungContext


@dataclass(frozen=True, slots=True, kw_only=True)
class RouteOptions:
    """How questions are routed; the same for every question."""

    rungs: tuple[Rung, ...]
    """As `oprag.routing.as_rungs` gives them."""
    context: ContextOptions
    """Identity, positions, order, separators and the token counter."""
    max_documents: int | None = None
    """Documents of a full rung, by their best chunk; None for all."""
    default_documents: tuple[str, ...] = ()
    """Names of the documents that a full rung reads where nothing was retrieved."""
    window_overflow: WindowOverflow = "order_preserving"
    """What to do with documents that do not fit the window."""
    prices: Mapping[str, Sequence[float]] | None = None
    """As `oprag.calls.as_prices` takes them."""


class Desk(Protocol):
    """What an adapter knows about its models and prompts. No I/O."""

    @property
    def sent_text(self) -> SentText | None:
        """What the framework sends for a chunk, if not just its text."""

    def size(self, rung: Rung) -> PromptSize:
        """Say how long the prompt of a rung is, and may be."""

    def model(self, rung: Rung) -> str | None:
        """Name the model that reads a rung; None when unknown."""

    def decided(self, entry: RungEntry) -> None:
        """Take note of what happened on a rung, as soon as it is known."""


@dataclass(frozen=True, slots=True)
class Fetch:
    """A request for full texts. The answer is a list of them, in this order."""

    names: tuple[str, ...]
    needed: bool = True
    """False when they are for the account alone: None is an answer, too."""


@dataclass(frozen=True, slots=True)
class Ask:
    """A request for a reply of the model. The answer is a `Reply`."""

    rung: Rung
    context: RungContext
    final: bool
    """Whether the reply stands whatever it says."""


@dataclass(frozen=True, slots=True)
class Routed:
    """The end of a question."""

    outcome: Outcome
    ledger: Ledger
    context: RungContext
    """What the model had read when it gave the final reply; empty without one."""


Steps: TypeAlias = Generator[Fetch | Ask, Any, Routed]
