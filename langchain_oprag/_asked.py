"""What a search is called with: the question as a text, and no option of ours."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from oprag.errors import InvalidOptionError, named_input

_QUESTIONS = ("input", "question", "query")
"""Keys that chains have the question under."""


def check_text(component: str, question: Any, write: str) -> None:
    """Refuse a question that is no text.

    Args:
        component: Class name of what is asked.
        question: What it is asked.
        write: How it is called, as in `store.similarity_search`.

    Raises:
        InvalidOptionError: It is none.
    """
    if isinstance(question, str):
        return
    instead = f"Write {write}(question)."
    if isinstance(question, Mapping) and question:
        asked = [key for key in _QUESTIONS if key in question]
        key = asked[0] if asked else next(iter(question))
        instead = f"In a chain put itemgetter({key!r}) before it."
    message = (
        f"{component} takes the question as a text, and was given "
        f"{named_input(question)}. {instead}"
    )
    raise InvalidOptionError(message, option="input", value=question)
