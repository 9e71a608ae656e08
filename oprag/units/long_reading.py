"""The long reader for one question, as a dialogue that a driver carries out."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from dataclasses import dataclass
from typing import Any

from oprag.calls import (
    WINDOW_UNKNOWN,
    CallModel,
    Dialogue,
    Ledger,
    PromptedModel,
    Purpose,
    ask,
)
from oprag.errors import ContextWindowError, LongReadingError
from oprag.tokens import TokenCounter
from oprag.units.long_prompts import format_examples

_TOO_LONG = (
    "Units are read whole: retrieve fewer, group with a smaller max_tokens, or use a "
    "model with a larger window."
)


@dataclass(frozen=True, slots=True)
class Reading:
    """The answers, as the model wrote them, blanks around them included."""

    answer: str | None
    """The short answer; None when there was nothing to read."""
    long_answer: str | None
    """What it was taken from; None when there was one call or none."""


def read_long(
    context: str,
    question: str,
    model: PromptedModel,
    *,
    ledger: Ledger,
    token_counter: TokenCounter,
    examples: int = 4,
    one_call_below: int = 1000,
) -> Dialogue[Reading]:
    """Answer one question from long units.

    Args:
        context: What is read; blank when nothing was retrieved.
        question: The question.
        model: Its prompts are `"long"` (of the units), `"short"` (of the long answer)
            and `"direct"` (of a short context); see `PROMPT_VARIABLES`.
        ledger: An empty one; each call is added to it.
        token_counter: Counts the context.
        examples: Examples that the second call is given, 0 to 8.
        one_call_below: A context of fewer tokens takes one call. 0: always two.

    Yields:
        What to send next.

    Returns:
        The answers.

    Raises:
        ContextWindowError: A prompt does not fit the model's window.
        LongReadingError: The model failed, or gave an empty reply.

    Source:
        LongRAG (arXiv 2406.15319): a long answer first, then the short one from
        question and long answer; one call for texts below about 1,000 tokens.
    """
    if not context.strip():
        return Reading(None, None)
    calls = _Calls(model, ledger)
    asked = {"context": context, "question": question}
    if token_counter(context) < one_call_below:
        reply = yield from calls.made("direct", asked)
        return Reading(reply, None)
    long_answer = yield from calls.made("long", asked)
    values = {
        "examples": format_examples(examples),
        "question": question,
        "long_answer": long_answer.strip(),
    }
    calls.long_answer = long_answer
    reply = yield from calls.made("short", values)
    return Reading(reply, long_answer)


class _Calls:
    """The calls of one question."""

    def __init__(self, model: PromptedModel, ledger: Ledger) -> None:
        self.long_answer: str | None = None
        self._model = model
        self._ledger = ledger

    def made(
        self, prompt: str, values: Mapping[str, str]
    ) -> Generator[CallModel, Any, str]:
        """Have a call made; return the text of its reply."""
        note = self._checked(prompt, values)
        purpose: Purpose = "draft" if prompt == "long" else "answer"
        reply = yield from ask(
            CallModel(prompt, values, purpose),
            self._model,
            self._ledger,
            failed=lambda what: self._failed(prompt, f"failed: {what}"),
            too_long=_TOO_LONG,
            decision=lambda reply: "answered" if reply.text.strip() else "failed",
            note=note,
        )
        if not reply.text.strip():
            raise self._failed(prompt, "gave an empty reply")
        return reply.text

    def _checked(self, prompt: str, values: Mapping[str, str]) -> str | None:
        """Refuse a prompt that does not fit; return the note for the ledger."""
        size = self._model.size(prompt)
        if size.window is None:
            return WINDOW_UNKNOWN
        tokens = size.tokens(values)
        needed = tokens + size.reserved
        if needed <= size.window:
            return None
        message = (
            f"The prompt of the {prompt!r} call takes {tokens} tokens, and with the "
            f"{size.reserved} kept for the answer that is more than the window of "
            f"{size.window}. {_TOO_LONG}"
        )
        raise ContextWindowError(message, window=size.window, needed=needed)

    def _failed(self, prompt: str, how: str) -> LongReadingError:
        kept = "" if self.long_answer is None else "The long answer is long_answer; "
        return LongReadingError(
            f"The model {how}, on the {prompt!r} call of the long reader. The "
            f"question is not answered; {kept}what was spent is in usage.",
            call=prompt,
            long_answer=self.long_answer,
            usage=self._ledger.to_dict(),
        )
