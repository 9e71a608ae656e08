"""The long reader for one question, as calls of a model that an adapter carries out.

`read_long` decides everything and does no I/O, so that sync and async code, streaming
or not, take the same steps. It is a generator: it yields what to send, is sent the
reply, and returns how it ended. A model's error is thrown into it.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping
from dataclasses import dataclass, replace
from typing import Literal, Protocol, TypeAlias

from oprag.calls import WINDOW_UNKNOWN, Ledger, Reply, RungEntry, is_window_overflow
from oprag.errors import ContextWindowError, LongReadingError, OpragError
from oprag.tokens import TokenCounter
from oprag.units.long_prompts import format_examples

CallName: TypeAlias = Literal["long", "short", "direct"]


@dataclass(frozen=True, slots=True)
class Call:
    """What to send to the model. The answer is a `Reply`."""

    name: CallName
    """`"long"`: the units; `"short"`: the long answer; `"direct"`: a short context."""
    values: Mapping[str, str]
    """What the prompt of that name is filled with."""

    @property
    def final(self) -> bool:
        """Whether its reply is the answer."""
        return self.name != "long"


@dataclass(frozen=True, slots=True)
class Reading:
    """How it ended. Texts as the model gave them, blanks around them included."""

    answer: str | None
    """The short answer; None when there was nothing to read."""
    long_answer: str | None
    """What it was taken from; None when there was one call or none."""


@dataclass(frozen=True, slots=True)
class PromptLength:
    """How long a prompt is, and may be."""

    tokens: int
    """Of the whole prompt."""
    window: int | None
    """Of prompt and answer together; None when not known."""
    reserved: int
    """Kept free for the answer."""


class LongReadDesk(Protocol):
    """What an adapter knows about its model and prompts. No I/O."""

    def length(self, call: Call) -> PromptLength:
        """Say how long the prompt of a call is, and may be."""

    def model(self) -> str | None:
        """Name the model; None when unknown."""


def read_long(
    context: str,
    question: str,
    desk: LongReadDesk,
    *,
    ledger: Ledger,
    token_counter: TokenCounter,
    examples: int = 4,
    one_call_below: int = 1000,
) -> Generator[Call, Reply, Reading]:
    """Answer one question from long units.

    Args:
        context: What is read; blank when nothing was retrieved.
        question: The question.
        desk: Model and prompts.
        ledger: An empty one; it is written call by call.
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
    run = _Run(desk, ledger)
    asked = {"context": context, "question": question}
    if token_counter(context) < one_call_below:
        reply = yield from run.call(Call("direct", asked))
        return Reading(reply, None)
    run.long_answer = yield from run.call(Call("long", asked))
    values = {
        "examples": format_examples(examples),
        "question": question,
        "long_answer": run.long_answer.strip(),
    }
    reply = yield from run.call(Call("short", values))
    return Reading(reply, run.long_answer)


class _Run:
    """The state of one question."""

    def __init__(self, desk: LongReadDesk, ledger: Ledger) -> None:
        self.long_answer: str | None = None
        self._desk = desk
        self._ledger = ledger

    def call(self, call: Call) -> Generator[Call, Reply, str]:
        """Have a call made; give its text."""
        note = self._checked(call)
        try:
            reply = yield call
        except Exception as error:  # models share no error class; all go up again
            entry = RungEntry(call.name, "failed", model=self._desk.model())
            self._ledger.record(replace(entry, model_calls=1, note=note))
            if isinstance(error, OpragError):
                raise
            failed = self._failed(call, f"failed: {type(error).__name__}: {error}")
            if is_window_overflow(error):
                failed.__cause__ = error
                raise self._too_long(call) from failed
            raise failed from error
        entry = RungEntry(
            call.name,
            "answered" if reply.text.strip() else "failed",
            reply.usage,
            self._desk.model(),
            reply.model_calls,
            reply.seconds,
            note,
        )
        self._ledger.record(entry)
        if entry.decision == "failed":
            raise self._failed(call, "gave an empty reply")
        return reply.text

    def _checked(self, call: Call) -> str | None:
        """Refuse a prompt that does not fit; give the note for the ledger."""
        length = self._desk.length(call)
        if length.window is None:
            return WINDOW_UNKNOWN
        needed = length.tokens + length.reserved
        if needed <= length.window:
            return None
        message = (
            f"The prompt of the {call.name!r} call takes {length.tokens} tokens, and "
            f"with the {length.reserved} kept for the answer that is more than the "
            f"window of {length.window}. Units are read whole: retrieve fewer, group "
            "with a smaller max_tokens, or use a model with a larger window."
        )
        raise ContextWindowError(message, window=length.window, needed=needed)

    def _too_long(self, call: Call) -> ContextWindowError:
        length = self._desk.length(call)
        message = (
            f"The provider refused the prompt of the {call.name!r} call, which counts "
            f"{length.tokens} tokens here, as too long. Units are read whole: retrieve "
            "fewer, group with a smaller max_tokens, or use a model with a larger "
            "window."
        )
        return ContextWindowError(message, window=length.window, needed=length.tokens)

    def _failed(self, call: Call, how: str) -> LongReadingError:
        kept = "" if self.long_answer is None else "The long answer is long_answer; "
        return LongReadingError(
            f"The model {how}, on the {call.name!r} call of the long reader. The "
            f"question is not answered; {kept}what was spent is in usage.",
            call=call.name,
            long_answer=self.long_answer,
            usage=self._ledger.to_dict(),
        )
