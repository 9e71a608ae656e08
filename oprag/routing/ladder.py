"""Self-Route's ladder: which context is sent next, and whose reply is final.

The model reads the retrieved chunks first and may refuse; only then does it read
the full documents (arXiv 2407.16833). This is the order of events alone, without
any call: sync or async code drives it ::

    ladder = Ladder(["retrieved", "full"])
    while (rung := ladder.current) is not None:
        context = ...  # for this rung
        if ladder.offer(context) != "send":
            continue  # the ladder has gone on
        detector = DeclineDetector(final=ladder.is_last)
        ...  # call the model, feed it
        ladder.reply(detector.text, declined=detector.decision == "declined")
    ladder.outcome
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from oprag.errors import RoutingError, invalid_option

DEFAULT_RUNGS = ("retrieved", "full")
"""The two steps of the paper."""

Offer: TypeAlias = Literal["send", "empty", "repeated"]
"""`"send"`: call the model; otherwise why this rung is skipped."""


@dataclass(frozen=True, slots=True)
class Rung:
    """One step: how much context the model is given."""

    name: str
    """What the route and the usage call it."""
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


@dataclass(frozen=True, slots=True)
class Outcome:
    """Whose reply is final."""

    answered: bool
    """False when the final reply declines, or when no rung had any context."""
    rung: Rung | None
    """The rung whose reply is final; None when no rung had any context."""
    text: str | None
    """The final reply, whatever it says; None without a rung."""


class Ladder:
    """The rungs of one question, in turn. It makes no calls and has no clock.

    Every rung may decline. The first reply that does not is final; the last rung's
    reply is final whatever it says, and the question is never routed again. Rungs
    without context (nothing was retrieved) or with a context that was sent before
    are skipped without a model call; if that leaves no rung after one that
    declined, its reply is the final one.

    Args:
        rungs: As `as_rungs` takes them.

    Raises:
        InvalidOptionError: As `as_rungs` raises it.
    """

    def __init__(self, rungs: Sequence[str | int | Rung] = DEFAULT_RUNGS) -> None:
        self.rungs = as_rungs(rungs)
        self._place = 0
        self._contexts: list[str] = []
        self._awaiting_reply = False
        self._outcome = Outcome(answered=False, rung=None, text=None)

    @property
    def current(self) -> Rung | None:
        """The rung whose turn it is; None when the outcome is known."""
        return self.rungs[self._place] if self._place < len(self.rungs) else None

    @property
    def is_last(self) -> bool:
        """Whether no rung comes after the current one."""
        return self._place >= len(self.rungs) - 1

    def offer(self, context: str) -> Offer:
        """Say whether the current rung's context is worth a model call.

        Args:
            context: The text that would be sent, as it would be sent.

        Returns:
            `"send"`; or `"empty"` (nothing but blanks) or `"repeated"` (equal to a
            context that was sent before), and the ladder has gone on to the next
            rung.

        Raises:
            RoutingError: The ladder is at its end or waits for a reply.
        """
        if self.current is None or self._awaiting_reply:
            raise RoutingError(
                "A context was offered while a reply was due or after the last one. "
                "Call reply() after each context that is sent, until current is None."
            )
        if not context.strip():
            self._place += 1
            return "empty"
        if context in self._contexts:
            self._place += 1
            return "repeated"
        self._contexts.append(context)
        self._awaiting_reply = True
        return "send"

    def reply(self, text: str, *, declined: bool) -> None:
        """Take the reply to the context that was sent.

        Args:
            text: The reply, refusals included.
            declined: Whether it declines, as a `DeclineDetector` decided.

        Raises:
            RoutingError: No context was sent.
        """
        rung = self.current
        if rung is None or not self._awaiting_reply:
            raise RoutingError(
                "A reply was given to no context. Call offer() first, and send the "
                'context when it says "send".'
            )
        self._awaiting_reply = False
        self._outcome = Outcome(answered=not declined, rung=rung, text=text)
        self._place = self._place + 1 if declined else len(self.rungs)

    @property
    def outcome(self) -> Outcome:
        """Whose reply is final.

        Raises:
            RoutingError: It is not known yet.
        """
        if self.current is not None:
            raise RoutingError(
                f"The outcome is not known before rung {self.current.name!r} has "
                "replied. Drive the ladder until current is None."
            )
        return self._outcome
