"""Options without which chunks would be in order: the first thing that errors say."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from oprag.chunk import Hit
from oprag.context.checked_hits import check_hits
from oprag.context.options import ContextOptions
from oprag.errors import DocumentNotFoundError, OpragError

_OF_NAMES = ("document_key", "position_keys")


def say_what_is_needless(
    error: OpragError, hits: Sequence[Hit], options: ContextOptions
) -> OpragError:
    """Return an error whose message begins with the option that is better left out.

    Args:
        error: What was raised for the hits with the options.
        hits: As they were given.
        options: As they were given. With full texts nothing else is left out, as that
            would read them again; they themselves only where they have none of the
            documents: where they contradict a chunk, they show a fault.

    Returns:
        The same error where nothing is put in order without one of the options.
    """
    tried: tuple[str, ...] = _OF_NAMES if options.documents is None else ()
    if isinstance(error, DocumentNotFoundError):
        tried = ("documents",)
    for option in tried:
        if getattr(options, option) is None:
            continue
        changes: dict[str, Any] = {option: None, "on_problem": "error"}
        without = replace(options, **changes)
        try:
            check_hits(hits, without, None)
        except OpragError:
            continue
        return error.prepend(
            f"Leave {option}= out: without it these chunks are put in order."
        )
    return error
