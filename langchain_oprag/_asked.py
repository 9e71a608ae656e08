"""What a search is called with: the question as a text, and no option of ours."""

from __future__ import annotations

from collections.abc import Container, Mapping
from typing import Any

from oprag.context import DESCRIPTIONS
from oprag.errors import InvalidOptionError, named

_SWALLOWED = ("top_n", "similarity_top_k", "top_k")
"""Other words for `k`: vector stores take them without a word, and do nothing."""
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
        f"{named(question)}. {instead}"
    )
    raise InvalidOptionError(message, option="input", value=question)


def refuse_options(
    method: str,
    given: Mapping[str, Any],
    made: str,
    what: str = "retriever",
    *,
    options: Container[str] = DESCRIPTIONS,
    of_store: bool = True,
) -> None:
    """Refuse arguments of a search that are options of what was made for searching.

    Args:
        method: What was called.
        given: Arguments of the call.
        made: Class name of what has the options.
        what: What that is.
        options: Those that it has.
        of_store: Whether a vector store is searched.

    Raises:
        InvalidOptionError: For the first one. It says where it is set.
    """
    for option, value in given.items():
        instead = f"Set it on the {what}: {made}({option}=…)."
        if option in _SWALLOWED and of_store:
            instead = "Write k= here."
        elif option in _SWALLOWED or option not in options:
            continue
        message = f"{method} takes no option {option!r}. {instead}"
        raise InvalidOptionError(message, option=option, value=value)
