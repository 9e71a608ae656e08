"""Self-Route for one question, as a dialogue that a framework's driver carries out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from oprag.calls import (
    CallModel,
    Dialogue,
    Ledger,
    PromptedModel,
    Purpose,
    ReadDocuments,
    Reply,
    RungEntry,
    is_window_overflow,
)
from oprag.chunk import Hit
from oprag.errors import ContextWindowError, OpragError, RungFailedError
from oprag.routing.excerpts import FullDocument
from oprag.routing.options import RouteOptions
from oprag.routing.rung_context import (
    RungContext,
    chunks_of_documents,
    context_of_chunks,
    context_of_documents,
)
from oprag.routing.rungs import Rung


@dataclass(frozen=True, slots=True)
class Outcome:
    """Whose reply is final."""

    answered: bool = False
    """False when the final reply declines, or when no rung had any context."""
    rung: Rung | None = None
    """The rung whose reply is final; None when no rung had any context."""
    text: str | None = None
    """The final reply, whatever it says; None without a rung."""


@dataclass(frozen=True, slots=True)
class Routed:
    """The end of a question."""

    outcome: Outcome
    context: RungContext
    """What the model had read when it gave the final reply; empty without one."""


def route(
    hits: Sequence[Hit], options: RouteOptions, model: PromptedModel, *, ledger: Ledger
) -> Dialogue[Routed]:
    """Take one question up the rungs.

    Every rung may decline. The first reply that does not is final; the last rung's
    reply is final whatever it says. A rung without context (nothing was retrieved),
    or with one that was sent before, is skipped without a call; if that leaves no
    rung after one that declined, its reply is the final one. Full documents are
    asked for where a rung sends them, and never before.

    Args:
        hits: What was retrieved for it, best first.
        options: See `RouteOptions`.
        model: Its prompts have the names of the rungs, and are filled with `context`.
        ledger: An empty one; it is written rung by rung.

    Yields:
        What is to be done next. The `context` of a call is its `RungContext`.

    Returns:
        How it ended.

    Raises:
        RungFailedError: The model failed on a rung.
        ContextWindowError: The provider says that a prompt exceeds the window (then
            its cause is the `RungFailedError`); or as `context_of_chunks` and
            `context_of_documents` raise it.
        OpragError: As these raise it.

    Source:
        Self-Route (arXiv 2407.16833).
    """
    outcome, final = Outcome(), RungContext("")
    sent: list[str] = []
    for rung in options.rungs:
        context = yield from _context(rung, hits, options, model)
        repeated = context.text in sent
        if repeated or not context.text.strip():
            note = "the same context as before" if repeated else "nothing to read"
            ledger.record(RungEntry(rung.name, "skipped", note=note))
            continue
        sent.append(context.text)
        purpose: Purpose = "answer" if rung is options.rungs[-1] else "attempt"
        try:
            reply: Reply = yield CallModel(
                rung.name, {"context": context.text}, purpose, context
            )
        except Exception as error:  # models share no error class; all go up again
            failure = _failed(rung, context, error, model, ledger)
            if failure is error:
                raise
            raise failure from failure.__cause__ or error
        outcome = Outcome(answered=not reply.declined, rung=rung, text=reply.text)
        final = context
        ledger.record(_entry(rung, context, reply, model))
        if outcome.answered:
            break
    return Routed(outcome, final)


def _context(
    rung: Rung, hits: Sequence[Hit], options: RouteOptions, model: PromptedModel
) -> Dialogue[RungContext]:
    """What a rung gives to read; asks for documents if it must."""
    size = model.size(rung.name)
    if not rung.full:
        context = replace(options.context, token_budget=rung.token_budget)
        return context_of_chunks(hits, context, size, sent_text=options.sent_text)
    chunks = chunks_of_documents(hits, options.context, options.max_documents)
    found = dict.fromkeys(chunk.name or chunk.document for chunk in chunks)
    names = tuple(found) or options.default_documents
    texts = (yield ReadDocuments(names)) if names else []
    return context_of_documents(
        [FullDocument(*pair) for pair in zip(names, texts, strict=True)],
        chunks,
        options.context,
        size,
        window_overflow=options.window_overflow,
    )


def _entry(
    rung: Rung, context: RungContext, reply: Reply, model: PromptedModel
) -> RungEntry:
    return RungEntry(
        rung.name,
        "declined" if reply.declined else "answered",
        reply.usage,
        model.model(rung.name),
        reply.model_calls,
        reply.seconds,
        context.note,
        context.whole,
    )


def _failed(
    rung: Rung,
    context: RungContext,
    error: Exception,
    model: PromptedModel,
    ledger: Ledger,
) -> Exception:
    """Enter a failure into the ledger; return the error to raise."""
    name = model.model(rung.name)
    ledger.record(RungEntry(rung.name, "failed", model=name, model_calls=1))
    if isinstance(error, OpragError):
        return error
    declined = [e.rung for e in ledger.entries if e.decision == "declined"]
    before = f" after {', '.join(map(repr, declined))} declined" if declined else ""
    message = (
        f"The model failed on rung {rung.name!r}{before}: {type(error).__name__}: "
        f"{error}. The question is not answered; what was spent is in usage."
    )
    failed = RungFailedError(message, rung=rung.name, usage=ledger.to_dict())
    if not is_window_overflow(error):
        return failed
    failed.__cause__ = error
    size = model.size(rung.name)
    return _too_long(rung, size.window, size.with_context(context.text), failed)


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
