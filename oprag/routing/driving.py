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
from dataclasses import replace
from typing import Any

from oprag.calls import Ledger, Reply, RungEntry, TokenUsage, is_window_overflow
from oprag.chunk import Chunk, Hit
from oprag.errors import ContextWindowError, OpragError, RungFailedError
from oprag.routing.excerpts import FullDocument
from oprag.routing.ladder import Ladder, Rung
from oprag.routing.route_requests import Ask, Desk, Fetch, Routed, RouteOptions, Steps
from oprag.routing.rung_context import (
    RungContext,
    chunks_of_documents,
    context_of_chunks,
    context_of_documents,
)
from oprag.tokens import resolve_token_counter

_SKIPPED = {
    "empty": "nothing to read",
    "repeated": "the same context as before",
}


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
    known_tokens: MutableMapping[str, int] | None = None,
) -> Steps:
    """Take one question up the ladder.

    Args:
        hits: What was retrieved for it, best first.
        options: See `RouteOptions`.
        desk: Models and prompts.
        ledger: An empty one; it is written rung by rung.
        known_tokens: Tokens of full documents by name, kept from question to
            question: written and read here, for the account alone. None: what the
            full documents would have taken is not counted.

    Yields:
        What is to be done next; see `advance`.

    Returns:
        How it ended.

    Raises:
        RungFailedError: The model failed on a rung.
        ContextWindowError: The provider says that a prompt exceeds the window (then
            its cause is the `RungFailedError`); or as `context_of_chunks` and
            `context_of_documents` raise it.
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
        except Exception as error:  # models share no error class; all go up again
            failure = run.failed(rung, context, error)
            if failure is error:
                raise
            raise failure from failure.__cause__ or error
        run.take(rung, context, reply)
    if known_tokens is not None:
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
        chunks, names = self._documents()
        texts = (yield Fetch(names)) if names else []
        return context_of_documents(
            [FullDocument(*pair) for pair in zip(names, texts, strict=True)],
            chunks,
            self._options.context,
            self._desk.size(rung),
            window_overflow=self._options.window_overflow,
        )

    def _documents(self) -> tuple[list[Chunk], tuple[str, ...]]:
        """What was retrieved, and the documents that a full rung reads."""
        chunks = chunks_of_documents(
            self._hits, self._options.context, self._options.max_documents
        )
        names = dict.fromkeys(chunk.name or chunk.document for chunk in chunks)
        return chunks, tuple(names) or self._options.default_documents

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

    def failed(self, rung: Rung, context: RungContext, error: Exception) -> Exception:
        """Enter a failure into the ledger; give the error to raise."""
        model = self._desk.model(rung)
        self.record(RungEntry(rung.name, "failed", model=model, model_calls=1))
        if isinstance(error, OpragError):
            return error
        declined = [e.rung for e in self._ledger.entries if e.decision == "declined"]
        before = f" after {', '.join(map(repr, declined))} declined" if declined else ""
        message = (
            f"The model failed on rung {rung.name!r}{before}: {type(error).__name__}: "
            f"{error}. The question is not answered; what was spent is in usage."
        )
        failed = RungFailedError(message, rung=rung.name, usage=self._ledger.to_dict())
        if not is_window_overflow(error):
            return failed
        failed.__cause__ = error
        size = self._desk.size(rung)
        return _too_long(rung, size.window, size.tokens(context.text), failed)

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
        _, names = self._documents()
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


def _too_long(
    rung: Rung, window: int | None, needed: int, failed: RungFailedError
) -> ContextWindowError:
    known = "is not known" if window is None else f"is taken to be {window} tokens"
    message = (
        f"The provider refused the prompt of rung {rung.name!r}, which counts {needed} "
        f"tokens here, as too long; the model's window {known}. Give it as "
        "max_context_tokens= (a smaller one if its tokens are counted too low); what "
        "does not fit is then left out as window_overflow= says."
    )
    error = ContextWindowError(message, window=window, needed=needed)
    error.__cause__ = failed
    return error
