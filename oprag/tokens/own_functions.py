"""Checks of token counters that users write."""

from __future__ import annotations

import inspect
import operator
from collections.abc import Callable
from typing import Any

from oprag.errors import TokenizerError


def checked_count(counter: Callable[[str], Any], text: str) -> int:
    """Count a text, and make sure that what comes is a number of tokens."""
    counted = counter(text)
    try:
        number = operator.index(counted)
    except TypeError:
        number = -1
    if number < 0:
        name = getattr(counter, "__name__", type(counter).__name__)
        message = (
            f"The token counter {name!r} gave {counted!r:.60}, not a number of tokens: "
            "return a whole number from 0 on, as lambda text: len(tokenize(text)) does."
        )
        raise TokenizerError(message, tokenizer=name)
    return number


def refuse_messages(counter: Callable[..., Any]) -> None:
    """Refuse what counts the tokens of messages: of a text it counts each character."""
    try:
        given = [*inspect.signature(counter).parameters]
    except (TypeError, ValueError):  # some that are written in C do not tell
        return
    if given[:1] == ["messages"]:
        name = getattr(counter, "__name__", type(counter).__name__)
        message = (
            f"The token counter {name!r} counts messages, and would take each "
            "character of a text for one. Give it the text as one message: "
            f"token_counter=lambda text: {name}([text])."
        )
        raise TokenizerError(message, tokenizer=name)
