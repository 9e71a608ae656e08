"""Self-Route for one question, as requests that an adapter carries out.

`route` decides everything and does no I/O, so that sync and async code, streaming or
not, drive the same steps and come to the same answer ::

    steps = route(hits, options, desk)
    request = advance(steps)
    while not isinstance(request, Routed):
        if isinstance(request, Fetch):
            request = advance(steps, [source.get(name) for name in request.names])
        else:
            request = advance(steps, ...)  # a `Reply`, or the model's error
"""

from __future__ import annotations

from collections.abc import Generator, MutableMapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol, TypeAlias

from oprag.counting import SentText
from oprag.errors import ContextWindowError, OpragError, RungFailedError
from oprag.full_context import FullDocument
from oprag.hit import Hit
from oprag.ledger import Ledger, RungEntry
from oprag.options import ContextOptions
from oprag.overflow_errors import is_window_overflow
from oprag.routing import Ladder, Outcome, Rung
from oprag.rung_context import (
    PromptSize,
    RungContext,
    chunks_of_documents,
    context_of_chunks,
    context_of_documents,
)
from oprag.tokens import resolve_token_counter
from oprag.usage import TokenUsage
from oprag.window import WindowOverflow

__all__ = [
    "Ask",
    "Desk",
    "Fetch",
    "Reply",
    "RouteOptions",
    "Routed",
    "Steps",
    "advance",
    "route",
]

_SKIPPED = {
    "empty": "nothing to read",
    "repeated": "the same context as before",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class RouteOptions:
    """How questions are routed; the same for every question."""

    rungs: tuple[Rung, ...]
    """As `oprag.routing.as_rungs` gives them."""
    context: ContextOptions
    """Identity, positions, order, separators and the token counter."""
    max_documents: int | None = None
    """Documents of a full rung, by their best chunk; None for all."""
    window_overflow: WindowOverflow = "order_preserving"
    """What to do with documents that do not fit the window."""
    prices: dict[str, Sequence[float]] | None = None
    """As `oprag.usage.as_prices` takes them."""


class Desk(Protocol):
    """What an adapter knows about its models and prompts. No I/O."""

    sent_text: SentText | None
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
class Reply:
    """What the model said on a rung."""

    text: str
    declined: bool
    usage: TokenUsage
    seconds: float
    model_calls: int = 1


@dataclass(frozen=True, slots=True)
class Routed:
    """The end of a question."""

    outcome: Outcome
    ledger: Ledger
    context: RungContext
    """What the model had read when it gave the final reply; empty without one."""


Steps: TypeAlias = Generator[Fetch | Ask, Any, Routed]


def advance(
    steps: Steps, answer: Any = None, error: Exception | None = None
) -> Fetch | Ask | Routed:
    """Answer the last request, or say that the model failed; give the next one."""
    try:
        return steps.send(answer) if error is None else steps.throw(error)
    except StopIteration as stop:
        routed: Routed = stop.value
        return routed


def route(
    hits: Sequence[Hit],
    options: RouteOptions,
    desk: Desk,
    *,
    ledger: Ledger,
    known_tokens: MutableMapping[str, int],
) -> Steps:
    """Take one question up the ladder.

    Args:
        hits: What was retrieved for it, best first.
        options: See `RouteOptions`.
        desk: Models and prompts.
        ledger: An empty one; it is written rung by rung.
        known_tokens: Tokens of full documents by name, kept from question to
            question: written and read here, for the account alone.

    Yields:
        What is to be done next; see `advance`.

    Returns:
        How it ended.

    Raises:
        RungFailedError: The model failed on a rung.
        ContextWindowError: The provider says that a prompt exceeds the window; or
            as `context_of_chunks` and `context_of_documents` raise it.
        OpragError: As these raise it.
    """
    run = _Run(hits, options, desk, ledger)
    while (rung := run.ladder.current) is not None:
        context = yield from run.context(rung)
        offer = run.ladder.offer(context.text)
        if offer != "send":
            run.record(RungEntry(rung.name, "skipped", note=_SKIPPED[offer]))
            continue
        try:
            reply = yield Ask(rung, context, run.ladder.is_last)
        except Exception as error:
            raise run.failed(rung, error) from error
        run.take(rung, context, reply)
    yield from run.compare(known_tokens)
    return Routed(run.ladder.outcome, ledger, run.final_context)


class _Run:
    """The state of one question."""

    def __init__(
        self, hits: Sequence[Hit], options: RouteOptions, desk: Desk, ledger: Ledger
    ) -> None:
        self.ladder = Ladder(options.rungs)
        self.final_context = RungContext("")
        self._hits = hits
        self._options = options
        self._desk = desk
        self._ledger = ledger
        self._final: Reply | None = None

    def context(self, rung: Rung) -> Generator[Fetch, Any, RungContext]:
        """Make what the rung gives to read, asking for documents if it must."""
        if not rung.full:
            options = replace(self._options.context, token_budget=rung.token_budget)
            return context_of_chunks(
                self._hits,
                options,
                self._desk.size(rung),
                sent_text=self._desk.sent_text,
            )
        chunks = chunks_of_documents(
            self._hits, self._options.context, self._options.max_documents
        )
        names = tuple(dict.fromkeys(chunk.name or chunk.document for chunk in chunks))
        texts = (yield Fetch(names)) if names else []
        return context_of_documents(
            [FullDocument(*pair) for pair in zip(names, texts, strict=True)],
            chunks,
            self._options.context,
            self._desk.size(rung),
            window_overflow=self._options.window_overflow,
        )

    def take(self, rung: Rung, context: RungContext, reply: Reply) -> None:
        """Enter a reply into the ladder and the ledger."""
        self.ladder.reply(reply.text, declined=reply.declined)
        self._final, self.final_context = reply, context
        entry = RungEntry(
            rung.name,
            "declined" if reply.declined else "answered",
            reply.usage,
            self._desk.model(rung),
            reply.model_calls,
            reply.seconds,
            context.note,
            context.whole,
        )
        self.record(entry)

    def failed(self, rung: Rung, error: Exception) -> OpragError:
        """Enter a failure into the ledger; give the error to raise."""
        entry = RungEntry(
            rung.name, "failed", model=self._desk.model(rung), model_calls=1
        )
        self.record(entry)
        if isinstance(error, OpragError):
            return error
        window = self._desk.size(rung).window
        if is_window_overflow(error):
            return _too_long(rung, window, error)
        declined = [e.rung for e in self._ledger.entries if e.decision == "declined"]
        before = f" after {', '.join(map(repr, declined))} declined" if declined else ""
        message = (
            f"The model failed on rung {rung.name!r}{before}: {type(error).__name__}: "
            f"{error}. The question is not answered; ask it again. What was spent so "
            "far is in usage."
        )
        return RungFailedError(message, rung=rung.name, usage=self._ledger.to_dict())

    def record(self, entry: RungEntry) -> None:
        """Enter what happened on a rung."""
        self._ledger.record(entry)
        self._desk.decided(entry)

    def compare(
        self, known_tokens: MutableMapping[str, int]
    ) -> Generator[Fetch, Any, None]:
        """Enter what the full documents alone would have taken, if not sent whole."""
        rung = next((rung for rung in self._options.rungs if rung.full), None)
        whole = any(entry.whole for entry in self._ledger.entries)
        if rung is None or whole or self._final is None:
            return
        chunks = chunks_of_documents(
            self._hits, self._options.context, self._options.max_documents
        )
        names = tuple(dict.fromkeys(chunk.name or chunk.document for chunk in chunks))
        unknown = tuple(name for name in names if name not in known_tokens)
        if unknown:
            texts = yield Fetch(unknown, needed=False)
            if texts is None:
                return
            counter = resolve_token_counter(self._options.context.token_counter)
            known_tokens.update(zip(unknown, map(counter, texts), strict=True))
        size = self._desk.size(rung)
        tokens = size.tokens("") + sum(known_tokens[name] for name in names)
        if size.window is not None:
            tokens = min(tokens, size.window - size.reserved)
        reply = self._final.usage.output_tokens
        usage = TokenUsage(tokens, reply, estimated=True)
        self._ledger.compare_with(usage, self._desk.model(rung))


def _too_long(rung: Rung, window: int | None, error: Exception) -> ContextWindowError:
    known = "is not known" if window is None else f"is taken to be {window} tokens"
    message = (
        f"The provider refused the prompt of rung {rung.name!r} as too long, and the "
        f"window {known}. Give the model's window as max_context_tokens= (a smaller "
        "one if its tokens are counted too low); what does not fit is then left out "
        f"as window_overflow= says. The provider: {error}"
    )
    return ContextWindowError(message, window=window, needed=None)
