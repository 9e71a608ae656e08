"""The rungs of Self-Route's ladder: how much context the model is given on each."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

from oprag.errors import invalid_option

DEFAULT_RUNGS = ("retrieved", "full")
"""The two steps of the paper."""


@dataclass(frozen=True, slots=True)
class Rung:
    """One step of the ladder: how much context the model is given."""

    name: str
    """What the route and the ledger call it."""
    token_budget: int | None = None
    """Tokens of the best chunks in document order; None: no limit of its own."""
    full: bool = False
    """Whether it is the full documents of the retrieved chunks."""


def as_rungs(rungs: Sequence[str | int | Rung]) -> tuple[Rung, ...]:
    """Read a list of rungs: `"retrieved"`, token budgets, `"full"`.

    `["retrieved", "full"]` is the paper's; `[1500, 16000, "full"]` reads more
    each time.

    Args:
        rungs: In the order in which they are tried, each with more context than
            the one before: `"retrieved"` (the chunks as they were retrieved) first,
            then budgets in tokens, ascending, then `"full"`. `Rung`s of one's own
            are taken as they are.

    Returns:
        One `Rung` each; a budget is named by its number.

    Raises:
        InvalidOptionError: There is no rung, one is unknown, two have one name, or
            they do not ascend.
    """
    made = tuple(_rung(rung) for rung in rungs) if not isinstance(rungs, str) else ()
    if not made:
        raise invalid_option("rungs", rungs, "It takes a list of at least one rung.")
    if len({rung.name for rung in made}) < len(made):
        raise invalid_option("rungs", rungs, "Each rung needs a name of its own.")
    for lower, upper in itertools.pairwise(made):
        if _height(lower) >= _height(upper):
            hint = (
                f"{upper.name!r} comes after {lower.name!r} and gives the model no "
                'more to read. Put "retrieved" first, then budgets from small to '
                'large, then "full".'
            )
            raise invalid_option("rungs", rungs, hint)
    return made


def _rung(rung: object) -> Rung:
    if isinstance(rung, Rung):
        return rung
    if rung == "retrieved":
        return Rung("retrieved")
    if rung == "full":
        return Rung("full", full=True)
    if type(rung) is int and rung > 0:
        return Rung(str(rung), token_budget=rung)
    takes = 'A rung is "retrieved", "full", or a token budget of at least 1.'
    raise invalid_option("rungs", rung, takes)


def _height(rung: Rung) -> float:
    return float("inf") if rung.full else rung.token_budget or 0
