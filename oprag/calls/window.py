"""What to do with documents that may not fit the model's window, as arithmetic."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, TypeAlias

from oprag.errors import ContextWindowError, invalid_option

WindowOverflow: TypeAlias = Literal["order_preserving", "truncate_middle", "error"]

WINDOW_UNKNOWN = "window unknown"
"""What the usage notes if it is not known how much the model can read."""

_POLICIES = ("order_preserving", "truncate_middle", "error")
_ANSWER_TOKENS = 256
_SHARE_OF_WINDOW = 8


@dataclass(frozen=True, slots=True)
class WindowFit:
    """How full documents are to be sent."""

    action: Literal["whole", "order_preserving", "truncate_middle"]
    """`"whole"`: as they are; `"order_preserving"`: the best chunks that fit
    `room`, in document order; `"truncate_middle"`: cut to `room`."""
    room: int | None
    """Tokens that the context may take; None when the window is not known."""


def fit_window(
    document_tokens: int,
    *,
    window: int | None,
    overhead: int,
    reserved: int,
    window_overflow: WindowOverflow = "order_preserving",
) -> WindowFit:
    """Decide how full documents are sent.

    Args:
        document_tokens: Tokens of the whole context as it would be sent.
        window: Tokens of prompt and answer together that the model takes; None
            when unknown: then the documents are sent whole, and it is for the
            provider to refuse them.
        overhead: Tokens of the prompt without the context.
        reserved: Tokens kept free for the answer.
        window_overflow: What to do when they do not fit: the largest
            order-preserving selection that does (the default: same cost, keeps
            what is relevant), cut out the middle (∞Bench's convention), or an
            error.

    Raises:
        ContextWindowError: They do not fit and `window_overflow` is `"error"`; or
            overhead and answer leave no room at all.
        InvalidOptionError: There is no such policy.
    """
    check_window_overflow(window_overflow)
    if window is None:
        return WindowFit("whole", None)
    room = window - overhead - reserved
    needed = document_tokens + overhead + reserved
    if room <= 0:
        raise ContextWindowError(
            f"A window of {window} tokens has no room for any text: the prompt alone "
            f"takes {overhead}, and {reserved} are kept for the answer. Give a larger "
            "max_context_tokens, or keep less for the answer.",
            window=window,
            needed=needed,
        )
    if document_tokens <= room:
        return WindowFit("whole", room)
    if window_overflow == "error":
        raise ContextWindowError(
            f"The documents take {document_tokens} tokens and {room} are left of a "
            f"window of {window}. Use a model with a larger window, or "
            'window_overflow="order_preserving" or "truncate_middle".',
            window=window,
            needed=needed,
        )
    return WindowFit(window_overflow, room)


def check_window_overflow(value: Any) -> None:
    """Make sure that there is such a policy.

    Raises:
        InvalidOptionError: There is none.
    """
    if value not in _POLICIES:
        takes = f"It takes {' or '.join(map(repr, _POLICIES))}."
        raise invalid_option("window_overflow", value, takes)


CALL_DESCRIPTIONS = {
    "answer_tokens": "Tokens of the window that are kept free for the answer; None for "
    "the model's own limit, else 256, or an eighth of a smaller window.",
    "prices": "Price of a million tokens by model: input, cached input, output.",
}
"""What is said of the options that everything has that asks a model."""


def check_count(option: str, value: Any, least: int = 1) -> None:
    """Make sure that an option is a whole number, or None where 0 is too little.

    Args:
        option: Its name.
        value: What was given.
        least: The least number that it takes.

    Raises:
        InvalidOptionError: It is not.
    """
    unlimited = value is None and least > 0
    if not unlimited and (type(value) is not int or value < least):
        raise invalid_option(option, value, f"It takes a number from {least} on.")


def frame_tokens(messages: int) -> int:
    """Return the tokens that chat formats put around a prompt, at most.

    Args:
        messages: Of the prompt; 0 where it is sent as a text.

    Returns:
        4 for each message, and 3 with which the reply begins, in the common formats.
    """
    return 4 * messages + 3 if messages else 0


def default_answer_tokens(window: int | None) -> int:
    """Tokens to keep free for the answer where nobody says how long it may be.

    Args:
        window: Tokens of prompt and answer together; None when unknown.

    Returns:
        256, or an eighth of a window below 2,048.
    """
    if window is None:
        return _ANSWER_TOKENS
    return min(_ANSWER_TOKENS, window // _SHARE_OF_WINDOW)


class MiddleCut(NamedTuple):
    """A text without its middle."""

    text: str
    """The beginning, the mark and the end; the text itself where it fits."""
    head: int
    """Where the middle begins, in characters of the whole text."""
    tail: int
    """Where it ends; the same as `head` where nothing is cut."""


def truncate_middle(
    text: str, limit: int, token_counter: Callable[[str], int], *, mark: str = ""
) -> MiddleCut:
    """Keep the beginning and the end of a text, each half of a token limit.

    Args:
        text: Any text.
        limit: Tokens that the result may take, at least 1. The first half is
            rounded down.
        token_counter: Counts tokens. It need not be additive: what is returned
            was counted as a whole.
        mark: Put where the middle was; it counts towards the limit.

    Returns:
        The text itself if it fits. Otherwise a beginning, the mark and an end of
        it, cut between characters, never more than `limit` tokens.

    Raises:
        InvalidOptionError: The limit is below 1, or the mark alone exceeds it.

    Source:
        ∞Bench (arXiv 2402.13718) cuts its prompts to the first and last half of
        the window, in tokens. We differ: the cuts fall between characters, so
        that any counter will do.
    """
    room = limit - token_counter(mark)
    if limit < 1 or room < 0:
        least = f"at least 1 token and the {limit - room} of the mark"
        raise invalid_option("limit", limit, f"It takes {least}.")
    if token_counter(text) <= limit:
        return MiddleCut(text, len(text), len(text))
    while True:
        head = _largest(lambda n: token_counter(text[:n]), len(text), room // 2)
        left = room - token_counter(text[:head])
        most = len(text) - head
        kept = _largest(lambda n: token_counter(text[len(text) - n :]), most, left)
        tail = len(text) - kept
        result = text[:head] + mark + text[tail:]
        excess = token_counter(result) - limit
        if excess <= 0 or room == 0:
            return MiddleCut(result, head, tail)
        # Where the pieces meet, tokens may be cut differently.
        room = max(0, room - excess)


def _largest(tokens: Callable[[int], int], most: int, room: int) -> int:
    """Find how many characters take at most `room` tokens; these grow about evenly."""

    def near(size: int, taken: int) -> int:
        return size * room // taken if taken else 4 * room

    return largest_fitting(tokens, most, room, near)


def largest_fitting(
    tokens: Callable[[int], int], most: int, room: int, near: Callable[[int, int], int]
) -> int:
    """Find how many things, up to `most`, take at most `room` tokens together.

    Args:
        tokens: Counts so many of them.
        most: How many there are.
        room: Tokens that they may take.
        near: Guesses how many fit, from a number of them and its tokens. Every other
            guess halves the range instead, which bounds the steps.
    """
    fitting, excessive = 0, most + 1
    guess = near(0, 0)
    halve = False
    while excessive - fitting > 1:
        guess = min(max(guess, fitting + 1), excessive - 1)
        taken = tokens(guess)
        if taken <= room:
            fitting = guess
        else:
            excessive = guess
        if taken == room:
            break
        guess = (fitting + excessive) // 2 if halve else near(guess, taken)
        halve = not halve
    return fitting
