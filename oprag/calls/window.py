"""The model's window: tokens kept for the answer, and what fits into the rest."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from oprag.errors import invalid_option

WINDOW_UNKNOWN = "window unknown"
"""What the usage notes if it is not known how much the model can read."""

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
