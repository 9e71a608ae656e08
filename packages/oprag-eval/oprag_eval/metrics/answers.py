"""Checks of the reference answers of every metric."""

from __future__ import annotations

from collections.abc import Sequence

from oprag.errors import invalid_option


def check_answers(references: Sequence[str], *, name: str = "references") -> None:
    """Make sure that there is a list of answers to hold a prediction against.

    A bare string would be read letter by letter, and every score would be wrong
    without a word.

    Raises:
        InvalidOptionError: The references are a bare string, or there are none.
    """
    if isinstance(references, str) or not references:
        takes = "It takes a list of answers, each of which would be right."
        raise invalid_option(name, references, takes)
