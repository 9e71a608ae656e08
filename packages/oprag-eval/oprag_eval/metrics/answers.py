"""What every metric asks of a prediction and its reference answers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from oprag.errors import InvalidOptionError


def check_text(name: str, value: Any) -> None:
    """Make sure that a value is text.

    Raises:
        InvalidOptionError: It is not.
    """
    if not isinstance(value, str):
        message = f"{name} is {type(value).__name__} {value!r}. It takes text."
        raise InvalidOptionError(message, option=name, value=value)


def check_answers(
    prediction: str, references: Sequence[str], *, name: str = "references"
) -> None:
    """Make sure that there is a prediction and a list of answers to hold it against.

    A bare string would be read letter by letter, and every score would be wrong
    without a word.

    Raises:
        InvalidOptionError: The prediction is no text; the references are a bare
            string, empty, no list or tuple, or not all text.
    """
    check_text("prediction", prediction)
    if isinstance(references, str) or not isinstance(references, Sequence):
        message = (
            f"{name} is {type(references).__name__} {references!r}. It takes a list "
            "of answers, each of which would be right; put a single one in a list."
        )
    elif not references:
        message = (
            f"{name} is empty. Without an answer to compare with there is no score: "
            "leave such questions out of this metric."
        )
    elif not all(isinstance(reference, str) for reference in references):
        message = f"{name} holds something that is no text: {references!r}."
    else:
        return
    raise InvalidOptionError(message, option=name, value=references)
