"""Names that were probably meant, for errors about unknown ones."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from oprag.errors import InvalidOptionError

__all__ = ["did_you_mean", "refuse_misspelt"]


def did_you_mean(name: str, known: Collection[str]) -> str:
    """Ask back for the nearest known name.

    Returns:
        The question with a space before it; empty where nothing is near.
    """
    import difflib  # here, because this is hardly ever needed

    near = difflib.get_close_matches(name, known, n=1)
    return f" Did you mean {near[0]!r}?" if near else ""


def refuse_misspelt(given: Any, known: Collection[str]) -> None:
    """Reject an unknown option that is nearly a known one.

    For components whose framework rejects the others itself, with no such hint.

    Args:
        given: Options by name. Anything but a dict is left to the framework.
        known: All options.

    Raises:
        InvalidOptionError: The first such option; the message names the known one.
    """
    if not isinstance(given, dict):
        return
    for option in given:
        if option not in known and (hint := did_you_mean(str(option), known)):
            message = f"There is no option {option!r}.{hint}"
            raise InvalidOptionError(message, option=option, value=given[option])
