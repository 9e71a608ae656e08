"""Self-Route for one question, as a dialogue that a framework's driver carries out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from oprag.calls import (
    CallModel,
    Dialogue,
    Finish,
    Ledger,
    PromptedModel,
    ReadDocuments,
    ask_model,
)
from oprag.chunk import FullText, Hit
from oprag.errors import (
    BudgetTooSmallError,
    DocumentNotFoundError,
    ModelCallError,
    OpragError,
)
from oprag.routing.options import FIRST_TOKENS, RouteOptions, Step
from oprag.routing.step_context import (
    Excerpt,
    StepContext,
    chunks_of_documents,
    context_of_chunks,
    context_of_documents,
)

_TOO_LONG = "Give the tokens that the model takes, or fewer, as max_context_tokens=."


@dataclass(frozen=True, slots=True)
class Routed:
    """The end of a question."""

    context: StepContext
    """The context of the final reply; empty without one."""
    step: Step | None = None
    """The step whose reply is final; None when no step had any context."""
    text: str | None = None
    """The final reply, whatever it says; None without a step."""
    answered: bool = False
    """Whether the final reply answers; False when it declines, is empty, calls a tool
    that nobody carries out, or when there is none."""
    finish: Finish | None = None
    """How the final reply ended, if not normally."""
    problems: tuple[OpragError, ...] = ()
    """Problems of documents whose chunks are therefore in rank order."""

    def described(self) -> dict[str, Any]:
        """Return how it ended, in the form that applications get.

        Returns:
            `step` (its name, or None) and `answered`; `finish`, if the final reply did
            not end as it should; `exact`, False if a document's text is not proved.
        """
        return {
            "step": self.step.name if self.step else None,
            "answered": self.answered,
            **({"finish": self.finish} if self.finish else {}),
            **({} if all(e.exact for e in self.context.excerpts) else {"exact": False}),
        }


def route(
    hits: Sequence[Hit], options: RouteOptions, model: PromptedModel, *, ledger: Ledger
) -> Dialogue[Routed]:
    """Ask one question, step by step, until a reply is final.

    Every step may refuse. The first reply that does not is final, also an empty one,
    which answers nothing. So is a reply that was shown before it refused. The last
    step's reply is final whatever it says. A step without context (nothing was
    retrieved), or with one that was sent before, is skipped without a call. If that
    leaves no step after one that refused, the reply of that one is final. Full
    documents are read at the step that sends them, and never before. If the search's
    filter hides chunks of a document, all of it is left out, and named in the step's
    note.

    Yields:
        The next request. The `context` of a call is its `StepContext`.

    Source:
        Self-Route (arXiv 2407.16833).
    """
    routed = Routed(StepContext(""))
    problems: tuple[OpragError, ...] = ()
    sent: list[str] = []
    for step in options.steps:
        context = yield from _context(step, hits, options, model)
        problems = problems or context.problems
        read = [excerpt.text for excerpt in context.excerpts]  # not their names
        bare = options.context.separator.join(read) or context.text
        if bare in sent or not context.text.strip():
            nothing = context.note or "nothing to read"
            note = "the same context as before" if bare in sent else nothing
            ledger.record(step.name, "skipped", note=note)
            continue
        sent.append(bare)
        last = step is options.steps[-1]
        values = {"context": context.text}
        reply = yield from ask_model(
            CallModel(step.name, values, "answer" if last else "attempt", context),
            model,
            ledger,
            failed=partial(_report_failure, step, ledger),
            too_long=_TOO_LONG,
            decision=lambda reply: reply.decision,
            note=context.note,
        )
        routed = Routed(context, step, reply.text, reply.answered, reply.finish)
        if not reply.declined or reply.shown:
            break
    return replace(routed, problems=problems)


def _context(
    step: Step, hits: Sequence[Hit], options: RouteOptions, model: PromptedModel
) -> Dialogue[StepContext]:
    """Return the context of a step; ask for documents if it needs them."""
    size = model.measure_prompt(step.name)
    if not step.full:
        tokens = step.token_budget or (FIRST_TOKENS if options.fills else None)
        try:
            return context_of_chunks(hits, options, size, tokens)
        except BudgetTooSmallError:
            if step.token_budget or not tokens:
                raise
        # The best chunk alone is longer, and nobody asked for fewer tokens.
        return context_of_chunks(hits[:1], options, size, None)
    chunks = chunks_of_documents(hits, options.context)
    titles = {chunk.text_id: chunk.document_name or "" for chunk in chunks}
    texts: Sequence[FullText] = ()
    hidden: list[str] = []
    while titles and not texts:
        try:
            texts = yield ReadDocuments(tuple(titles))
        except DocumentNotFoundError as error:
            if not error.filtered:
                raise
            hidden.append(error.document)
            del titles[error.document]
    documents = [
        Excerpt.whole(name, text, title)
        for (name, title), text in zip(titles.items(), texts, strict=True)
    ]
    kept = [chunk for chunk in chunks if chunk.text_id in titles]
    context = context_of_documents(documents, hits, options, size, kept)
    if not hidden:
        return context
    notes = [f"not read, a filter hides chunks: {', '.join(map(repr, hidden))}"]
    notes = [context.note, *notes] if context.note else notes
    return replace(context, note="; ".join(notes), whole=False)


def _report_failure(step: Step, ledger: Ledger, what: str) -> ModelCallError:
    message = (
        f"The model failed at step {step.name!r}: {what}. The question is not "
        "answered; what was spent is in usage."
    )
    return ModelCallError(message, call=step.name, usage=ledger.to_dict())
