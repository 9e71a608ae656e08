"""Find options without which chunks would be in order: errors say so first."""

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
        error: The error that was raised for the hits with the options.
        hits: As given.
        options: As given. With full texts no other option is left out, as that would
            read the texts again. The texts are left out only if they have none of the
            documents: if they contradict a chunk, they show a fault.

    Returns:
        The same error if leaving an option out does not put the chunks in order.
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
