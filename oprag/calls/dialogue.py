"""A conversation with a model as requests: methods make them, drivers carry them out.

A method (Self-Route, the long reader) is a generator that decides everything and does
no I/O. It yields a request, is sent the outcome or has the error thrown into it, and
returns its result. So sync and async code, streaming or not, take the same steps;
`oprag.calls.run_dialogue` and `arun_dialogue` carry them out for both frameworks.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol, TypeAlias, TypeVar

from oprag.calls.client_errors import is_window_overflow, read_error_message
from oprag.calls.ledger import UNKNOWN_TOKENS, Ledger, StepDecision, TokenUsage
from oprag.calls.replies import Finish
from oprag.errors import ContextWindowError, OpragError

ResultT = TypeVar("ResultT")

CALL_DESCRIPTIONS = {
    "answer_tokens": "Tokens of the window that are kept free for the answer; None for "
    "the model's own limit, else 256, or an eighth of a smaller window.",
    "prices": "Price of a million tokens by model: input, cached input, output.",
}
"""Descriptions of the options of all components that call a model."""

Purpose: TypeAlias = Literal["answer", "attempt", "draft"]
"""With `"answer"`, the reply is the answer, whatever it says. With `"attempt"`, it is,
unless it declines. With `"draft"`, another call makes the answer of it."""


@dataclass(frozen=True, slots=True)
class ReadDocuments:
    """A request for full texts.

    Its outcome is a list of `oprag.chunk.FullText`, in this order.
    """

    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CallModel:
    """A request for a reply of a model. Its outcome is a `Reply`."""

    prompt: str
    """Name of the prompt, which also says which model it is for."""
    values: Mapping[str, str]
    """The values that the method fills into the prompt."""
    purpose: Purpose
    """The use of the reply."""
    context: Any = None
    """The source of the context in `values`, if the method gives it."""


@dataclass(frozen=True, slots=True)
class Reply:
    """A model's reply in one call."""

    text: str
    declined: bool
    usage: TokenUsage
    seconds: float
    finish: Finish | None = None
    """How it ended, if not normally."""
    shown: bool = False
    """Whether any of it was output: then it is the last, whatever it turned into."""

    @property
    def answered(self) -> bool:
        """Whether it answers: there is text, no refusal, and no call of a tool."""
        said = bool(self.text.strip()) and self.finish not in ("empty", "call")
        return said and not self.declined

    @property
    def decision(self) -> StepDecision:
        """The decision of its step, for the ledger."""
        if self.declined:
            return "declined"
        return "answered" if self.answered else "failed"


Request: TypeAlias = ReadDocuments | CallModel
Dialogue: TypeAlias = Generator[Request, Any, ResultT]


@dataclass(frozen=True, slots=True)
class PromptSize:
    """The length of a prompt, and the most it may have."""

    tokens: Callable[[Mapping[str, str]], int]
    """Tokens of the whole prompt, filled with the given values."""
    window: int | None
    """Tokens of prompt and answer together that the model takes; None: unknown."""
    reserved: int = 0
    """Tokens kept free for the answer."""

    @property
    def note(self) -> str | None:
        """The note in the usage if the model's window is not known; else None."""
        return "window unknown" if self.window is None else None

    def room(self) -> int | None:
        """Return the tokens that a context may take; None if the window is unknown.

        Raises:
            ContextWindowError: The prompt alone leaves no room.
        """
        if self.window is None:
            return None
        overhead = self.tokens({"context": ""})
        room = self.window - overhead - self.reserved
        if room > 0:
            return room
        message = (
            f"A window of {self.window} tokens has no room for any text: the prompt "
            f"alone takes {overhead}, and {self.reserved} are kept for the answer. "
            "Give a larger window, max_context_tokens=."
        )
        raise ContextWindowError(message, window=self.window, needed=None)

    def excess(self, context: str) -> int:
        """Return by how many tokens the prompt with this context is too long, or 0."""
        if self.window is None:
            return 0
        tokens = self.tokens({"context": context})
        return max(0, tokens + self.reserved - self.window)


def frame_tokens(messages: int) -> int:
    """Return the tokens that chat formats put around a prompt, at most.

    Args:
        messages: Messages of the prompt; 0 if it is sent as a text.

    Returns:
        4 for each message, and 3 with which the reply begins, in the common formats.
    """
    return 4 * messages + 3 if messages else 0


class PromptedModel(Protocol):
    """The model with its prompts, for one question. No I/O.

    Prompts have names; each may be for a separate model.
    """

    def measure_prompt(self, prompt: str) -> PromptSize:
        """Return how long a prompt is, and how long it may be."""

    def name_model(self, prompt: str) -> str | None:
        """Name the model that a prompt is for; None if unknown."""


def ask_model(
    call: CallModel,
    model: PromptedModel,
    ledger: Ledger,
    *,
    failed: Callable[[str], OpragError],
    too_long: str,
    decision: Callable[[Reply], StepDecision],
    note: str | None = None,
) -> Generator[CallModel, Any, Reply]:
    """Have a model called; enter it into the ledger, also if it fails.

    Raises:
        ContextWindowError: The provider says that the prompt exceeds the window; its
            cause is the error of the method.
        OpragError: The one thrown in, or the one that `failed` makes of another error.
    """
    name = call.prompt
    try:
        reply: Reply = yield call
    except Exception as error:  # models share no error class; all go up again
        came: Any = None
        seconds = 0.0
        if ledger.reply_so_far is not None:
            came = ledger.reply_so_far()
            seconds = came.seconds
        facts: Any = {"model": model.name_model(name), "note": note, "seconds": seconds}
        begun = came and (came.text or not came.usage.estimated)
        usage = came.usage if begun else UNKNOWN_TOKENS
        ledger.record(name, "failed", usage=usage, **facts)
        if isinstance(error, OpragError):
            raise
        said = read_error_message(error)
        failure = failed(f"{type(error).__name__}: {said}".removesuffix("."))
        if not is_window_overflow(error):
            raise failure from error
        failure.__cause__ = error
        size = model.measure_prompt(name)
        needed, window = size.tokens(call.values), size.window
        message = (
            f"The provider refused the prompt {name!r}, which counts {needed} "
            f"tokens here, as too long; the window that is known: {window}. {too_long}"
        )
        raise ContextWindowError(message, window=window, needed=needed) from failure
    ledger.record(
        name,
        decision(reply),
        usage=reply.usage,
        model=model.name_model(name),
        seconds=reply.seconds,
        finish=reply.finish,
        note=note,
    )
    return reply
